// The views of tasks, and small pieces that they share.

import {comparedRuns} from "./chosen.js";
import {byRank, data, queries, runs, STATE} from "./data.js";
import {el, isolated, visible} from "./dom.js";
import {runTag} from "./labels.js";

/** @type {Map<string, TaskView>} */
const views = new Map();

/** Registers a task's view of a query. @param {string} task @param {TaskView} view */
export function registerView(task, view) {
  if (views.has(task)) throw new Error(`two views of ${task}`);
  views.set(task, view);
}

/**
 * The view of the page's task, empty where it has none.
 * @returns {TaskView}
 */
export function taskView() {
  return views.get(data.protocol) ?? {};
}

/**
 * The word for an attribute of queries; one that differs between folders is called `name (folder)`.
 * @param {string} name
 */
export function attributeLabel(name) {
  const labels = taskView().labels ?? {};
  const [, base = "", folder = ""] = /^(.+) \((.+)\)$/.exec(name) ?? [];
  if (!Object.hasOwn(queries.attributes, name)) return name;
  return labels[name] ?? (base in labels ? `${folder}: ${labels[base]}` : name.replaceAll("_", " "));
}

/**
 * What an item is called: by its task, else by its id, which its text may follow.
 * @param {Item} item
 * @param {ListRow | null | undefined} row
 * @returns {{node: Node, text: string | null}}
 */
export function itemName(item, row) {
  const named = row && taskView().title?.(row);
  if (named) return {node: el("span", {class: "named"}, named), text: null};
  const [id, text] = [data.items.id[item], data.items.text[item]];
  return {node: isolated("span", {class: "mono item-id", title: visible(id)}, id), text: text && text !== id ? text : null};
}

/**
 * The rows of one run's list in the order of rank, those that were not retrieved left out.
 * @param {Query} query
 * @param {Run} run
 * @returns {RankedRow[]}
 */
export function rankedRows(query, run) {
  return byRank(data.lists[query]?.[run]).filter(row => row[STATE] !== "junk");
}

/**
 * A line for each run compared, with what `lineOf` returns for it; null where that is null for all.
 * @param {(run: Run) => Child} lineOf
 */
export function runLines(lineOf) {
  const lines = comparedRuns().map(run => ({run, line: lineOf(run)})).filter(({line}) => line !== null);
  if (!lines.length) return null;
  return el("ul", {class: "run-lines"}, lines.map(({run, line}) =>
    el("li", null, el("span", {class: "run-of-line"}, runTag(run), isolated("span", {class: "run-name", title: visible(runs[run])}, runs[run])), el("span", null, line))));
}
