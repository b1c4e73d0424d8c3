// The table of queries: only the rows in sight are built, so that thousands scroll smoothly.

import {addressText, choose} from "./address.js";
import {chosen, comparedRuns, worstSide} from "./chosen.js";
import {allQueries, firstOf, measures, queries, runs, valueOf} from "./data.js";
import {$, button, el, glyph, icon, isolated, orMissing, readable, svg, targetOf, visible} from "./dom.js";
import {clearFilters} from "./filters.js";
import {measureName, pictureOf} from "./labels.js";
import {noteOf} from "./notes.js";
import {fixed, MISSING, number, signed, whole} from "./numbers.js";
import {deltaOf, flagsOf, lowerIsBetter, overlapOf, relevantColumns, SAME, senseOf, shownFlags, shownQueries, unjudgedOf, valueA, valueB} from "./rows.js";
import {counted, say} from "./words.js";

const HAS_TEXT = queries.text.some(text => text !== null);
const AROUND = 12;
const COMPACT_BELOW = 620;
const PRINTED = 500;
const NOTE = "M3.5 2.5h9v7l-4 4h-5zM12.5 9.5h-4v4M6 5.5h4M6 8h2";
const BAR = {width: 64, half: 30};
// The columns of figures that rows of two lines have, with their heads above them; B − A gives way to what is not among A and B.
const FIGURES = ["a", "b", "delta", "apart", "unjudged"];
/** @type {ShownRows} */
export const shownRows = {queries: [], cursor: -1, compact: false, from: -1, to: -1, all: false, columns: [], reach: 1};

/** Columns that this data has: [name, heading, title, cell, numeric]. The name is the key of its order. */
function columnsOf() {
  const single = chosen.b === null;
  const unit = measures[chosen.measure]?.unit;
  /** @type {ColumnMaker} */
  const known = (name, heading, title, cell, numeric = false) => ({name, heading, title, cell, numeric});
  const hasFlags = shownFlags().length > 0;
  return [
    known("id", say.query, say.queryId, idCell),
    HAS_TEXT && known("text", say.text, say.textOfQuery, textCell),
    ...comparedRuns().map((run, side) =>
      known(
        "ab"[side],
        single ? measures[chosen.measure].label : "AB"[side],
        single ? null : runs[run],
        query => orMissing(number(valueOf(chosen.measure, run, query), unit), say.noValue),
        true,
      ),
    ),
    !single && known("delta", say.difference, say.differenceTitle, query => deltaCell(query, unit), true),
    ...relevantColumns().map(({name, side, of}) =>
      known(name, say.relevantOf(side), say.relevantTitle, query => orMissing(number(of(query), "count"), say.noRelevantCount), true),
    ),
    ...(queries.first ? comparedRuns() : []).map((run, side) =>
      known(
        `first_${"ab"[side]}`,
        single ? say.first : say.firstOf("AB"[side]),
        say.firstTitle,
        query => orMissing(number(firstOf(run, query), "count"), say.noFirst),
        true,
      ),
    ),
    chosen.sort === "apart" &&
      known("apart", say.overlap, say.overlapTitle, overlapCell, true),
    chosen.sort === "unjudged" &&
      known("unjudged", say.unjudged, say.unjudgedColumn, unjudgedCell, true),
    hasFlags && known("flags", say.flags, say.flagsTitle, flagsCell),
  ].filter(column => typeof column === "object" && column !== null);
}

/** @param {Query} query */
function idCell(query) {
  const cell = [
    pictureOf(query, 28),
    isolated(
      "a",
      {class: "id", href: `#${addressText({view: "queries", query})}`, tabindex: "-1", title: visible(queries.id[query])},
      queries.id[query],
    ),
  ];
  return HAS_TEXT ? cell : withNote(query, cell);
}

/** @param {Query} query */
function textCell(query) {
  const text = queries.text[query];
  return withNote(query, text === null ? glyph(MISSING, say.noText) : el("span", {dir: "auto", title: readable(text)}, readable(text)));
}

/**
 * A cell with the tags and the sign of the note at its end, where the query has any.
 * @param {Query} query
 * @param {Child} cell
 */
function withNote(query, cell) {
  const {note, tags} = noteOf(query);
  if (!note.trim() && !tags.length) return cell;
  return el(
    "span",
    {class: "noted"},
    cell,
    el(
      "span",
      {class: "own", title: say.own(tags, note), role: "img", "aria-label": say.own(tags, note)},
      tags.length ? isolated("span", {class: "chip tagged"}, tags[0]) : null,
      tags.length > 1 ? el("span", {class: "quiet"}, `+${tags.length - 1}`) : null,
      note.trim() ? icon(NOTE) : null,
    ),
  );
}

/**
 * A signed number with a bar about 0.
 * @param {Query} query
 * @param {string | undefined} unit
 */
function deltaCell(query, unit) {
  const delta = deltaOf(query);
  if (delta === null) return glyph(MISSING, say.noDifference);
  const sense = senseOf(delta);
  const long = (Math.abs(delta) / shownRows.reach) * BAR.half;
  const middle = BAR.width / 2;
  return [
    svg(
      "svg",
      {class: `delta-bar ${sense}`, width: BAR.width, height: 12, viewBox: `0 0 ${BAR.width} 12`, "aria-hidden": "true"},
      svg("path", {class: "zero", d: `M${middle} 0v12`}),
      delta ? svg("rect", {x: delta < 0 ? middle - long : middle, y: 2, width: Math.max(1.5, long), height: 8, rx: 1}) : null,
    ),
    el("span", {class: sense}, signed(delta, unit)),
  ];
}

/** @param {Query} query */
function overlapCell(query) {
  const overlap = overlapOf(query);
  return overlap === null ? glyph(MISSING, say.noOverlap) : fixed(overlap, 2);
}

/** @param {Query} query */
function unjudgedCell(query) {
  return orMissing(number(unjudgedOf(query), "count"), say.noJudgments);
}

/** @param {Query} query */
function flagsCell(query) {
  const flags = flagsOf(query);
  if (!flags.length) return null;
  return el(
    "span",
    {class: "flags", title: flags.map(visible).join(", ")},
    el("span", {class: "chip"}, visible(flags[0])),
    flags.length > 1 ? el("span", {class: "quiet"}, `+${flags.length - 1}`) : null,
  );
}

/** Chooses and orders the queries again, and draws what is in sight. */
export function drawTable() {
  shownRows.queries = shownQueries();
  shownRows.reach = allQueries.reduce((most, query) => Math.max(most, Math.abs(deltaOf(query) ?? 0)), SAME);
  shownRows.cursor =
    chosen.query === null ? Math.min(shownRows.cursor, shownRows.queries.length - 1) : shownRows.queries.indexOf(chosen.query);
  shownRows.columns = columnsOf();
  measureColumns();
  const n = shownRows.queries.length;
  const every = counted(allQueries.length, "query");
  $("shown").replaceChildren(
    ...(n === allQueries.length ? [every] : [el("strong", null, whole(n)), say.ofAll(every)]),
    chosen.sort === "random" ? say.seed(chosen.seed) : "",
  );
  $("query-count").textContent = whole(allQueries.length);
  $("caption").textContent = captionText();
  $("table").setAttribute("aria-rowcount", String(n + 1));
  drawHead();
  drawEmpty();
  drawRows(true);
  for (const each of [$("copy-ids"), $("save-csv"), $("save-jsonl")]) each.disabled = n === 0;
}

/** Widths of the columns of figures in characters: that of the longest figure, and more for a longer heading. */
function measureColumns() {
  const unit = measures[chosen.measure]?.unit;
  const names = shownRows.columns.map(column => column.name);
  const special = names.some(name => name === "apart" || name === "unjudged");
  const figures = shownRows.columns.filter(({name}) => FIGURES.includes(name) && !(special && name === "delta"));
  let [least, most] = [0, 0];
  for (const query of allQueries) {
    const values = [valueA(query), valueB(query), deltaOf(query)].map(value => value ?? 0);
    [least, most] = [Math.min(least, ...values), Math.max(most, ...values)];
  }
  const room = Math.max(6, signed(least, unit).length, signed(most, unit).length);
  const widths = figures.map(({heading}) => `${Math.max(room, Math.min(heading.length, 16) + 1.5)}ch`);
  $("table").style.setProperty("--figures", widths.join(" "));
  $("table").style.setProperty("--figure-room", `${room}ch`);
}

function captionText() {
  const pairText = chosen.b === null ? visible(runs[chosen.a]) : say.pair(visible(runs[chosen.a]), visible(runs[chosen.b]));
  return say.tableCaption(measureName(measures[chosen.measure]), pairText);
}

function drawEmpty() {
  const none = shownRows.queries.length === 0;
  $("empty").hidden = !none;
  $("table").hidden = none;
  if (!none) return;
  $("empty").replaceChildren(
    allQueries.length
      ? el(
          "div",
          null,
          el("strong", null, say.nonePasses),
          say.takeAway,
          el("br"),
          button(say.clearAllFilters, clearFilters),
        )
      : el("div", null, el("strong", null, say.noQueries), say.collectionOnly),
  );
}

/** The column of the order, and whether its values rise. */
function sortedColumn() {
  const column = {worst: worstSide(), loss: "delta", gain: "delta"}[chosen.sort];
  // The largest first: of the best and of unjudged results, and of the worst where lower is better.
  const falls = (column !== undefined && lowerIsBetter()) !== ["gain", "unjudged"].includes(chosen.sort);
  return [column ?? chosen.sort, falls !== chosen.reversed ? "descending" : "ascending"];
}

function drawHead() {
  const [sorted, direction] = sortedColumn();
  const cells = shownRows.columns.map(column => {
    const active = column.name === sorted;
    const arrow = active ? icon(direction === "ascending" ? "M8 12V4M5 7l3-3 3 3" : "M8 4v8M5 9l3 3 3-3") : null;
    const sorter = button([isolated("span", null, column.heading), arrow], () => sortBy(column), {
      "data-sort": column.name,
      title: column.title && visible(column.title),
    });
    return el(
      "th",
      {
        scope: "col",
        class: `col-${column.name}${column.numeric ? " number" : ""}`,
        role: "columnheader",
        "aria-sort": active ? direction : "none",
      },
      sorter,
    );
  });
  const focused = document.activeElement?.closest("thead button")?.getAttribute("data-sort");
  tableHead().replaceChildren(el("tr", {role: "row", "aria-rowindex": 1}, cells));
  if (focused) focusOn(tableHead().querySelector(`[data-sort="${focused}"]`));
}

/**
 * The first press puts the smallest text or the largest number first; the next press reverses the order.
 * @param {Column} column
 */
function sortBy(column) {
  const [sorted, direction] = sortedColumn();
  const large = column.name === "flags" || (column.numeric && !column.name.startsWith("first"));
  const turned = chosen.sort === column.name ? !chosen.reversed : direction === "ascending";
  choose({sort: column.name, reversed: sorted === column.name ? turned : large});
}

/** @returns {HTMLElement} */
function tableHead() {
  return /** @type {any} */ ($("table").tHead);
}

/** @param {Element | null} node */
function focusOn(node) {
  if (node instanceof HTMLElement) node.focus({preventScroll: true});
}

function rowHeight() {
  if (!shownRows.compact) return 41;
  return $("table").classList.contains("two-lines") ? 62 : 46;
}

/**
 * Builds the rows in sight and some around them; spacers stand for the rest.
 * @param {boolean} [again]
 */
export function drawRows(again = false) {
  const scroller = $("scroller");
  const height = rowHeight();
  const n = shownRows.queries.length;
  const top = Math.max(0, scroller.scrollTop - tableHead().offsetHeight);
  const first = shownRows.all ? 0 : Math.min(Math.floor(top / height), Math.max(0, n - 1));
  const last = shownRows.all ? Math.min(n, PRINTED) : Math.min(n, Math.ceil((top + scroller.clientHeight) / height));
  if (!again && first >= shownRows.from && last <= shownRows.to) return;
  // More than is in sight, so that a short scroll builds nothing.
  shownRows.from = Math.max(0, first - AROUND);
  shownRows.to = Math.min(n, last + AROUND);
  const focused = document.activeElement?.closest("tr.row")?.getAttribute("data-query") ?? null;
  const body = shownRows.queries.slice(shownRows.from, shownRows.to).map((query, at) => rowOf(query, shownRows.from + at));
  $("table").tBodies[0].replaceChildren(spacer(shownRows.from * height), ...body, spacer((n - shownRows.to) * height));
  if (focused !== null) focusOn($("table").querySelector(`tr[data-query="${focused}"] a.id`));
}

/** @param {number} height */
function spacer(height) {
  const row = el("tr", {class: "spacer", "aria-hidden": "true"}, el("td"));
  row.style.height = `${height}px`;
  row.hidden = height === 0;
  return row;
}

/** @param {Query} query @param {number} place */
function rowOf(query, place) {
  const open = query === chosen.query;
  const row = el(
    "tr",
    {
      class: `row${HAS_TEXT && queries.text[query] === null ? " textless" : ""}${open ? " open" : ""}${place === shownRows.cursor ? " cursor" : ""}`,
      role: "row",
      "aria-rowindex": place + 2,
      "aria-current": open ? "true" : null,
      "data-query": query,
    },
    shownRows.columns.map(column =>
      el(
        column.name === "id" ? "th" : "td",
        {
          class: `col-${column.name}${column.numeric ? " number" : ""}`,
          scope: column.name === "id" ? "row" : null,
          role: column.name === "id" ? "rowheader" : "cell",
        },
        column.cell(query),
      ),
    ),
  );
  for (const link of row.querySelectorAll("a.id")) link.setAttribute("tabindex", place === Math.max(0, shownRows.cursor) ? "0" : "-1");
  return row;
}

/**
 * Moves the cursor and brings its row into sight; with a detail open, that query is opened.
 * @param {number} place
 * @param {{focus?: boolean}} [options]
 */
export function moveCursor(place, {focus = true} = {}) {
  if (!shownRows.queries.length) return;
  shownRows.cursor = Math.min(Math.max(place, 0), shownRows.queries.length - 1);
  if (chosen.query !== null) choose({query: shownRows.queries[shownRows.cursor]});
  revealCursor();
  drawRows(true);
  if (focus && chosen.query === null) focusOn(cursorLink());
}

export function cursorLink() {
  return $("table").querySelector(".cursor a.id");
}

export function revealCursor() {
  if (shownRows.cursor < 0) return;
  const scroller = $("scroller");
  const head = tableHead().offsetHeight;
  const top = shownRows.cursor * rowHeight();
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top + rowHeight() + head > scroller.scrollTop + scroller.clientHeight)
    scroller.scrollTop = top + rowHeight() + head - scroller.clientHeight + 1;
}

/**
 * open: called with a query that is clicked.
 * @param {(query: Query) => void} open
 */
export function setUpTable(open) {
  const scroller = $("scroller");
  const longest = queries.id.reduce((most, id) => Math.max(most, id.length), 8);
  // Rows have two lines for a text, and for ids that end alike where they are cut.
  $("table").classList.toggle("two-lines", longest > 14 || HAS_TEXT);
  $("table").style.setProperty("--id-room", `calc(${Math.min(longest, 22)}ch + ${queries.picture ? 38 : 0}px)`);
  let scheduled = false;
  scroller.addEventListener(
    "scroll",
    () => {
      if (scheduled) return;
      scheduled = true;
      requestAnimationFrame(() => {
        scheduled = false;
        drawRows();
      });
    },
    {passive: true},
  );
  $("table").tBodies[0].addEventListener("click", event => {
    const row = targetOf(event).closest("tr.row");
    if (!row || event.metaKey || event.ctrlKey || getSelection()?.type === "Range") return;
    event.preventDefault();
    open(Number(row.getAttribute("data-query")));
  });
  new ResizeObserver(() => {
    shownRows.compact = scroller.clientWidth < COMPACT_BELOW;
    $("table").classList.toggle("compact", shownRows.compact);
    if ($("queries").hidden) return;
    if (chosen.query !== null) revealCursor();
    drawRows(true);
  }).observe(scroller);
  addEventListener("beforeprint", () => printAll(true));
  addEventListener("afterprint", () => printAll(false));
}

/**
 * On paper the rows do not scroll: the first ones are all built.
 * @param {boolean} on
 */
function printAll(on) {
  shownRows.all = on;
  $("printed").hidden = !on || shownRows.queries.length <= PRINTED;
  if (!$("queries").hidden) drawRows(true);
}
