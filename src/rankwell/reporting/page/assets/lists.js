// The ranked lists: cards in rows, or tiles where the items are pictures.

import {chosen} from "./chosen.js";
import {byRank, data, firstRows, GRADE, ITEM, measures, mostResults, queries, RANK, runs, SCORE, shownStates, STATE, valueOf} from "./data.js";
import {el, glyph, isolated, mark, orMissing, stateName, svg, visible} from "./dom.js";
import {chooseRun, options} from "./filters.js";
import {picture} from "./labels.js";
import {MISSING, number, scoresLike} from "./numbers.js";
import {marked, words} from "./terms.js";
import {itemName, taskView} from "./views.js";
import {say} from "./words.js";

/** @param {Query} query @param {Lists} lists @param {Run[]} compared */
export function rankedLists(query, lists, compared) {
  const ranked = compared.map(run => firstRows(lists[run]));
  const tiles = Boolean(taskView().tile);
  return el(
    "section",
    {class: "block", "aria-labelledby": "lists-title"},
    el(
      "div",
      {class: "lists-head"},
      el("h3", {id: "lists-title"}, say.firstResults(Math.max(...ranked.map(rows => rows.length)))),
      el(
        "p",
        {class: "legend", "aria-hidden": "true"},
        shownStates().map(state => el("span", null, mark(state), stateName(state))),
      ),
    ),
    el(
      "div",
      {class: `lists${tiles ? " tiles" : ""}${compared.length > 1 ? "" : " alone"}`},
      compared.map((run, side) => oneList(query, {run, side, rows: ranked[side], lists, compared, tiles})),
      compared.length > 1 && !tiles ? svg("svg", {class: "lines", "aria-hidden": "true"}) : null,
    ),
  );
}

/**
 * The name of a list's run as a choice among all runs.
 * @param {Run} run
 * @param {number} side
 */
function runSwitch(run, side) {
  const name = side === 0 ? "a" : "b";
  const select = el("select", {class: "run-name", "aria-label": say.runOfLists("AB"[side]), id: `list-run-${name}`});
  options(select, runs);
  select.value = String(run);
  select.addEventListener("change", () => chooseRun(name, Number(select.value)));
  return select;
}

/** @param {Query} query @param {ListParts} list */
function oneList(query, {run, side, rows, lists, compared, tiles}) {
  const terms = words(queries.text[query]);
  const other = compared.length > 1 ? compared[1 - side] : null;
  const elsewhere = other === null ? null : new Map((lists[other] ?? []).map(row => [row[ITEM], row]));
  const head = el(
    "h4",
    null,
    compared.length > 1 ? el("span", {class: `tag ${"ab"[side]}`}, "AB"[side]) : null,
    runs.length > 2 ? runSwitch(run, side) : isolated("span", {class: "run-name", title: visible(runs[run])}, runs[run]),
    el("span", {class: "quiet number"}, orMissing(number(valueOf(chosen.measure, run, query), measures[chosen.measure].unit), say.noValue)),
  );
  const like = scoresLike(rows.map(row => row[SCORE]));
  const cards = rows.map((row, place) => (tiles ? tile(row, like) : card(row, {side, next: rows[place + 1], like, terms, elsewhere})));
  return el(
    "div",
    {class: `ranked side-${"ab"[side]}`},
    head,
    rows.length
      ? el("ol", {class: tiles ? "grid" : null}, cards)
      : el("p", {class: "empty"}, el("strong", null, say.nothingRetrieved), say.noResults),
  );
}

/**
 * @param {RankedRow} row
 * @param {CardParts} list
 */
function card(row, {side, next, like, terms, elsewhere}) {
  const item = row[ITEM];
  const named = itemName(item, row);
  return el(
    "li",
    {class: `card-row ${row[STATE]}`, "data-item": item},
    el("span", {class: "rank"}, row[RANK]),
    el("span", {class: "state"}, mark(row[STATE])),
    picture(item, 52),
    el(
      "div",
      {class: "about"},
      el(
        "p",
        {class: "title-line"},
        named.node,
        !row[GRADE] ? null : el("span", {class: "quiet grade"}, say.gradeOf(row[GRADE])),
        elsewhere ? otherPlace(row, elsewhere, side) : null,
      ),
      named.text && el("p", {class: "snippet", dir: "auto"}, marked(named.text, terms)),
      taskView().result?.(row) ?? null,
    ),
    el("div", {class: "points number"}, like(row[SCORE]), gap(row, next, like)),
  );
}

/** @param {RankedRow} row @param {RankedRow | undefined} next @param {ScoreWriter} like */
function gap(row, next, like) {
  if (!next || row[SCORE] === null || next[SCORE] === null) return null;
  const lead = Math.abs(row[SCORE] - next[SCORE]);
  const text = like(lead);
  return el("span", {class: "quiet gap", title: say.lead}, lead === 0 ? say.tied : text.startsWith("<") ? text : `+${text}`);
}

/**
 * The item's rank in the other run, with the number of ranks between; "> 20" where only the first 20 are known.
 * @param {RankedRow} row
 * @param {Map<Item, ListRow>} elsewhere
 * @param {number} side
 */
function otherPlace(row, elsewhere, side) {
  const name = "BA"[side];
  const other = elsewhere.get(row[ITEM]);
  const ended = byRank([...elsewhere.values()]).length < mostResults();
  /** @param {string} text @param {string} title @param {string | null} moved */
  const place = (text, title, moved = null) => glyph(`${name} ${text}${moved ?? ""}`, title, {class: "other quiet"});
  if (!other && !ended) return place(`> ${mostResults()}`, say.notAmong(mostResults(), name));
  if (!other || other[RANK] === null) return place(MISSING, say.notRetrievedBy(name));
  const moved = other[RANK] - row[RANK];
  return place(
    number(other[RANK], "count"),
    say.rankIn(other[RANK], name, moved),
    moved ? ` ${moved > 0 ? "↑" : "↓"}${Math.abs(moved)}` : null,
  );
}

/** @param {RankedRow} row @param {ScoreWriter} like */
function tile(row, like) {
  return el(
    "li",
    {class: `tile ${row[STATE]}`, "data-item": row[ITEM]},
    picture(row[ITEM], 140) ?? el("span", {class: "no-picture quiet"}, say.noPicture),
    el(
      "p",
      {class: "title-line"},
      el("span", {class: "rank"}, row[RANK]),
      mark(row[STATE]),
      el("span", {class: "quiet number"}, like(row[SCORE])),
    ),
    isolated("p", {class: "mono item-id", title: visible(data.items.id[row[ITEM]])}, data.items.id[row[ITEM]]),
    taskView().result?.(row) ?? null,
  );
}
