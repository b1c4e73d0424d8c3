import assert from "node:assert/strict";
import test from "node:test";

import {ASSETS, load} from "./page.js";

const {brief, chance, number, scoresLike, showDigits, signed, whole} = await load(`${ASSETS}/numbers.js`);

test("a value has the decimals of its unit, and a true minus", () => {
  assert.equal(number(0.5, "share"), "0.5000");
  assert.equal(number(-0.5, "share"), "−0.5000");
  assert.equal(number(12.345, "percent"), "12.35");
  assert.equal(number(78.125, "percent"), "78.12");
  assert.equal(number(3, "rank"), "3.00");
  assert.equal(number(12345, "count"), "12345");
  assert.equal(number(1.5, "count"), "1.50");
  assert.equal(number(null, "share"), "–");
  assert.equal(number(undefined), "–");
});

test("a difference carries its sign, unless it rounds to 0", () => {
  assert.equal(signed(0.25, "share"), "+0.2500");
  assert.equal(signed(-1234, "count"), "−1234");
  assert.equal(signed(-0.00001, "share"), "0.0000");
  assert.equal(signed(0, "share"), "0.0000");
  assert.equal(signed(null, "share"), "–");
});

test("a score alone keeps its digits whatever its size", () => {
  assert.deepEqual([0, 0.5, -12.5, 123.456, 1e6, 1e-5, null].map(score => scoresLike([score])(score)), [
    "0", "0.5000", "−12.5000", "123.46", "1.000e+6", "1.000e−5", "",
  ]);
});

test("scores of a column and their differences read alike", () => {
  const written = column => column.map(scoresLike(column));
  assert.deepEqual(written([0.5123, 0.5113, 0.0009999, 0.00001, -0.00001, 0]), ["0.5123", "0.5113", "0.0010", "< 0.0001", "> −0.0001", "0.0000"]);
  assert.deepEqual(written([123.456, 9.5, 0.001]), ["123.46", "9.50", "< 0.01"]);
  assert.deepEqual(written([2e6, 1500, 0]), ["2.000e+6", "1.500e+3", "0.000e+0"]);
  assert.deepEqual(written([9e-4, 1e-7]), ["9.000e−4", "1.000e−7"]);
  assert.equal(scoresLike([0.5123, 0.5113])(0.00099999), "0.0010");
});

test("a p-value below 0.0001 is stated as a bound", () => {
  assert.deepEqual([0.00009999, 0.0001, 0.0456, null].map(chance), ["< 0.0001", "0.0001", "0.0456", "–"]);
});

test("large counts have commas", () => {
  assert.equal(whole(12345), "12,345");
});

test("the decimals that were asked for are those of every unit, but not of p-values and counts", () => {
  showDigits(2);
  assert.deepEqual([number(0.5, "share"), brief(0.5, "share"), number(12.345, "ms"), number(3, "count"), chance(0.0456)], ["0.50", "0.50", "12.35", "3", "0.0456"]);
  showDigits(undefined);
  assert.equal(number(0.5, "share"), "0.5000");
});
