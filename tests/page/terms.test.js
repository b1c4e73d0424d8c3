import assert from "node:assert/strict";
import test from "node:test";

import {ASSETS, load, openPage} from "./page.js";

openPage();
const {folded, marked, pieces, words} = await load(`${ASSETS}/terms.js`);

test("the pieces of a text joined are the text", () => {
  for (const text of ["", "a  b, c.", "naïve 東京タワー 🌍", "don't stop"]) assert.equal(pieces(text).map(([piece]) => piece).join(""), text);
});

test("case, width and accents do not matter", () => {
  assert.equal(folded("ÉTÉ"), "ete");
  assert.equal(folded("Ｐａｒｉｓ"), "paris");
  assert.notEqual(folded("ß"), folded("b"));
});

test("common words are not marked, unless there is no other", () => {
  assert.deepEqual([...words("What is the Capital of Peru?")], ["capital", "peru"]);
  assert.deepEqual([...words("to be or")], ["to", "be", "or"]);
  assert.equal(words(null).size, 0);
});

test("marked words are nodes, the rest is text on one line", () => {
  const nodes = marked("The élan\nof Peru", words("elan peru"));

  assert.deepEqual(nodes.map(node => node.tag ?? node), ["The ", "mark", " of ", "mark"]);
  assert.deepEqual([nodes[1].textContent, nodes[3].textContent], ["élan", "Peru"]);
});
