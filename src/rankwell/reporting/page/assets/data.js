// The page's data, and its parts in script files beside the page.

import {showDigits} from "./numbers.js";
import {renameQueries, say} from "./words.js";

/** @type {PageData} */
export const data = JSON.parse(document.getElementById("data")?.textContent ?? "null");
showDigits(data.digits);
if (data.noun) renameQueries(...data.noun);
export const queries = data.queries;
export const runs = data.runs;
export const measures = data.measures;

data.lists ??= {};
data.items ??= {id: [], text: [], thumbnail: []};
data.items.text ??= [];
data.items.thumbnail ??= [];
// A text that repeats the id is left out.
queries.text = queries.id.map((id, query) => (queries.text?.[query] === id ? null : (queries.text?.[query] ?? null)));
queries.attributes ??= {};
queries.flags ??= {};

export const allQueries = queries.id.map((_, index) => index);
export const allRuns = runs.map((_, index) => index);
export const allMeasures = measures.map((_, index) => index);

/**
 * The value of a query, null where it is not counted.
 * @param {MeasurePlace} measure
 * @param {Run} run
 * @param {Query} query
 */
export function valueOf(measure, run, query) {
  return queries.values[measure]?.[run]?.[query] ?? null;
}

/**
 * Whether a measure has values of single queries in all of these runs; an aggregate of a whole collection has none.
 * @param {MeasurePlace} measure
 * @param {...Run} places
 */
export function hasValues(measure, ...places) {
  return places.every(run => queries.values[measure]?.[run]?.some(value => value !== null));
}

/** The mean of a run, null where it has none. @param {MeasurePlace} measure @param {Run} run */
export function meanOf(measure, run) {
  return data.summary.find(row => row.run === run && row.measure === measure)?.mean ?? null;
}

/** @param {Run} run @param {Query} query */
export function firstOf(run, query) {
  return queries.first?.[run]?.[query] ?? null;
}

/**
 * Number of relevant items of a query in the list of a run, null where it has none.
 * @param {Run | null} run
 * @param {Query} query
 */
export function relevantOf(run, query) {
  return run === null ? null : (queries.relevant?.[run]?.[query] ?? null);
}

/**
 * The rule of this name as the results state it, null where they do not.
 * @param {string} name
 */
export function ruleOf(name) {
  return data.rules?.find(([each]) => each === name)?.[1] ?? null;
}

// The places in a row of a list; the last is what only its task has.
export const ITEM = 0;
export const RANK = 1;
export const SCORE = 2;
export const GRADE = 3;
export const STATE = 4;
export const DETAIL = 5;

/**
 * The rows of retrieved items, in the order of rank.
 * @param {ListRow[] | undefined} rows
 */
export function byRank(rows) {
  const ranked = /** @type {RankedRow[]} */ ((rows ?? []).filter(row => row[RANK] !== null));
  return ranked.sort((one, other) => one[RANK] - other[RANK]);
}

/** Number of results of a list that are shown. */
export function mostResults() {
  return data.shown?.results ?? 20;
}

/**
 * The rows of a list that are shown, in the order of rank; beyond them it has relevant items and those not retrieved.
 * @param {ListRow[] | undefined} rows
 * @returns {RankedRow[]}
 */
export function firstRows(rows) {
  const most = mostResults();
  return byRank(rows).filter(row => row[RANK] <= most);
}

/** The states of results that this page can show: none without lists; with a key of right answers no other item is unjudged. */
export function shownStates() {
  if (!queries.first) return [];
  const found = new Set(Object.values(data.lists).flatMap(lists => lists.flat().map(row => row[STATE])));
  const usual = ["relevant", "nonrelevant", queries.unjudged ? "unjudged" : null];
  const states = /** @type {State[]} */ (Object.keys(say.states));
  return states.filter(state => usual.includes(state) || found.has(state));
}

/** @type {Map<string, Query[]>} */
const placesById = new Map();
for (const query of allQueries) {
  const id = queries.id[query];
  placesById.set(id, [...(placesById.get(id) ?? []), query]);
}

/**
 * A query's name in the address: its id, and its place too where the id repeats, as in results of two directions.
 * @param {Query} query
 */
export function addressOf(query) {
  return (placesById.get(queries.id[query]) ?? []).length > 1 ? `${queries.id[query]}@${query}` : queries.id[query];
}

/** @param {string} address @returns {Query | null} */
export function queryAt(address) {
  const places = placesById.get(address);
  if (places) return places[0];
  const place = Number(address.slice(address.lastIndexOf("@") + 1));
  return queries.id[place] !== undefined && addressOf(place) === address ? place : null;
}

/** @type {Map<string, Promise<void>>} */
const loading = new Map();

/** Called by a part's own script, once. */
window.rankwellPart = part => {
  Object.assign(data.lists, part.lists);
  for (const [key, known] of Object.entries(part.items ?? {})) {
    const place = Number(key);
    data.items.text[place] = known.text ?? null;
    data.items.thumbnail[place] = known.thumbnail ?? null;
  }
};

/**
 * Resolves when the lists of a query are here, at once where they need no loading; rejects with a sentence for people.
 * @param {Query} query
 * @returns {Promise<Lists | null>}
 */
export function listsOf(query) {
  if (data.lists[query]) return Promise.resolve(data.lists[query]);
  const part = (data.parts ?? []).find(([, first, last]) => first <= query && query <= last);
  if (!part) return Promise.resolve(null);
  const loaded = loading.get(part[0]) ?? loadScript(part[0]);
  loading.set(part[0], loaded);
  return loaded.then(() => data.lists[query] ?? null);
}

/** @param {string} source @returns {Promise<void>} */
function loadScript(source) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.addEventListener("load", () => resolve());
    script.addEventListener("error", () => {
      loading.delete(source);
      reject(
        new Error(say.partMissing(source)),
      );
    });
    document.head.append(script);
  });
}
