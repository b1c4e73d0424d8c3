// What the page itself derives of queries: the band of the first relevant rank in each run, and slices by length, number of
// relevant items and attributes. Each is an attribute, so that it is a filter and a link too.

import {offered, START} from "./chosen.js";
import {allQueries, allRuns, firstOf, measures, queries, relevantOf, runs, valueOf} from "./data.js";
import {pieces} from "./terms.js";
import {attributeLabel, taskView} from "./views.js";
import {say} from "./words.js";

/** The last rank of each band, and the least value of each band of a share. */
const RANKS = [1, 5, 10, 100, Infinity];
const SHARES = [1, 0.75, 0.5, 0.25, 1e-12, -Infinity];
const MOST_PARTS = 6;
const NEAR = 10;

/** @type {Map<string, (string | null)[]>} */
const made = new Map();

/**
 * The bands of the stacked bars, best first: of the first relevant rank, or of a share that the task names; null where there are none.
 * @returns {Bands | null}
 */
export function bands() {
  const {first, share} = taskView();
  const measure = share?.(offered.map(place => measures[place]));
  if (measure) {
    const place = measures.indexOf(measure);
    return {title: first?.title ?? measure.label, name: measure.label, labels: say.shareBands, of: (run, query) => bandOfShare(valueOf(place, run, query))};
  }
  if (share || !queries.first) return null;
  const labels = say.rankBands.map(label => (first && label === say.notRetrieved ? first.absent : label));
  return {title: first?.title ?? say.firstRelevantTitle, name: first?.name ?? say.firstRelevant, labels, of: bandOfRank};
}

/** The last rank at which the first measure counts a result; of shares of a list that of all lists. */
export function cutoff() {
  return taskView().share ? NEAR : Number(/@(\d+)$/.exec(measures[START.measure].name)?.[1] ?? NEAR);
}

/** @param {number | null} value */
const bandOfShare = value => (value === null ? null : SHARES.findIndex(least => value >= least));

/** @param {Run} run @param {Query} query */
function bandOfRank(run, query) {
  const [rank, relevant] = [firstOf(run, query), relevantOf(run, query)];
  if (rank !== null) return RANKS.findIndex(last => rank <= last);
  return relevant === null ? null : RANKS.length + (relevant ? 0 : 1);
}

/** @param {Run} run */
export function bandName(run) {
  return runs.length > 1 ? say.inRun(bands()?.name ?? "", runs[run]) : (bands()?.name ?? "");
}

/**
 * The names of all that is derived, those of runs first.
 * @param {Run[]} [places]
 */
export function derivedNames(places = allRuns) {
  const failures = taskView().fails || queries.first ? places.map(failureName) : [];
  return [...(bands() ? places.map(bandName) : []), ...new Set(failures), ...numbered().map(({name}) => name)];
}

/** @param {Run} run */
export function failureName(run) {
  return taskView().fails ? say.outcome : say.top(cutoff(), runs.length > 1 ? runs[run] : "");
}

/**
 * Whether a query failed, by its task, or without a relevant item among the first results; null where nothing is known to be relevant.
 * @param {Run} run
 * @param {Query} query
 */
export function isFailed(run, query) {
  const {fails} = taskView();
  if (fails) return fails(query);
  return queries.first && (relevantOf(run, query) ?? 0) > 0 ? (firstOf(run, query) ?? Infinity) > cutoff() : null;
}

/** Numbers of queries that the page knows, each with the words for a range of them. */
function numbered() {
  const kinds = taskView().slices;
  /** @param {Query} query */
  const relevant = query => runs.reduce((/** @type {number | null} */ known, _, run) => known ?? relevantOf(run, query), null);
  const texts = queries.text.some(text => text !== null);
  const ranges = Object.keys(queries.attributes).filter(name => (kinds?.includes(name) ?? true) && isNumeric(name) && new Set(queries.attributes[name]).size > MOST_PARTS);
  return [
    ...(texts ? [{name: say.length, of: lengthOf, words: say.lengthRange}] : []),
    ...(queries.relevant && !taskView().share ? [{name: say.relevantCount, of: relevant, words: say.relevantRange}] : []),
    ...ranges.map(name => ({name: say.rangeOf(name), of: (/** @type {Query} */ query) => /** @type {number | null} */ (queries.attributes[name][query]), words: say.plainRange(name)})),
  ];
}

/** @param {string} name */
function isNumeric(name) {
  return queries.attributes[name].every(value => value === null || typeof value === "number");
}

/** The number of words of the text. @param {Query} query */
function lengthOf(query) {
  const text = queries.text[query];
  return text === null ? null : pieces(text).filter(([, isWord]) => isWord).length;
}

/**
 * The values of an attribute of the data, or of one that is derived, which is computed when it is first asked for.
 * @param {string} name
 */
export function attributeValues(name) {
  if (Object.hasOwn(queries.attributes, name)) return queries.attributes[name];
  const run = allRuns.findIndex(place => bandName(place) === name);
  const [failing, shown] = [allRuns.find(place => failureName(place) === name), bands()];
  const derive = () => {
    if (failing !== undefined) return allQueries.map(query => say.failure(isFailed(failing, query)));
    return run < 0 ? rangesOf(name) : allQueries.map(query => shown?.labels[shown.of(run, query) ?? -1] ?? null);
  };
  const kept = made.get(name) ?? derive();
  made.set(name, kept);
  return kept;
}

/**
 * Thirds of the queries by a number; equal numbers stay together.
 * @param {string} name
 */
function rangesOf(name) {
  const source = numbered().find(each => each.name === name);
  if (!source) return [];
  const values = allQueries.map(source.of);
  const sorted = values.filter(value => value !== null).sort((one, other) => one - other);
  const ends = [1, 2, 3].map(third => sorted[Math.ceil((third * sorted.length) / 3) - 1]);
  const parts = [...new Set(ends)].map((end, place, every) => sorted.filter(value => value <= end && (place === 0 || value > every[place - 1])));
  return values.map(value => {
    const part = value === null ? null : parts.find(each => value <= each[each.length - 1]);
    return part ? source.words(part[0], part[part.length - 1]) : null;
  });
}

/**
 * The slices of the overview: of each attribute with two parts or more its parts with their queries.
 * @returns {Slice[]}
 */
export function slices() {
  const kinds = taskView().slices;
  const own = Object.keys(queries.attributes).filter(name => kinds?.includes(name) ?? true);
  return [...numbered().map(({name}) => name), ...own]
    .map(name => ({name, label: attributeLabel(name), parts: partsOf(name)}))
    .filter(({parts}) => parts.length > 1 && parts.length <= MOST_PARTS);
}

/** @param {string} name @returns {[value: string, places: Query[]][]} */
function partsOf(name) {
  /** @type {Map<string, Query[]>} */
  const parts = new Map();
  attributeValues(name).forEach((value, query) => {
    if (value === null) return;
    const places = parts.get(String(value)) ?? [];
    parts.set(String(value), places);
    places.push(query);
  });
  return [...parts].sort(([one], [other]) => Number.parseFloat(one) - Number.parseFloat(other) || one.localeCompare(other));
}
