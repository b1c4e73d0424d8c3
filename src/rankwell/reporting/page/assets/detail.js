// One query: its text, its values, its relevant items, and the lists side by side.

import {choose, redraw, writeAddress} from "./address.js";
import {chosen, comparedRuns} from "./chosen.js";
import {data, listsOf, measures, queries, runs, valueOf} from "./data.js";
import {$, button, el, heading, icon, isolated, orMissing, readable, table, visible} from "./dom.js";
import {copy} from "./downloads.js";
import {toggleFilters} from "./filters.js";
import {gold} from "./gold.js";
import {measureName, pictureOf, runTag} from "./labels.js";
import {drawLines} from "./lines.js";
import {rankedLists} from "./lists.js";
import {areKept, noteOf, tagsFrom, writeNote} from "./notes.js";
import {number, signed} from "./numbers.js";
import {attributeOf, deltaOf, difference, flagsOf, senseOf, shownAttributes, STRUCTURED, valueA, valueB} from "./rows.js";
import {cursorLink, drawRows, moveCursor, revealCursor, shownRows} from "./table.js";
import {attributeLabel, taskView} from "./views.js";
import {say} from "./words.js";

/** @type {Element | null} */
let opener = null;

/** @param {Query} query */
export function openQuery(query) {
  opener = document.activeElement;
  shownRows.cursor = shownRows.queries.indexOf(query);
  toggleFilters(false);
  choose({query, view: "queries"}, {push: true});
  $("detail").focus({preventScroll: true});
}

export function closeQuery() {
  if (chosen.query === null) return;
  choose({query: null}, {push: true});
  revealCursor();
  drawRows(true);
  const target = cursorLink() ?? opener;
  if (target instanceof HTMLElement) target.focus({preventScroll: true});
}

/**
 * The neighbour of the open query in the order shown, null at the ends.
 * @param {number} step
 */
function neighbour(step) {
  const place = chosen.query === null ? -1 : shownRows.queries.indexOf(chosen.query);
  if (place < 0) return shownRows.queries[0] ?? null;
  return shownRows.queries[place + step] ?? null;
}

/** @param {number} step */
export function stepTo(step) {
  const query = neighbour(step);
  if (query !== null) moveCursor(shownRows.queries.indexOf(query));
}

/** Draws the open query; its lists follow when they have been loaded. */
export async function drawDetail() {
  const query = chosen.query;
  const detail = $("detail");
  $("queries").classList.toggle("reading", query !== null);
  detail.hidden = query === null;
  if (query === null) {
    detail.replaceChildren();
    delete detail.dataset.query;
    return;
  }
  if (detail.dataset.query !== String(query)) detail.scrollTop = 0;
  detail.dataset.query = String(query);
  const body = el("div", null, data.lists[query] ? null : el("p", {class: "empty"}, say.loading));
  detail.replaceChildren(detailBar(query), detailHead(query), body);
  try {
    const lists = await listsOf(query);
    if (chosen.query === query) body.replaceChildren(...(lists ? results(query, lists) : [notHere()]));
  } catch (problem) {
    if (chosen.query === query)
      body.replaceChildren(
        el(
          "div",
          {class: "empty", role: "alert"},
          el("strong", null, say.listsMissing),
          problem instanceof Error ? problem.message : String(problem),
        ),
      );
  }
  drawLines();
}

/** Why the query has no lists; nothing where its task has none. */
function notHere() {
  const rule = data.shown?.rule ? readable(data.shown.rule) : "";
  return rule && el("div", {class: "empty"}, el("strong", null, say.noLists), rule);
}

/** @param {Query} query */
function detailBar(query) {
  const place = shownRows.queries.indexOf(query);
  /** @param {number} step @param {string} path @param {string} label @param {string} key */
  const turn = (step, path, label, key) => {
    const made = button(icon(path), () => stepTo(step), {class: "plain", "aria-label": label, title: say.withKey(label, key)});
    made.disabled = neighbour(step) === null;
    return made;
  };
  return el(
    "div",
    {class: "detail-bar"},
    button([icon("M9.5 3.5L5 8l4.5 4.5"), say.queriesView], closeQuery, {class: "plain back"}),
    turn(-1, "M4 10l4-4 4 4", say.previousQuery, "k"),
    turn(1, "M4 6l4 4 4-4", say.nextQuery, "j"),
    el(
      "span",
      {class: "quiet place"},
      place < 0 ? say.notShown : say.placeOf(place + 1, shownRows.queries.length),
    ),
    button(
      [
        icon("M6.5 9.5l3-3M7.2 4.6l1.3-1.3a2.9 2.9 0 0 1 4.1 4.1l-1.3 1.3M8.8 11.4l-1.3 1.3a2.9 2.9 0 0 1-4.1-4.1l1.3-1.3"),
        say.copyLink,
      ],
      () => {
        writeAddress();
        copy(location.href, say.linkCopied);
      },
      {class: "plain"},
    ),
    button(icon("M4 4l8 8M12 4l-8 8"), closeQuery, {class: "plain close", "aria-label": say.close, title: say.closeTitle}),
  );
}

/** @param {Query} query */
function detailHead(query) {
  const text = queries.text[query];
  const id = isolated("span", {class: "mono"}, queries.id[query]);
  const image = pictureOf(query, 120);
  const attributes = shownAttributes()
    .map(name => [name, attributeOf(name, query)])
    .filter(([, value]) => value !== "" && value.length <= 60 && !STRUCTURED.test(value));
  return el(
    "header",
    {class: "detail-head"},
    image ? el("div", {class: "query-picture"}, image) : null,
    el(
      "div",
      null,
      text !== null ? el("p", {class: "query-id quiet"}, id) : null,
      el("h2", {id: "detail-title", dir: "auto"}, text !== null ? readable(text) : id),
      el(
        "ul",
        {class: "chips"},
        attributes.map(([name, value]) => el("li", null, el("span", {class: "chip"}, `${visible(attributeLabel(name))} `, isolated("span", null, value)))),
        flagsOf(query).map(flag => el("li", null, isolated("span", {class: "chip warn"}, flag))),
      ),
      scores(query),
      noteFields(query),
    ),
  );
}

/**
 * The reader's own tags and note, written as they are typed.
 * @param {Query} query
 */
function noteFields(query) {
  const {note, tags} = noteOf(query);
  const tagBox = el("input", {type: "text", id: "own-tags", value: tags.join(", "), placeholder: say.tagsHint, autocomplete: "off"});
  const noteBox = el("textarea", {id: "own-note", rows: 3}, note);
  const keeping = () => (areKept() ? say.notesKept : say.notesNotKept);
  const where = el("p", {class: "note", role: "status"}, keeping());
  /** @param {Partial<Note>} changes */
  const write = changes => {
    writeNote(query, changes);
    where.textContent = keeping();
    // The detail stays as it is, so that typing goes on.
    redraw(new Set(["notes"]));
  };
  tagBox.addEventListener("input", () => write({tags: tagsFrom(tagBox.value)}));
  noteBox.addEventListener("input", () => write({note: noteBox.value}));
  return el(
    "details",
    {class: "own-fields", open: Boolean(note || tags.length)},
    el("summary", null, say.noteAndTags),
    el("label", {for: "own-tags"}, say.tags),
    tagBox,
    el("label", {for: "own-note"}, say.note),
    noteBox,
    where,
  );
}

/**
 * The chosen measure in large, all measures in a table that opens.
 * @param {Query} query
 */
function scores(query) {
  const {unit} = measures[chosen.measure];
  const {b} = chosen;
  const single = b === null;
  /** @param {Child} label @param {string} value */
  const figure = (label, value, sense = "") => el("div", null, el("dt", null, label), el("dd", {class: sense}, orMissing(value, say.noValue)));
  const delta = deltaOf(query);
  /** @param {Run} run */
  const name = run => [runTag(run), isolated("span", null, runs[run])];
  return [
    el(
      "dl",
      {class: "scores"},
      figure(single ? measureName(measures[chosen.measure]) : name(chosen.a), number(valueA(query), unit)),
      single ? null : figure(name(b), number(valueB(query), unit)),
      single ? null : figure(say.differenceIn(measureName(measures[chosen.measure])), signed(delta, unit), senseOf(delta)),
    ),
    measures.length > 1
      ? el("details", {class: "all-measures"}, el("summary", null, say.allMeasures), measuresTable(query))
      : null,
  ];
}

/** @param {Query} query */
function measuresTable(query) {
  const single = chosen.b === null;
  /** @param {Measure} measure @param {MeasurePlace} place */
  const row = (measure, place) => {
    const {unit, of} = measure;
    const values = comparedRuns().map(run => valueOf(place, run, query));
    if (of && values.every(value => value === null)) return null;
    const delta = single ? null : difference(values[0], values[1]);
    return el(
      "tr",
      null,
      isolated("th", {scope: "row"}, measureName(measure)),
      values.map(value => el("td", {class: "number"}, orMissing(number(value, unit), say.noValue))),
      single ? null : el("td", {class: `number ${senseOf(delta, measure)}`}, orMissing(signed(delta, unit), say.noDifference)),
    );
  };
  return table(
    {class: "small"},
    say.allMeasuresOfQuery,
    [heading(say.measure), (single ? [say.value] : ["A", "B", say.difference]).map(name => heading(name, {class: "number"}))],
    el("tbody", null, measures.map(row)),
  );
}

/** @param {Query} query @param {Lists} lists */
function results(query, lists) {
  const summary = taskView().summary?.(query) ?? null;
  const compared = comparedRuns();
  return [
    summary ? el("section", {class: "block"}, summary) : null,
    gold(query, lists, compared),
    rankedLists(query, lists, compared),
  ].filter(part => part !== null);
}
