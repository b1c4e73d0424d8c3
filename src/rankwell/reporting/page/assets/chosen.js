// What the reader has chosen.

import {allMeasures, allRuns, data, hasValues, runs, valueOf} from "./data.js";

const [a, b] = data.pair ?? [0, runs.length > 1 ? 1 : null];
const pair = {a, b};
export const offered = allMeasures.filter(place => allRuns.some(run => hasValues(place, run)));

/** @type {Choices} */
export const START = {
  view: "overview",
  query: null,
  measure: [data.lead ?? 0, ...offered].find(place => hasValues(place, pair.a, pair.b ?? pair.a)) ?? offered[0] ?? 0,
  a: pair.a,
  b: pair.b ?? null,
  // Where the question is who fails, the failures come first.
  sort: runs.length > 1 && !data.failures?.length ? "loss" : "worst",
  reversed: false,
  seed: 1,
  search: "",
  differ: false,
  ranges: {a: [null, null], b: [null, null], delta: [null, null]},
  flags: [],
  attributes: {},
  tags: [],
  theme: null,
};

/** @type {(keyof Filters)[]} */
export const FILTERS = ["search", "differ", "ranges", "flags", "attributes", "tags"];

export const chosen = structuredClone(START);

/** The run whose worst queries come first: where failures are counted they are those of A, whose reference B is. */
export function worstSide() {
  return chosen.b === null || data.failures?.length ? "a" : "b";
}

export function comparedRuns() {
  return chosen.b === null ? [chosen.a] : [chosen.a, chosen.b];
}

/**
 * The chosen measure, or the first one that covers some of these queries where it covers none: one of another direction.
 * @param {Query[]} places
 */
export function measureFor(places) {
  /** @param {MeasurePlace} measure */
  const covers = measure => allRuns.some(run => places.some(query => valueOf(measure, run, query) !== null));
  return covers(chosen.measure) ? chosen.measure : (offered.find(covers) ?? chosen.measure);
}

/** @param {Interval} range */
export function rangeText([low, high]) {
  return low === null && high === null ? null : `${low ?? ""}..${high ?? ""}`;
}

export function filtersSet() {
  const ranges = Object.values(chosen.ranges).filter(range => rangeText(range) !== null).length;
  return (chosen.search ? 1 : 0) + (chosen.differ ? 1 : 0) + ranges + chosen.flags.length + chosen.tags.length + Object.keys(chosen.attributes).length;
}

/** @returns {Filters} */
export function withoutFilters() {
  return /** @type {any} */ (structuredClone(Object.fromEntries(FILTERS.map(name => [name, START[name]]))));
}
