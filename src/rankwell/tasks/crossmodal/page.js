// Captions and videos: the lead of the best right one, or its distance from the first.

import {data, DETAIL, RANK, SCORE, STATE} from "../../reporting/page/assets/data.js";
import {el} from "../../reporting/page/assets/dom.js";
import {number, scoresLike} from "../../reporting/page/assets/numbers.js";
import {rankedRows, registerView, runLines} from "../../reporting/page/assets/views.js";
import {say} from "./words.js";

/** @param {Query} query @returns {string | null} */
function directionOf(query) {
  const row = data.lists[query]?.flat().find(each => each[DETAIL]?.direction);
  return row ? row[DETAIL].direction : null;
}

/** @param {Query} query */
function summary(query) {
  const direction = say.directions[directionOf(query) ?? ""];
  const lines = runLines(run => {
    const rows = rankedRows(query, run);
    const best = rows.find(row => row[STATE] === "relevant");
    const like = scoresLike(rows.map(row => row[SCORE]));
    if (!rows.length) return null;
    if (!best) return el("span", {class: "loss"}, say.nothingRight);
    const [first, wrong] = [rows[0], rows.find(row => row[STATE] !== "relevant")];
    const rank = el("strong", {class: best[RANK] === 1 ? "gain" : ""}, say.best(number(best[RANK], "count")));
    if (best[SCORE] === null) return rank;
    if (best !== first) return [rank, say.behind(like((first[SCORE] ?? 0) - best[SCORE]))];
    return wrong ? [rank, say.ahead(like(best[SCORE] - (wrong[SCORE] ?? 0)))] : rank;
  });
  return el("div", {class: "view"}, direction ? el("p", null, el("span", {class: "chip"}, direction[0]), " ", el("span", {class: "quiet"}, say.right(direction[1]))) : null, lines);
}

registerView("crossmodal", {summary, first: say.first});
