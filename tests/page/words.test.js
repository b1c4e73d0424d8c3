import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import test from "node:test";

import {ASSETS, load} from "./page.js";

const {counted, KEYS, renameQueries, say, SIGNS} = await load(`${ASSETS}/words.js`);

test("one is singular, everything else plural", () => {
  assert.deepEqual([counted(1, "id"), counted(0, "id"), counted(2000, "query"), counted(1, "query")], ["1 id", "0 ids", "2,000 queries", "1 query"]);
});

test("the ranks between two lists are put into words", () => {
  assert.equal(say.rankIn(9, "B", 8), "Rank 9 in B, 8 ranks higher here");
  assert.equal(say.rankIn(1, "A", -1), "Rank 1 in A, 1 rank lower here");
  assert.equal(say.rankIn(3, "A", 0), "Rank 3 in A, as here");
});

test("the frame names words that there are, and has no others", () => {
  const frame = readFileSync(new URL(`../../src/rankwell/${ASSETS}/page.html`, import.meta.url), "utf8").replace(/[^]*<body>|<noscript>[^]*<\/noscript>/g, "");
  const named = [...frame.matchAll(/data-say="([^"]*)"/g)].flatMap(each => each[1].split(" ")).map(each => each.split("@")[0]);
  for (const name of named) assert.equal(typeof say[name], "string", name);
  assert.deepEqual([...frame.matchAll(/>([^<>{]*[a-z]{2,}[^<>]*)</g)].map(each => each[1]), ["rankwell"]);
  assert.doesNotMatch(frame, /(aria-label|title|placeholder)=/);
});

test("words of tasks have plural forms", async () => {
  const [embeddings, qa, keywords] = await Promise.all(["embeddings", "qa", "keywords"].map(task => load(`tasks/${task}/words.js`)));

  assert.equal(embeddings.say.near(0, "0", 0.005, "5th"), ", and no other item lies within 0.005 of the 5th");
  assert.equal(embeddings.say.near(1, "1", 0.005, null), ", and 1 other item lies within 0.005 of the former");
  assert.equal(embeddings.say.near(2, "2", 0.005, null), ", and 2 other items lie within 0.005 of the former");
  assert.deepEqual([qa.say.rights(1), qa.say.rights(2)], ["right answer", "right answers"]);
  assert.deepEqual([keywords.say.caption(1), keywords.say.caption(9)], ["Keywords of the first result", "Keywords of the first 9 results"]);
  assert.equal(keywords.say.several(2, 3, 9), "2 keywords are missing in 3 of 9");
});

test("a task's own name for a query is in every word, and names of runs are left alone", () => {
  renameQueries("pair", "pairs");

  // A function asks for the name, and has no word of its own for it.
  const own = /NOUNS\.query|"query"|queries\(\)/g;
  const written = Object.entries(say).map(([name, each]) => [name, typeof each === "function" ? String(each).replace(own, "") : JSON.stringify(each)]);
  for (const [name, text] of [...written, ["keys", JSON.stringify(KEYS)], ["signs", JSON.stringify(SIGNS)]]) assert.doesNotMatch(text, /quer(y|ies)\b/i, name);
  assert.equal(counted(2, "query"), "2 pairs");
  assert.equal(say.band(1, "rank 1", "query 7"), "1 pair, rank 1: query 7");
  assert.equal(say.queriesView, "Pairs");
});
