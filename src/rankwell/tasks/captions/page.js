// @page keyed
// Captions and videos: the lead of the best right one, or its distance from the first.

import {data, DETAIL, RANK, SCORE, STATE} from "../../report/page/assets/data.js";
import {el} from "../../report/page/assets/dom.js";
import {number, score} from "../../report/page/assets/numbers.js";
import {rankedRows, registerView, runLines} from "../../report/page/assets/views.js";

/** @type {Record<string, [string, string]>} */
const DIRECTIONS = {
  "t2v": ["caption to video", "the video that the caption describes"],
  "v2t": ["video to caption", "a caption of the video, among all captions"],
  "v2t-videos": ["video to captions of videos", "the video itself, each video scored by the best of its captions"],
};

/** @param {Query} query @returns {string | null} */
function directionOf(query) {
  const row = data.lists[query]?.flat().find(each => each[DETAIL]?.direction);
  return row ? row[DETAIL].direction : null;
}

/** @param {Query} query */
function summary(query) {
  const direction = DIRECTIONS[directionOf(query) ?? ""];
  const lines = runLines(run => {
    const rows = rankedRows(query, run);
    const best = rows.find(row => row[STATE] === "relevant");
    if (!rows.length) return null;
    if (!best) return el("span", {class: "loss"}, "nothing right was found");
    const [first, wrong] = [rows[0], rows.find(row => row[STATE] !== "relevant")];
    const rank = el("strong", {class: best[RANK] === 1 ? "gain" : ""}, `best right one at rank ${number(best[RANK], "count")}`);
    if (best[SCORE] === null) return rank;
    if (best !== first) return [rank, `, ${score((first[SCORE] ?? 0) - best[SCORE])} short of the first`];
    return wrong ? [rank, `, ${score(best[SCORE] - (wrong[SCORE] ?? 0))} ahead of the first wrong one`] : rank;
  });
  return el("div", {class: "view"}, direction ? el("p", null, el("span", {class: "chip"}, direction[0]), " ", el("span", {class: "quiet"}, `right is ${direction[1]}`)) : null, lines);
}

registerView("captions", {summary});
