import assert from "node:assert/strict";
import test from "node:test";

import {ASSETS, load, openPage} from "./page.js";

openPage();
const {el, isolated, mark, readable, visible} = await load(`${ASSETS}/dom.js`);

test("nothing that runs or styles can be set as an attribute", () => {
  assert.throws(() => el("a", {onclick: "x"}), /no onclick attributes/);
  assert.throws(() => el("a", {style: "x"}), /no style attributes/);
});

test("what is null, undefined or false is left out, of attributes and of children", () => {
  const node = el("p", {id: null, hidden: true, title: undefined, class: false, lang: "en"}, null, ["a", [0, false]], undefined);

  assert.deepEqual(node.attributes, {hidden: "", lang: "en"});
  assert.deepEqual(node.children, ["a", 0]);
});

test("ids that differ look different", () => {
  assert.equal(visible("a\u202eb"), "a\\u{202e}b");
  assert.notEqual(visible("a\u0000"), visible("a"));
  assert.equal(visible("👩\u200d👧"), "👩\u200d👧");
  assert.equal(isolated("span", null, "a\nb").textContent, "a\\u{a}b");
  assert.equal(readable("a\r\n\u2028b"), "a b");
});

test("every state has a name for those who do not see its sign, an unknown one too", () => {
  assert.equal(mark("nonrelevant").attributes["aria-label"], "not relevant");
  assert.equal(mark("new").attributes["aria-label"], "new");
});
