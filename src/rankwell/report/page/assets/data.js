// The page's data, and its parts in script files beside the page.

export const data = JSON.parse(document.getElementById("data").textContent);
const NONE = [];
export const queries = data.queries;
export const runs = data.runs;
export const measures = data.measures;

data.lists ??= {};
data.items ??= {id: []};
data.items.text ??= [];
data.items.thumbnail ??= [];
// A text that repeats the id is left out.
queries.text = queries.id.map((id, query) => (queries.text?.[query] === id ? null : (queries.text?.[query] ?? null)));
queries.attributes ??= {};
queries.flags ??= {};

export const allQueries = queries.id.map((_, index) => index);
export const flagsOf = flagsByQuery();

function flagsByQuery() {
  const found = new Map();
  for (const [name, places] of Object.entries(queries.flags)) {
    for (const place of places) {
      if (found.has(place)) found.get(place).push(name);
      else found.set(place, [name]);
    }
  }
  return place => found.get(place) ?? NONE;
}

/** The value of a query, null where it is not counted. */
export function valueOf(measure, run, query) {
  return queries.values[measure]?.[run]?.[query] ?? null;
}

/** Whether a measure has values of single queries in all of these runs; an aggregate of a whole collection has none. */
export function hasValues(measure, ...places) {
  return places.every(run => queries.values[measure]?.[run]?.some(value => value !== null));
}

export function firstOf(run, query) {
  return queries.first?.[run]?.[query] ?? null;
}

/** The rule of this name as the results state it, null where they do not. */
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

/** Number of results of a list that are shown. */
export function mostResults() {
  return data.shown?.results ?? 20;
}

/** The rows of a list that are shown, in the order of rank; beyond them it has relevant items and those not retrieved. */
export function firstRows(rows) {
  const most = mostResults();
  return (rows ?? []).filter(row => row[RANK] !== null && row[RANK] <= most).sort((one, other) => one[RANK] - other[RANK]);
}

const placesById = new Map();
for (const query of allQueries) {
  const id = queries.id[query];
  if (placesById.has(id)) placesById.get(id).push(query);
  else placesById.set(id, [query]);
}

/** A query's name in the address: its id, and its place too where the id repeats, as in results of two directions. */
export function addressOf(query) {
  return placesById.get(queries.id[query]).length > 1 ? `${queries.id[query]}@${query}` : queries.id[query];
}

export function queryAt(address) {
  const places = placesById.get(address);
  if (places) return places[0];
  const place = Number(address.slice(address.lastIndexOf("@") + 1));
  return queries.id[place] !== undefined && addressOf(place) === address ? place : null;
}

const loading = new Map();

/** Called by a part's own script, once. */
window.rankwellPart = part => {
  Object.assign(data.lists, part.lists);
  for (const [place, known] of Object.entries(part.items ?? {})) {
    data.items.text[place] = known.text ?? null;
    data.items.thumbnail[place] = known.thumbnail ?? null;
  }
};

/** Resolves when the lists of a query are here, at once where they need no loading; rejects with a sentence for people. */
export function listsOf(query) {
  if (data.lists[query]) return Promise.resolve(data.lists[query]);
  const part = (data.parts ?? []).find(([, first, last]) => first <= query && query <= last);
  if (!part) return Promise.resolve(null);
  if (!loading.has(part[0])) loading.set(part[0], loadScript(part[0]));
  return loading.get(part[0]).then(() => data.lists[query] ?? null);
}

function loadScript(source) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.addEventListener("load", () => resolve());
    script.addEventListener("error", () => {
      loading.delete(source);
      reject(
        new Error(
          `The lists of this query are in ${source}, which is not beside this page. Keep the folder and the page together.`,
        ),
      );
    });
    document.head.append(script);
  });
}
