// Instances: contact tiles, the label of each, and the rank of the first right one.

import {data, DETAIL, RANK, STATE} from "../../report/page/assets/data.js";
import {el, isolated} from "../../report/page/assets/dom.js";
import {number} from "../../report/page/assets/numbers.js";
import {rankedRows, registerView, runLines} from "../../report/page/assets/views.js";

const NEAR = 10;

/** @param {ListRow} row */
function rankText(row) {
  const ranks = row[DETAIL]?.ranks;
  return ranks ? `rank ${ranks[0]} to ${ranks[1]}, tied` : `rank ${number(row[RANK], "count")}`;
}

/** @param {Query} query */
function summary(query) {
  const lines = runLines(run => {
    const rows = data.lists[query]?.[run] ?? [];
    if (!rows.length) return null;
    const right = rows.filter(row => row[STATE] === "relevant");
    const ranked = rankedRows(query, run);
    const first = ranked.find(row => row[STATE] === "relevant");
    if (!first) return [el("span", {class: "loss"}, "no right one found"), ` of ${right.length}`];
    const near = ranked.filter(row => row[STATE] === "relevant" && row[RANK] <= NEAR).length;
    return [el("strong", {class: first[RANK] === 1 ? "gain" : ""}, `first right one at ${rankText(first)}`), ` · ${near} of ${right.length} right among the first ${NEAR}`];
  });
  return lines ? el("div", {class: "view"}, lines) : null;
}

/** @param {RankedRow} row */
function result(row) {
  const {label, first_right: first} = row[DETAIL] ?? {};
  if (label === undefined && !first) return null;
  return el("div", {class: "view instance"},
    label === undefined ? null : isolated("span", {class: "label"}, label),
    first ? el("span", {class: "chip first-right"}, "first right") : null,
    row[DETAIL].ranks ? el("span", {class: "quiet"}, rankText(row)) : null);
}

registerView("instances", {summary, result, tile: true});
