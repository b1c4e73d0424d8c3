import assert from "node:assert/strict";
import test from "node:test";

import {load, openPage} from "./page.js";

openPage();
const ASSETS = "tasks/judge/assets";
const {answered, before, extended, nextAsk, trailOf} = await load(`${ASSETS}/order.js`);
const {gradeKeys} = await load(`${ASSETS}/grade_keys.js`);
const {guideline} = await load(`${ASSETS}/guideline.js`);

const ask = (answer, postponed = 0) => ({answer, postponed, note: ""});

test("items come in order, postponed ones at the end, the one postponed first before the others", () => {
  const asks = [ask(null, 7), ask(0), ask(null), ask(null, 3), ask(null)];

  assert.equal(nextAsk(asks, -1), 2);
  assert.equal(nextAsk(asks, 2), 4);
  assert.equal(nextAsk(asks, 4), 2);
  asks[2].answer = asks[4].answer = 1;
  assert.equal(nextAsk(asks, 4), 3);
  asks[3].answer = "open";
  assert.equal(nextAsk(asks, 3), 0);
  asks[0].answer = "unknown";
  assert.equal(nextAsk(asks, 0), null);
  assert.equal(answered(asks), 5);
});

test("back leads along the way that one came, and an item judged anew is the last", () => {
  let trail = trailOf([ask(1), ask(null), ask(null, 2), ask(0)]);

  assert.deepEqual(trail, [0, 2, 3]);
  assert.equal(before(trail, 1), 3);
  assert.equal(before(trail, 3), 2);
  assert.equal(before(trail, 0), null);
  trail = extended(trail, 0);
  assert.deepEqual(trail, [2, 3, 0]);
  assert.equal(before([], 0), null);
});

test("a grade has its own digit as key, or its place where that cannot be", () => {
  assert.deepEqual(gradeKeys([{grade: 0}, {grade: 3}]), ["0", "3"]);
  assert.deepEqual(gradeKeys([{grade: 0}, {grade: 0.5}, {grade: 10}]), ["0", "1", "2"]);
  assert.equal(gradeKeys(Array.from({length: 12}, (_, grade) => ({grade})))[10], "");
});

test("a guideline is headings, points and paragraphs, and never markup", () => {
  const nodes = guideline("# How\nRead <b>this</b>.\n* **3** good\n  and more\n- 0 bad\n\n\nLast.");

  assert.deepEqual(
    nodes.map(node => [node.tag, node.textContent]),
    [["h3", "How"], ["p", "Read <b>this</b>."], ["ul", "3 good and more0 bad"], ["p", "Last."]],
  );
  assert.deepEqual(guideline(""), []);
});
