// Instances: contact tiles, the label of each, and the rank of the first right one.

import {data, DETAIL, RANK, STATE} from "../../reporting/page/assets/data.js";
import {el, isolated} from "../../reporting/page/assets/dom.js";
import {number} from "../../reporting/page/assets/numbers.js";
import {rankedRows, registerView, runLines} from "../../reporting/page/assets/views.js";
import {say} from "./words.js";

const NEAR = 10;

/** @param {ListRow} row */
function rankText(row) {
  const ranks = row[DETAIL]?.ranks;
  return ranks ? say.tied(ranks[0], ranks[1]) : say.rank(number(row[RANK], "count"));
}

/** @param {Query} query */
function summary(query) {
  const lines = runLines(run => {
    const rows = data.lists[query]?.[run] ?? [];
    if (!rows.length) return null;
    const right = rows.filter(row => row[STATE] === "relevant");
    const ranked = rankedRows(query, run);
    const first = ranked.find(row => row[STATE] === "relevant");
    if (!first) return [el("span", {class: "loss"}, say.noneRight), say.of(right.length)];
    const near = ranked.filter(row => row[STATE] === "relevant" && row[RANK] <= NEAR).length;
    return [el("strong", {class: first[RANK] === 1 ? "gain" : ""}, say.firstAt(rankText(first))), say.near(near, right.length, NEAR)];
  });
  return lines ? el("div", {class: "view"}, lines) : null;
}

/** @param {RankedRow} row */
function result(row) {
  const {label, first_right: first} = row[DETAIL] ?? {};
  if (label === undefined && !first) return null;
  return el("div", {class: "view instance"},
    label === undefined ? null : isolated("span", {class: "label"}, label),
    first ? el("span", {class: "chip first-right"}, say.firstRight) : null,
    row[DETAIL].ranks ? el("span", {class: "quiet"}, rankText(row)) : null);
}

registerView("images", {summary, result, tile: true, first: say.first, slices: []});
