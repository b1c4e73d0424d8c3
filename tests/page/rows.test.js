import assert from "node:assert/strict";
import {beforeEach, test} from "node:test";

import {ASSETS, load, openPage} from "./page.js";

openPage();
const {chosen, filtersSet, START, withoutFilters} = await load(`${ASSETS}/chosen.js`);
const {deltaOf, flagsOf, overlapOf, overlapOfLists, relevantColumns, senseOf, shownAttributes, shownFlags, shownQueries, shuffled} = await load(`${ASSETS}/rows.js`);
const {measures, queries} = await load(`${ASSETS}/data.js`);

const RANK = 1;
const sorted = (sort, changes = {}) => {
  Object.assign(chosen, structuredClone(START), {sort, ...changes});
  return shownQueries();
};

beforeEach(() => Object.assign(chosen, structuredClone(START)));

test("two runs start with the biggest loss, and unknown values are last in any direction", () => {
  assert.equal(START.sort, "loss");
  assert.deepEqual(sorted("loss"), [2, 4, 0, 3, 1, 5]);
  assert.deepEqual(sorted("gain"), [1, 3, 0, 4, 2, 5]);
  assert.deepEqual(sorted("delta", {reversed: true}), [1, 3, 0, 4, 2, 5]);
});

test("where lower is better, the largest rank is the worst and a rise is a loss", () => {
  assert.deepEqual(sorted("worst", {measure: RANK}), [4, 3, 2, 0, 1, 5]);
  assert.equal(senseOf(2, measures[RANK]), "loss");
  assert.equal(senseOf(2, measures[0]), "gain");
  assert.equal(senseOf(0, measures[RANK]), "same");
});

test("of equally bad queries that with the later relevant result is the worse", () => {
  assert.deepEqual(sorted("worst"), [4, 2, 3, 0, 1, 5]);
  assert.deepEqual(sorted("worst", {reversed: true}), [1, 0, 3, 2, 4, 5]);
});

test("ids are in alphabetical order with numbers by size, equal ones in the order of the data", () => {
  assert.deepEqual(sorted("id"), [2, 1, 0, 5, 3, 4]);
});

test("differences that are rounding are none", () => {
  assert.equal(deltaOf(3), 0.2);
  assert.equal(deltaOf(0), 0);
  assert.equal(deltaOf(5), null);
});

test("a random order is a permutation that its seed decides", () => {
  const orders = [1, 2, 1].map(seed => sorted("random", {seed}));

  assert.deepEqual(orders[0], orders[2]);
  assert.notDeepEqual(orders[0], orders[1]);
  assert.deepEqual([...orders[1]].sort(), [0, 1, 2, 3, 4, 5]);
  assert.equal(new Set(Array.from({length: 1000}, (_, place) => shuffled(place, 1))).size, 1000);
});

test("overlap is that of the definition: 1 for equal lists, 0 for disjoint ones", () => {
  assert.ok(Math.abs(overlapOfLists([7, 8, 9], [7, 8, 9]) - 1) < 1e-12);
  assert.equal(overlapOfLists([1], [2]), 0);
  assert.equal(overlapOfLists([], []), null);
  // One common item, first and second: agreement 0 at depth 1, 1/2 at depth 2; p = 0.9.
  assert.ok(Math.abs(overlapOfLists([1, 2], [3, 1]) - ((0.1 / 0.9) * 0.5 * 0.81 + 0.5 * 0.81)) < 1e-12);
  assert.ok(Math.abs(overlapOf(0) - 1) < 1e-12);
  assert.equal(overlapOf(1), 0);
  assert.equal(overlapOf(4), null);
});

const FILTERED = {
  "every word of the search, in id or text": [{search: "paris ete"}, [0]],
  "ends of a range count": [{ranges: {a: [0.25, 0.5], b: [null, null], delta: [null, null]}}, [0, 1, 4]],
  "an open range": [{ranges: {a: [null, null], b: [null, null], delta: [0, null]}}, [0, 1, 3]],
  "queries that differ": [{differ: true}, [1, 2, 3, 4]],
  "any of the flags": [{flags: ["short", "tied"]}, [0, 2]],
  "an attribute": [{attributes: {type: "even"}}, [1, 3]],
  "an attribute that is missing": [{attributes: {type: ""}}, [5]],
  "all filters together": [{differ: true, attributes: {type: "odd"}, flags: ["tied"]}, [2]],
};

for (const [name, [changes, passing]] of Object.entries(FILTERED)) {
  test(`filter: ${name}`, () => {
    assert.deepEqual(sorted("id", changes).sort(), passing);
    assert.ok(filtersSet() > 0);
    Object.assign(chosen, withoutFilters());
    assert.equal(filtersSet(), 0);
    assert.equal(shownQueries().length, 6);
  });
}

test("flags are those of the runs compared", () => {
  assert.deepEqual(shownFlags(), [["tied", [0, 2]], ["short", [2]]]);
  Object.assign(chosen, {a: 0, b: null});
  assert.deepEqual(shownFlags(), [["tied", [0]], ["short", [2]]]);
  assert.deepEqual([0, 1, 2].map(flagsOf), [["tied"], [], ["short"]]);
  Object.assign(chosen, {a: 1});
  assert.deepEqual([0, 1, 2].map(flagsOf), [[], [], ["tied", "short"]]);
  assert.deepEqual(sorted("id", {a: 0, b: null, flags: ["tied"]}), [0]);
});

test("numbers of relevant items are those of the runs compared, one column for each where they differ", () => {
  const shown = () => relevantColumns().map(({name, side, of}) => [name, side, [0, 1, 2].map(of)]);
  assert.deepEqual(shown(), [["relevant", null, [1, 2, 3]]]);
  queries.relevant[1] = [1, null, 5, 0, 0, 0];
  assert.deepEqual(shown(), [["relevant_a", "A", [1, 2, 3]], ["relevant_b", "B", [1, null, 5]]]);
  Object.assign(chosen, {a: 1, b: null});
  assert.deepEqual(shown(), [["relevant", null, [1, null, 5]]]);
  assert.deepEqual(sorted("relevant_b", {a: 0, b: 1}), [3, 4, 5, 0, 2, 1]);
  queries.relevant[1] = [...queries.relevant[0]];
});

test("attributes of a system are shown where one of its runs is compared", () => {
  Object.assign(queries, {attributes: {...queries.attributes, "failed (old)": [], "failed (new)": []}, attribute_runs: {"failed (old)": [0], "failed (new)": [1]}});
  assert.deepEqual(shownAttributes(), ["type", "failed (old)", "failed (new)"]);
  Object.assign(chosen, {a: 1, b: null});
  assert.deepEqual(shownAttributes(), ["type", "failed (new)"]);
});
