import assert from "node:assert/strict";
import test from "node:test";

import {ASSETS, load, openPage} from "./page.js";

openPage();
const {ticks} = await load(`${ASSETS}/histogram.js`);

test("ticks are round numbers within the range, three at least", () => {
  assert.deepEqual(ticks(-0.42, 0.42, 2), {places: [-0.4, -0.2, 0, 0.2, 0.4], step: 0.2, digits: 1});
  assert.deepEqual(ticks(0, 38, 4.6), {places: [0, 10, 20, 30], step: 10, digits: 0});
  assert.deepEqual(ticks(0, 100, 2).places, [0, 50, 100]);
  assert.deepEqual(ticks(0, 8, 3), {places: [0, 2, 4, 6, 8], step: 2, digits: 0});
  assert.deepEqual(ticks(-1e-9, 1e-9, 3).places, [-1e-9, 0, 1e-9]);
  assert.deepEqual(ticks(0.5, 1.5, 5).places, [0.6, 0.8, 1, 1.2, 1.4]);
});
