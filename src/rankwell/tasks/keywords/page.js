// Clips: the keywords of the query that each result has, and the keyword that fails most.

import {comparedRuns} from "../../reporting/page/assets/chosen.js";
import {data, DETAIL, ITEM, RANK, runs, STATE} from "../../reporting/page/assets/data.js";
import {el, heading, isolated, svg, table, visible} from "../../reporting/page/assets/dom.js";
import {runTag} from "../../reporting/page/assets/labels.js";
import {ALPHABET} from "../../reporting/page/assets/rows.js";
import {rankedRows, registerView} from "../../reporting/page/assets/views.js";
import {say} from "./words.js";

/** @typedef {[group: string, label: string]} Keyword */
/** @typedef {{keyword: Keyword, lacks: number}} KeywordCount */

const FIRST = 10;
/** What stands before an excluded label in the details of a result. */
const WITHOUT = "without ";

/**
 * The keywords of a query as [group, label], in one order for all results.
 * @param {RankedRow[]} rows
 * @returns {Keyword[]}
 */
function keywordsOf(rows) {
  /** @type {Map<string, Keyword>} */
  const labels = new Map();
  for (const row of rows) {
    for (const [group, {found, missing}] of Object.entries(row[DETAIL]?.groups ?? {})) {
      for (const label of [...found, ...missing]) labels.set(JSON.stringify([group, label]), [group, label]);
    }
  }
  return [...labels.values()].sort((one, other) => ALPHABET.compare(one[0], other[0]) || ALPHABET.compare(one[1], other[1]));
}

/** @param {RankedRow} row @param {Keyword} keyword */
function has(row, [group, label]) {
  return row[DETAIL]?.groups?.[group]?.found.includes(label) ?? false;
}

/**
 * A tick or a cross: a shape, a colour, and a name for those who see neither, unless the words beside it say the same.
 * @param {boolean} found
 * @param {string | null} name
 */
function sign(found, name) {
  const told = name === null ? {"aria-hidden": "true"} : {role: "img", "aria-label": name};
  return svg("svg", {class: `sign ${found ? "found" : "missing"}`, viewBox: "0 0 16 16", width: 14, height: 14, ...told},
    name === null ? null : svg("title", null, name), svg("path", {d: found ? "M3.2 8.6l3.1 3.1 6.5-7.2" : "M4.4 4.4l7.2 7.2M11.6 4.4l-7.2 7.2"}));
}

/** @param {RankedRow} row */
function isKnown(row) {
  return row[STATE] !== "unjudged";
}

/** @param {Query} query */
function summary(query) {
  const tables = comparedRuns().map(run => keywordTable(query, run)).filter(Boolean);
  if (!tables.length) return null;
  return el("div", {class: "view"}, el("h3", null, say.failsMost), el("div", {class: "keyword-tables"}, tables));
}

/**
 * A row for each keyword with a tick or a cross for each of the first results, the keyword that fails most first.
 * @param {Query} query
 * @param {Run} run
 */
function keywordTable(query, run) {
  const rows = rankedRows(query, run).slice(0, FIRST);
  const keywords = keywordsOf(rows);
  if (!keywords.length) return null;
  const counted = keywords.map(keyword => ({keyword, lacks: rows.filter(row => !has(row, keyword)).length}));
  counted.sort((one, other) => other.lacks - one.lacks);
  const twice = new Set(keywords.map(([, label]) => label)).size < keywords.length;
  return el("figure", {class: "keywords"},
    el("figcaption", null, runTag(run), isolated("span", {class: "run-name"}, runs[run]), el("span", {class: "quiet verdict"}, verdict(counted, rows.length))),
    el("div", {class: "scrolls"}, table({class: "keyword-table"}, say.caption(rows.length),
      [heading(say.keyword), rows.map(row => heading(row[RANK], {class: "slot", title: visible(data.items.id[row[ITEM]])})), heading(say.missing, {class: "number"})],
      el("tbody", null, counted.map(each => keywordRow(each, rows, twice))))));
}

/** @param {KeywordCount} count @param {RankedRow[]} rows @param {boolean} twice */
function keywordRow({keyword, lacks}, rows, twice) {
  const [group, label] = keyword;
  /** @param {RankedRow} row */
  const slot = row => {
    const name = say.slot(label, isKnown(row) ? (has(row, keyword) ? say.signs.found : say.signs.missing) : say.signs.unknown, row[RANK]);
    return el("td", {class: "slot"}, isKnown(row) ? sign(has(row, keyword), visible(name)) : el("span", {class: "quiet", title: visible(name)}, "?"));
  };
  return el("tr", null,
    el("th", {scope: "row", title: visible(say.inGroup(group, label))}, isolated("span", {class: "keyword"}, label), twice ? isolated("span", {class: "quiet group"}, group) : null),
    rows.map(slot),
    el("td", {class: `number ${lacks ? "loss" : "gain"}`}, say.of(lacks, rows.length)));
}

/** @param {KeywordCount[]} counted @param {number} n */
function verdict(counted, n) {
  const [{keyword, lacks}] = counted;
  if (!lacks) return say.complete;
  const same = counted.filter(each => each.lacks === lacks);
  if (same.length > 1) return same.length === counted.length ? say.each(lacks, n) : say.several(same.length, lacks, n);
  return [isolated("strong", null, keyword[1]), say.alone(lacks, n)];
}

/**
 * The keywords that a result has, in the same order on every result, and their number; then in words what it lacks, and what
 * it has that is excluded.
 * @param {RankedRow} row
 */
function result(row) {
  const keywords = keywordsOf([row]);
  const reasons = /** @type {string[]} */ (row[DETAIL]?.reasons ?? []);
  const remarks = reasons.filter(reason => reason in say.reasons).map(reason => el("span", {class: "chip warn"}, say.reasons[reason]));
  if (!keywords.length && !remarks.length) return null;
  if (!isKnown(row)) return el("div", {class: "view found-keywords"}, remarks);
  const found = keywords.filter(keyword => has(row, keyword));
  return el("div", {class: "view found-keywords"},
    keywords.length ? el("strong", {class: found.length === keywords.length ? "gain" : ""}, say.of(found.length, keywords.length)) : null,
    found.map(keyword => el("span", {class: "chip keyword-chip"}, sign(true, say.signs.found), el("span", null, labelled(keyword, keywords)))),
    remarks,
    found.length < keywords.length ? lacking(keywords, found, new Set(reasons)) : null);
}

/**
 * "lacks urban; has car, which is excluded". Details list an excluded label as missing behind `without`, and as a reason.
 * @param {Keyword[]} keywords
 * @param {Keyword[]} found
 * @param {Set<string>} reasons
 */
function lacking(keywords, found, reasons) {
  const missing = keywords.filter(keyword => !found.includes(keyword));
  /** @param {Keyword} keyword */
  const isExcluded = ([, label]) => label.startsWith(WITHOUT) && reasons.has(`excluded:${label.slice(WITHOUT.length)}`);
  const lacks = missing.filter(keyword => !isExcluded(keyword));
  const excluded = missing.filter(isExcluded).map(([group, label]) => /** @type {Keyword} */ ([group, label.slice(WITHOUT.length)]));
  return el("p", {class: "lacking"}, sign(false, null), el("span", null,
    lacks.length ? [say.lacks, named(lacks, keywords)] : null,
    lacks.length && excluded.length ? "; " : null,
    excluded.length ? [say.carries, named(excluded, keywords), say.excluded(excluded.length)] : null));
}

/**
 * "a, b and c".
 * @param {Keyword[]} keywords
 * @param {Keyword[]} every
 */
function named(keywords, every) {
  return keywords.map((keyword, place) => [place ? (place < keywords.length - 1 ? ", " : say.and) : null, labelled(keyword, every)]);
}

/**
 * A label, with its group where another group of the query has it as well.
 * @param {Keyword} keyword
 * @param {Keyword[]} every
 */
function labelled([group, label], every) {
  const isTwice = every.some(([other, same]) => same === label && other !== group);
  return [isolated("span", {class: "keyword", title: visible(group)}, label), isTwice ? [" (", isolated("span", {class: "group"}, group), ")"] : null];
}

registerView("keywords", {summary, result, first: say.first, slices: []});
