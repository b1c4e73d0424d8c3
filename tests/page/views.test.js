import assert from "node:assert/strict";
import {existsSync, readdirSync} from "node:fs";
import test from "node:test";

import {ASSETS, load, openPage, smallData} from "./page.js";

const world = smallData();
world.items.id.push("🌍 the paris");
world.queries.attributes.right = ['["Paris"]', null, null, null, null, null];
openPage(world);
const {data, queries, shownStates} = await load(`${ASSETS}/data.js`);
const {rankedRows, registerView, taskView} = await load(`${ASSETS}/views.js`);

const TASKS = new URL("../../src/rankwell/tasks/", import.meta.url);
const tasks = readdirSync(TASKS).filter(name => existsSync(new URL(`${name}/page.js`, TASKS)));
for (const task of tasks) await load(`tasks/${task}/page.js`);
const viewOf = task => {
  data.protocol = task;
  return taskView();
};

test("every task registers the view of its own name, and only once", () => {
  assert.ok(tasks.length > 0);
  for (const task of tasks) {
    assert.notDeepEqual(viewOf(task), {}, task);
    assert.throws(() => registerView(task, {}), new RegExp(`two views of ${task}`));
  }
  assert.deepEqual(viewOf("none"), {});
});

test("ranked rows are in order of rank, without junk and what was not retrieved", () => {
  assert.deepEqual(rankedRows(1, 0).map(row => row[0]), [0, 1]);
  assert.deepEqual(rankedRows(1, 1).map(row => row[0]), [3]);
  assert.deepEqual(rankedRows(4, 0), []);
});

test("answers mark what they share by characters, not by code units", () => {
  const detail = {right: "Paris", characters: [[6, 11]], tokens: [[6, 11]], right_characters: [], right_tokens: []};
  const title = viewOf("qa").title([4, 1, 1, null, "relevant", detail]);

  assert.deepEqual(title.ofClass("same-word").map(node => node.textContent), ["paris"]);
  assert.equal(title.textContent, "🌍 the paris");
});

test("captions state the lead of the best right one", () => {
  data.lists[2] = [
    [[0, 1, 0.9, null, "nonrelevant", {direction: "t2v"}], [1, 2, 0.4, 1, "relevant", null]],
    [[1, 1, 0.8, 1, "relevant", null], [0, 2, 0.5, null, "nonrelevant", null]],
  ];

  const text = viewOf("crossmodal").summary(2).textContent;

  assert.match(text, /text to video/);
  assert.match(text, /rank 2, 0\.5000 short of the first/);
  assert.match(text, /rank 1, 0\.3000 ahead of the first wrong one/);
});

test("instances count the right ones among the first 10", () => {
  const text = viewOf("images").summary(1).textContent;

  assert.match(text, /first right one at rank 1 · 1 of 2 right among the first 10/);
});

test("clips list the keyword that fails most first", () => {
  const groups = (found, missing) => ({groups: {who: {found, missing}}});
  data.lists[3] = [[[0, 1, 2, 1, "relevant", groups(["car"], ["bus"])], [1, 2, 1, 0, "nonrelevant", groups([], ["bus", "car"])]], []];

  const summary = viewOf("keywords").summary(3);

  assert.deepEqual(summary.ofClass("keyword").map(node => node.textContent), ["bus", "car"]);
  assert.match(summary.textContent, /bus is missing in 2 of 2/);
});

test("clips say in words what a result lacks, and what it has that is excluded", () => {
  const groups = {
    who: {found: ["car", "other"], missing: ["bus", "without truck"]},
    where: {found: ["without tunnel"], missing: ["other", "road", "without night", "without lights"]},
  };
  const reasons = ["missing:bus", "missing:other", "missing:road", "missing:without lights", "excluded:truck", "excluded:night"];
  const shown = (state, detail) => viewOf("keywords").result([0, 1, 2, 0, state, detail]);
  const text = (state, detail) => shown(state, detail).textContent;

  const view = shown("nonrelevant", {groups, reasons});

  const lacks = "lacks other (where), road, without lights and bus; has night and truck, which are excluded";
  assert.deepEqual(view.ofClass("lacking").map(node => node.textContent), [lacks]);
  const chips = view.ofClass("keyword-chip").map(node => node.children[1].textContent);
  assert.deepEqual(chips, ["without tunnel", "car", "other (who)"]);
  const excluded = {groups: {who: {found: [], missing: ["without truck"]}}, reasons: ["excluded:truck"]};
  assert.equal(text("nonrelevant", excluded), "0 of 1has truck, which is excluded");
  const partly = {groups: {who: {found: [], missing: ["<b>"]}}, reasons: []};
  assert.equal(text("relevant", partly), "0 of 1lacks <b>");
  const whole = {groups: {who: {found: ["car"], missing: []}}, reasons: ["below_threshold"]};
  assert.equal(text("relevant", whole), "1 of 1foundcarbelow the threshold");
  assert.equal(text("unjudged", {groups, reasons: ["unannotated"]}), "not annotated");
});

test("retrieve states the time of a query, its missing exact results and what had no answer", () => {
  data.measures.push({name: "latency", label: "latency", unit: "ms", better: "lower", of: null, summary: "median"});
  data.queries.values.push([[1.5, null, null, null, null, null], [null, null, null, null, null, null]]);
  data.rules.push(["key", "the exact results"]);
  data.unanswered = [{run: 1, query: 0, id: "q10", round: 2, status: "timeout", error: "no answer within 1 s"}];
  data.lists[0][0].push([3, null, null, 1, "relevant", null]);

  const lines = viewOf("engine").summary(0).children[0].children.map(line => line.textContent);

  assert.match(lines[0], /1\.500 ms1 exact result missing$/);
  assert.match(lines[1], /timeout in round 2: no answer within 1 s$/);
  assert.equal(viewOf("engine").summary(3), null);
});

test("agreement counts what was found within the reference's cut", () => {
  const under = margin => ({reference_rank: 1, reference_score: 0.5 + margin, margin});
  data.lists[4] = [[[0, 1, 2, 1, "relevant", under(0.1)], [1, 2, 1, 0, "nonrelevant", under(-0.004)], [2, 3, 1, 1, "relevant", under(0)]], []];

  const view = viewOf("embeddings");

  assert.deepEqual(["kept", "lost", "other"].map(kind => view.summary(4).ofClass("strip")[0].ofClass(kind).length), [1, 1, 1]);
  assert.match(view.result(data.lists[4][0][1]).textContent, /margin −0\.0040as good as counted/);
});

test("a legend has the states that the page can show", () => {
  const lists = data.lists;
  assert.deepEqual(shownStates(), ["relevant", "nonrelevant", "unjudged", "junk"]);
  data.lists = {};
  assert.deepEqual(shownStates(), ["relevant", "nonrelevant"]);
  queries.unjudged = [[], []];
  assert.deepEqual(shownStates(), ["relevant", "nonrelevant", "unjudged"]);
  const first = queries.first;
  delete queries.first;
  assert.deepEqual(shownStates(), []);
  delete queries.unjudged;
  Object.assign(queries, {first});
  Object.assign(data, {lists});
});
