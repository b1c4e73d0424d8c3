// The queries shown, and their order.

import {chosen, comparedRuns, worstSide} from "./chosen.js";
import {allQueries, data, firstOf, firstRows, ITEM, measures, queries, relevantOf, valueOf} from "./data.js";
import {hasAnyTag} from "./notes.js";
import {attributeValues} from "./slices.js";
import {folded} from "./terms.js";

const foldedTexts = allQueries.map(query => folded(`${queries.id[query]} ${queries.text[query] ?? ""}`));
// Differences below this are rounding: sums of shares in another order.
export const SAME = 1e-12;
export const ALPHABET = new Intl.Collator("en", {numeric: true});

/** @param {Query} query */
export const valueA = query => valueOf(chosen.measure, chosen.a, query);
/** @param {Query} query */
export const valueB = query => (chosen.b === null ? null : valueOf(chosen.measure, chosen.b, query));

/** @param {Query} query */
export const deltaOf = query => difference(valueA(query), valueB(query));

/**
 * The second value less the first; null where one is unknown.
 * @param {number | null} a
 * @param {number | null} b
 */
export function difference(a, b) {
  if (a === null || b === null) return null;
  // The last digits of a difference are rounding, and would order queries that are equal.
  return Math.abs(b - a) <= SAME ? 0 : Number((b - a).toPrecision(10));
}

/** @param {Measure} [measure] */
export function lowerIsBetter(measure = measures[chosen.measure]) {
  return measure?.better === "lower";
}

/**
 * "gain", "loss" or "same": what a difference means for B, under the chosen measure or another.
 * @param {number | null} delta
 * @param {Measure} [measure]
 */
export function senseOf(delta, measure = measures[chosen.measure]) {
  if (!delta || measure?.better === "neither") return "same";
  return delta > 0 !== lowerIsBetter(measure) ? "gain" : "loss";
}

/**
 * The queries with a flag in the runs compared, in the order of the data.
 * @param {string} flag
 */
export function flagged(flag) {
  return [...new Set(comparedRuns().flatMap(run => queries.flags[flag][run]))].sort((one, other) => one - other);
}

/** The flags that the runs compared have, each with its queries. */
export function shownFlags() {
  return Object.keys(queries.flags)
    .map(flag => /** @type {[string, Query[]]} */ ([flag, flagged(flag)]))
    .filter(([, places]) => places.length);
}

/** @type {{of: string, flags: Map<Query, string[]>}} */
let kept = {of: "", flags: new Map()};

/**
 * The flags of a query in the runs compared.
 * @param {Query} query
 * @returns {string[]}
 */
export function flagsOf(query) {
  const of = comparedRuns().join(" ");
  if (kept.of !== of) {
    kept = {of, flags: new Map()};
    for (const [flag, places] of shownFlags()) for (const each of places) kept.flags.set(each, [...(kept.flags.get(each) ?? []), flag]);
  }
  return kept.flags.get(query) ?? [];
}

/** The names of attributes, without those of systems that are not compared. */
export function shownAttributes() {
  const compared = comparedRuns();
  return Object.keys(queries.attributes).filter(name => queries.attribute_runs?.[name]?.some(run => compared.includes(run)) ?? true);
}

/** The number of relevant items, and the rank of the first, in the list of a side. @type {OfSide} */
const relevantIn = side => query => relevantOf(chosen[side], query);
/** @type {OfSide} */
const firstIn = side => query => (chosen[side] === null ? null : firstOf(chosen[side], query));

/** @param {Query} query */
const relevantOfA = query => relevantIn("a")(query) ?? relevantIn("b")(query);

/**
 * The columns of numbers of relevant items: one, and where those of A and B differ, as between retriever and reader, one for each.
 * @returns {RelevantColumn[]}
 */
export function relevantColumns() {
  if (!queries.relevant) return [];
  /** @param {Query} query */
  const differs = query => {
    const [a, b] = [relevantIn("a")(query), relevantIn("b")(query)];
    return a !== null && b !== null && a !== b;
  };
  if (!allQueries.some(differs)) return [{name: "relevant", side: null, of: relevantOfA}];
  return [
    {name: "relevant_a", side: "A", of: relevantIn("a")},
    {name: "relevant_b", side: "B", of: relevantIn("b")},
  ];
}

// A key per order: what is compared, smallest first; null stands last whatever the direction.
/** @type {Record<string, (query: Query) => number | string | null>} */
export const ORDERS = {
  worst: query => towardsBetter(worstSide() === "a" ? valueA(query) : valueB(query)),
  loss: query => towardsBetter(deltaOf(query)),
  gain: query => negative(towardsBetter(deltaOf(query))),
  random: query => shuffled(query, chosen.seed),
  id: query => queries.id[query],
  text: query => queries.text[query] ?? null,
  a: valueA,
  b: valueB,
  delta: deltaOf,
  apart: overlapOf,
  unjudged: query => negative(unjudgedOf(query)),
  relevant: relevantOfA,
  relevant_a: relevantIn("a"),
  relevant_b: relevantIn("b"),
  first_a: firstIn("a"),
  first_b: firstIn("b"),
  flags: query => flagsOf(query).length,
};

const PERSISTENCE = 0.9;

/**
 * Rank-biased overlap of what the lists of A and B show (Webber and others 2010, extrapolated); null without lists.
 * @param {Query} query
 */
export function overlapOf(query) {
  const lists = data.lists[query];
  if (chosen.b === null || !lists) return null;
  /** @param {Run} run */
  const itemsOf = run => firstRows(lists[run]).map(row => row[ITEM]);
  return overlapOfLists(itemsOf(chosen.a), itemsOf(chosen.b));
}

/** @param {Item[]} one @param {Item[]} other */
export function overlapOfLists(one, other) {
  const deepest = Math.max(one.length, other.length);
  if (!deepest) return null;
  const [seen, common] = [new Set(), new Set()];
  let sum = 0;
  for (let depth = 1; depth <= deepest; depth += 1) {
    for (const list of [one, other]) {
      const item = list[depth - 1];
      if (item === undefined) continue;
      if (seen.has(item)) common.add(item);
      seen.add(item);
    }
    sum += (common.size / depth) * PERSISTENCE ** depth;
  }
  return ((1 - PERSISTENCE) / PERSISTENCE) * sum + (common.size / deepest) * PERSISTENCE ** deepest;
}

/**
 * Number of unjudged items among the first 10 results of the runs compared, null where results are not judged.
 * @param {Query} query
 */
export function unjudgedOf(query) {
  const {unjudged} = queries;
  return unjudged ? comparedRuns().reduce((sum, run) => sum + unjudged[run][query], 0) : null;
}

/** @param {number | null} value */
function towardsBetter(value) {
  return lowerIsBetter() ? negative(value) : value;
}

/** @param {number | null} value */
function negative(value) {
  return value === null ? null : -value;
}

/**
 * A number that looks random and depends on the place and the seed alone (Mulberry32).
 * @param {number} place
 * @param {number} seed
 */
export function shuffled(place, seed) {
  let mixed = (Math.imul(place + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}

/**
 * The queries that pass every filter but the named one, in the order of the data.
 * @param {string | null} [leftOut]
 */
export function passing(leftOut = null) {
  const tests = Object.entries(TESTS)
    .filter(([name]) => name !== leftOut)
    .map(([, make]) => make())
    .filter(test => test !== null);
  return allQueries.filter(query => tests.every(test => test(query)));
}

// A maker of tests per filter; null where the filter is not set.
/** @type {Record<string, () => ((query: Query) => boolean) | null>} */
const TESTS = {
  of: () => (measures[chosen.measure]?.of ? query => valueA(query) !== null || valueB(query) !== null : null),
  search: () => {
    const wanted = folded(chosen.search).split(/\s+/).filter(Boolean);
    return wanted.length ? query => wanted.every(word => foldedTexts[query].includes(word)) : null;
  },
  differ: () => (chosen.differ ? query => deltaOf(query) !== 0 && (valueA(query) !== null || valueB(query) !== null) : null),
  a: () => within(chosen.ranges.a, valueA),
  b: () => within(chosen.ranges.b, valueB),
  delta: () => within(chosen.ranges.delta, deltaOf),
  flags: () => {
    if (!chosen.flags.length) return null;
    const wanted = new Set(chosen.flags.flatMap(flagged));
    return query => wanted.has(query);
  },
  tags: () => (chosen.tags.length ? query => hasAnyTag(query, chosen.tags) : null),
  attributes: () => {
    const wanted = Object.entries(chosen.attributes);
    return wanted.length ? query => wanted.every(([name, value]) => attributeOf(name, query) === value) : null;
  },
};

/** @param {Interval} range @param {(query: Query) => number | null} valueFor */
function within([low, high], valueFor) {
  if (low === null && high === null) return null;
  return /** @param {Query} query */ query => {
    const value = valueFor(query);
    return value !== null && (low === null || value >= low - SAME) && (high === null || value <= high + SAME);
  };
}

/** The first relevant rank of the run whose worst queries are shown. @param {Query} query */
const firstRank = query => firstIn(worstSide())(query) ?? Infinity;

/**
 * The queries shown, in order; what is not known stands last. Equal ones stay in the order of the data, but of equally bad ones
 * that with the later relevant result is the worse, as a binary measure alone distinguishes few.
 */
export function shownQueries() {
  const key = ORDERS[chosen.sort];
  /** @type {Map<Query, any>} */
  const keys = new Map();
  /** @type {Query[]} */
  const known = [];
  /** @type {Query[]} */
  const unknown = [];
  for (const query of passing()) {
    const value = key(query);
    keys.set(query, value);
    (value === null ? unknown : known).push(query);
  }
  const sign = chosen.reversed ? -1 : 1;
  known.sort((one, other) => {
    const [x, y] = [keys.get(one), keys.get(other)];
    const further = chosen.sort === "worst" ? firstRank(other) - firstRank(one) : 0;
    const order = typeof x === "string" ? ALPHABET.compare(x, y) : x - y || further;
    return order * sign || one - other;
  });
  return [...known, ...unknown];
}

// Attributes that are lists or objects are for the views of tasks.
export const STRUCTURED = /^[[{]/;

/** @param {string} name @param {Query} query */
export function attributeOf(name, query) {
  const value = attributeValues(name)[query];
  return value === null || value === undefined ? "" : String(value);
}
