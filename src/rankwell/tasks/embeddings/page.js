// Agreement: each item's rank under the reference, and the distance of the reference's own choice from the cut.

import {comparedRuns} from "../../reporting/page/assets/chosen.js";
import {data, DETAIL, ITEM, queries, RANK, ruleOf, STATE} from "../../reporting/page/assets/data.js";
import {el, glyph, svg, visible} from "../../reporting/page/assets/dom.js";
import {MISSING, number, scoresLike, signed, whole} from "../../reporting/page/assets/numbers.js";
import {registerView, runLines} from "../../reporting/page/assets/views.js";
import {say} from "./words.js";

const tolerance = Number(ruleOf("eps") ?? 0.005);
const cut = Math.max(0, ...(ruleOf("k") ?? "").split(/[ ,]+/).map(Number).filter(Number.isFinite));
/** @typedef {"kept" | "lost" | "other"} Kind */
/** @type {Kind[]} */
const KINDS = ["kept", "lost", "other"];

/** @param {ListRow} row @returns {Kind | null} */
function kindOf(row) {
  const isFound = row[RANK] !== null && (!cut || row[RANK] <= cut);
  return row[STATE] === "relevant" ? (isFound ? "kept" : "lost") : isFound ? "other" : null;
}

/** @param {Query} query */
function summary(query) {
  const text = sentence(query);
  const strips = stripsOf(query);
  return text || strips ? el("div", {class: "view"}, text, strips) : null;
}

/** @param {Query} query */
function sentence(query) {
  const margin = queries.attributes.margin?.[query] ?? null;
  const near = queries.attributes.near_cut?.[query] ?? null;
  if (margin === null) return null;
  const gap = say.gap(cut ? ordinal(cut) : null, cut ? ordinal(cut + 1) : null, scoresLike([margin, tolerance])(margin));
  if (near === null) return el("p", null, gap, say.stop);
  return el("p", null, gap, say.near(near, whole(near), tolerance, cut ? ordinal(cut) : null),
    near > 0 ? [say.colon, el("strong", null, say.chance)] : say.stop);
}

/**
 * The reference's similarity of every item, a line for each run, with the cut between what counts and what does not.
 * @param {Query} query
 */
function stripsOf(query) {
  /** @param {Run} run */
  const rowsOf = run => (data.lists[query]?.[run] ?? []).filter(row => kindOf(row) && (row[DETAIL]?.reference_score ?? null) !== null);
  const every = comparedRuns().flatMap(rowsOf);
  if (every.length < 2) return null;
  /** @param {ListRow} row @returns {number} */
  const similar = row => row[DETAIL].reference_score;
  const [low, high] = [Math.min(...every.map(similar)), Math.max(...every.map(similar))];
  const known = every.find(row => row[DETAIL].margin !== null);
  /** @param {number} value */
  const at = value => `${(3 + 94 * (high > low ? (value - low) / (high - low) : 0.5)).toFixed(2)}%`;
  const edge = known ? similar(known) - known[DETAIL].margin : null;
  const like = scoresLike(every.map(similar));
  const lines = runLines(run => strip(rowsOf(run), row => like(similar(row)), row => at(similar(row)), edge === null ? null : at(edge)));
  return el("figure", {class: "strips"},
    el("figcaption", {class: "legend"}, KINDS.map(kind => el("span", null, svg("svg", {viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true"}, dot(kind, 8, 8)), say.kinds[kind]))),
    lines,
    el("p", {class: "strip-ends quiet"}, el("span", null, like(low)), el("span", null, say.axis, edge === null ? null : say.line(cut ? ordinal(cut) : null, like(edge))), el("span", null, like(high))));
}

/**
 * @param {ListRow[]} rows
 * @param {(row: ListRow) => string} similarity
 * @param {(row: ListRow) => string} at
 * @param {string | null} edge
 */
function strip(rows, similarity, at, edge) {
  const counts = KINDS.map(kind => say.count(rows.filter(row => kindOf(row) === kind).length, say.kinds[kind])).join("; ");
  return svg("svg", {class: "strip", width: "100%", height: 28, role: "img", "aria-label": counts},
    svg("line", {class: "strip-axis", x1: 0, x2: "100%", y1: 14, y2: 14}),
    edge === null ? null : svg("line", {class: "strip-cut", x1: edge, x2: edge, y1: 1, y2: 27}),
    KINDS.flatMap(kind => rows.filter(row => kindOf(row) === kind).map(row => svg("svg", {x: at(row), y: 14, overflow: "visible"}, dot(kind, 0, 0),
      svg("title", null, say.dot(visible(data.items.id[row[ITEM]]), similarity(row), say.kinds[kind]))))));
}

/**
 * Filled, hollow, or a cross: shapes differ, not only colours.
 * @param {Kind} kind
 * @param {number} x
 * @param {number} y
 */
function dot(kind, x, y) {
  if (kind === "other") return svg("path", {class: "dot other", d: `M${x - 3.6} ${y - 3.6}l7.2 7.2M${x + 3.6} ${y - 3.6}l-7.2 7.2`});
  return svg("circle", {class: `dot ${kind}`, cx: x, cy: y, r: kind === "kept" ? 4.5 : 4});
}

/** @param {number} n */
function ordinal(n) {
  const last = n % 100 >= 11 && n % 100 <= 13 ? "th" : {1: "st", 2: "nd", 3: "rd"}[n % 10] ?? "th";
  return `${number(n, "count")}${last}`;
}

/** @param {RankedRow} row */
function result(row) {
  const {reference_rank: rank = null, reference_score: similar = null, margin = null} = row[DETAIL] ?? {};
  if (rank === null && similar === null) return el("p", {class: "view reference quiet"}, say.beyond);
  const close = margin !== null && margin < 0 && margin >= -tolerance;
  return el("p", {class: "view reference"},
    el("span", null, el("span", {class: "quiet"}, say.reference), rank === null ? glyph(MISSING, say.notListed) : el("strong", null, ordinal(rank))),
    similar === null ? null : el("span", {title: say.similarity}, number(similar, "score")),
    margin === null ? null : el("span", {title: say.marginTitle}, el("span", {class: "quiet"}, say.margin), el("span", {class: margin < 0 ? "loss" : "gain"}, signed(margin, "score"))),
    close ? el("span", {class: "chip", title: say.within(tolerance)}, say.asGood) : null);
}

/** The share of the reference's items among the first ones, at the largest cut-off: the family of the first measure. @param {Measure[]} measures */
const share = measures => measures.filter(({label}) => label.split("@")[0] === measures[0].label.split("@")[0]).at(-1);

registerView("embeddings", {summary, result, share, first: say.first, slices: ["margin", "near_cut"]});
