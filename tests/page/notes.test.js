import assert from "node:assert/strict";
import test from "node:test";

import {ASSETS, load, openPage} from "./page.js";

const kept = new Map();
globalThis.localStorage = {
  getItem: key => kept.get(key) ?? null,
  setItem: (key, text) => kept.set(key, text),
  removeItem: key => kept.delete(key),
};
openPage();
const {areKept, hasAnyTag, noteOf, noteRecords, tagCounts, tagsFrom, writeNote} = await load(`${ASSETS}/notes.js`);

test("tags are separated by commas, each once", () => {
  assert.deepEqual(tagsFrom(" hard,, look  again , hard"), ["hard", "look again"]);
  assert.deepEqual(tagsFrom(" , "), []);
});

test("queries of one id have notes of their own, and what another window wrote is kept", () => {
  writeNote(3, {tags: ["x"]});
  const [[key, text]] = kept;
  kept.set(key, JSON.stringify([...JSON.parse(text), ["q9", "from elsewhere", []]]));

  writeNote(4, {note: "second"});

  assert.deepEqual(noteRecords(), [
    {query: "q9", tags: "", note: "from elsewhere"},
    {query: "twice@3", tags: "x", note: ""},
    {query: "twice@4", tags: "", note: "second"},
  ]);
  assert.deepEqual(tagCounts(), [["", 2], ["x", 1]]);
  assert.deepEqual([1, 3, 4].map(query => hasAnyTag(query, [""])), [true, false, true]);
});

test("a full storage is noticed, and the note stays for the session", () => {
  globalThis.localStorage.setItem = () => {
    throw new Error("full");
  };

  writeNote(0, {note: "kept here"});

  assert.equal(areKept(), false);
  assert.equal(noteOf(0).note, "kept here");
});
