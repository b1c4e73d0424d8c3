import assert from "node:assert/strict";
import {beforeEach, test} from "node:test";

import {ASSETS, load, openPage} from "./page.js";

openPage();
const {chosen, START} = await load(`${ASSETS}/chosen.js`);
const {addressText, choose, onChange, readAddress, writeAddress} = await load(`${ASSETS}/address.js`);
const {addressOf, queryAt} = await load(`${ASSETS}/data.js`);

beforeEach(() => {
  Object.assign(chosen, structuredClone(START));
  globalThis.location.hash = "";
});

const CHOICES = {
  view: "queries",
  query: 4,
  measure: 1,
  a: 1,
  b: 0,
  sort: "random",
  reversed: true,
  seed: 7,
  search: "a&b=c #?%",
  differ: true,
  ranges: {a: [0.25, null], b: [null, -1], delta: [-0.5, 0.5]},
  flags: ["tied", "short"],
  attributes: {type: "odd"},
  tags: ["hard", ""],
  theme: "dark",
};

test("the page as it starts has no parameters", () => {
  assert.equal(addressText(), "overview");
});

test("an address restores all that was chosen", () => {
  globalThis.location.hash = `#${addressText(CHOICES)}`;

  readAddress();

  assert.deepEqual(chosen, CHOICES);
});

test("what this page does not have is as at the start", () => {
  globalThis.location.hash =
    "#elsewhere?query=none&measure=none&a=none&sort=toString&seed=x&value_a=1..x&flag=none&flag=toString&only=none%3D1&theme=red";

  readAddress();

  assert.deepEqual(chosen, {...structuredClone(START), ranges: {...START.ranges, a: [1, null]}});
});

test("queries of one id are distinguished by their place", () => {
  assert.deepEqual([0, 3, 4].map(addressOf), ["q10", "twice@3", "twice@4"]);
  assert.deepEqual(["q10", "twice@4", "twice", "q10@0", "twice@9", "x@y"].map(queryAt), [0, 4, 3, null, null, null]);
});

test("a choice is drawn with the names of what changed, and written to the address", () => {
  const changes = [];
  onChange(changed => changes.push([...changed]));

  choose({sort: "id", reversed: false}, {push: true});
  writeAddress();

  assert.deepEqual(changes, [["sort", "reversed"]]);
  assert.equal(globalThis.location.hash, "#overview?sort=id");
});
