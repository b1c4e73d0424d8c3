// The first view: the verdict, the figures, the charts, the groups, and how all this was measured.

import {addressText} from "./address.js";
import {drawCharts} from "./charts.js";
import {chosen, filtersSet, measureFor, offered, withoutFilters} from "./chosen.js";
import {data, measures, queries, runs} from "./data.js";
import {$, el, isolated, readable, visible} from "./dom.js";
import {histogram} from "./histogram.js";
import {intervalName, measureName, runTag} from "./labels.js";
import {number, whole} from "./numbers.js";
import {shownFlags} from "./rows.js";
import {differencesTable, failuresTable, groupsTable, knownDifferences, summaryTable} from "./tables.js";
import {taskView} from "./views.js";
import {counted, say} from "./words.js";

/** What a task may arrange in its own order. @type {OverviewPieces} */
const PIECES = {eyebrow, headline, remarks, section, chartCard, charts, cautions, provenance};

export function drawOverview() {
  const parts = taskView().overview?.(PIECES) ?? [lead(), failures(), figures(), differences(), charts(), groups(), cautions(), provenance()];
  $("overview").replaceChildren(...parts.filter(part => part !== null));
  drawCharts();
}

/** The histogram of the overview, which follows the measure and the filters. */
export function drawSpread() {
  const single = chosen.b === null;
  const card = $("spread-card");
  card.hidden = false;
  const style = getComputedStyle(card);
  const room = card.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
  const drawing = histogram(room, 190);
  const name = measureName(measures[chosen.measure]);
  card.hidden = drawing === null;
  card.replaceChildren(
    el(
      "figcaption",
      null,
      el("h3", null, single ? name : say.spreadTitle(name)),
      el("p", {class: "note"}, say.spreadNote(filtersSet() > 0)),
    ),
    drawing ?? "",
  );
}

function lead() {
  return el(
    "header",
    {class: "lead"},
    el("p", {class: "eyebrow"}, eyebrow(say.runsCompared(runs.length))),
    headline(),
    el(
      "ul",
      {class: "runs", "aria-label": say.runs},
      runs.map((run, place) => el("li", null, runTag(place), isolated("span", null, run))),
    ),
    remarks(),
  );
}

/** The first verdict, and below it the others, with the end of the first where it is long. */
function headline() {
  const [verdict, ...others] = data.verdicts?.length ? data.verdicts : [soleVerdict()];
  const [first, ...more] = claimAndRest(verdict);
  return [el("h1", {dir: "auto"}, twoParts(first)), sentences("verdicts", [...more, ...others])];
}

const LONG = 200;

/**
 * A long sentence in two: what follows its first semicolon is a sentence of its own.
 * @param {string} sentence
 */
function claimAndRest(sentence) {
  const end = sentence.length > LONG ? sentence.indexOf("; ") : -1;
  if (end < 0) return [sentence];
  const rest = sentence.slice(end + 2);
  return [`${sentence.slice(0, end)}.`, rest.slice(0, 1).toUpperCase() + rest.slice(1)];
}

function remarks() {
  return [
    data.warnings?.length ? el("ul", {class: "warnings"}, data.warnings.map(warning)) : null,
    sentences("notes", [...(data.findings ?? []).map(({message}) => message), ...(data.notes ?? [])]),
  ];
}

/** @param {{text: string, sort: string}} each */
function warning({text, sort}) {
  const href = `#${addressText({...withoutFilters(), view: "queries", query: null, sort, reversed: false})}`;
  return el("li", {dir: "auto"}, readable(text), " ", el("a", {href}, say.bySort));
}

function failures() {
  return data.failures?.length ? section("failures", say.failures, say.failuresNote, failuresTable()) : null;
}

const MOST_SENTENCES = 4;

/**
 * Sentences as a list, the first ones in sight where they are many.
 * @param {string} name
 * @param {string[]} every
 */
function sentences(name, every) {
  if (!every.length) return null;
  /** @param {string[]} some */
  const list = some => some.map(each => el("li", {dir: "auto"}, readable(each)));
  const shown = every.length > MOST_SENTENCES + 1 ? MOST_SENTENCES : every.length;
  const rest = every.slice(shown);
  return el(
    "div",
    {class: name},
    el("ul", null, list(every.slice(0, shown))),
    rest.length
      ? el("details", null, el("summary", null, say.more(rest.length)), el("ul", null, list(rest)))
      : null,
  );
}

/** @param {string} first */
function eyebrow(first) {
  const protocol = data.protocol && data.protocol !== "runs" ? data.protocol : null;
  return [first, protocol, counted(queries.id.length, "query")].filter(part => part !== null).join(" · ");
}

/** The headline for a single run: its first measure. */
function soleVerdict() {
  const row = data.summary.find(each => each.measure === 0);
  if (!row || row.mean === null) return data.title;
  const {label, unit} = measures[0];
  const interval = row.low === null ? null : `${intervalName()} [${number(row.low, unit)}, ${number(row.high, unit)}]`;
  return say.soleVerdict(runs[row.run], `${label} ${number(row.mean, unit)}`, interval, row.n);
}

/**
 * A sentence with its claim in ink and its evidence, from the first comma on, quieter.
 * @param {string} sentence
 */
function twoParts(sentence) {
  const text = readable(sentence);
  const end = text.indexOf(", ");
  return end < 0 ? [text] : [text.slice(0, end + 1), el("span", {class: "quiet"}, text.slice(end + 1))];
}

/** @param {string} id @param {string} title @param {string | null} note @param {...Child} children */
function section(id, title, note, ...children) {
  return el(
    "section",
    {class: "part", "aria-labelledby": id},
    el("h2", {id}, title),
    note ? el("p", {class: "note"}, note) : null,
    children,
  );
}

function figures() {
  if (!data.summary?.length) return null;
  const intervals = data.summary.some(row => row.low !== null);
  const others = measures.filter(each => each.summary && each.summary !== "mean").map(each => `${each.label}: ${each.summary}`);
  const note = say.figuresNote([...new Set(others)], intervals ? intervalName() : null, runs.length > 1, offered.length < measures.length);
  return section("figures", say.figures, note, summaryTable());
}

function differences() {
  const known = knownDifferences();
  if (!known.length) return null;
  const pairs = [...new Set(known.map(({a, b}) => `${visible(runs[b])} − ${visible(runs[a])}`))];
  return section("differences", say.differencesPart, say.differencesNote(pairs.length === 1 ? pairs[0] : null), differencesTable());
}

function groups() {
  if (!data.groups?.length) return null;
  return section("groups", say.groups, say.groupsNote, groupsTable());
}

/** Flags of queries, each a way to those that have it. */
function cautions() {
  const flags = shownFlags();
  if (!flags.length) return null;
  /** @param {string} flag @param {Query[]} places */
  const link = (flag, places) =>
    `#${addressText({...withoutFilters(), view: "queries", query: null, flags: [flag], measure: measureFor(places)})}`;
  return section(
    "cautions",
    say.cautions,
    null,
    el(
      "ul",
      {class: "cautions"},
      flags.map(([flag, places]) =>
        el(
          "li",
          null,
          el("span", {class: "number"}, whole(places.length)),
          isolated("a", {href: link(flag, places)}, flag),
          el("span", {class: "quiet"}, say.share(places.length / queries.id.length)),
        ),
      ),
    ),
  );
}

/** The histogram and the charts whose ids are not left out. @param {(id: string) => boolean} [isLeftOut] */
function charts(isLeftOut = () => false) {
  const spread = el("figure", {class: "card broad", id: "spread-card"});
  const cards = (data.charts ?? []).filter(each => !isLeftOut(each.id)).map(chartCard);
  return section("charts", say.charts, null, el("div", {class: "charts"}, spread, cards));
}

/** @param {Chart} each */
function chartCard(each) {
  return el(
    "figure",
    {class: "card"},
    el("figcaption", null, el("h3", null, each.title), each.note ? el("p", {class: "note"}, each.note) : null),
    el("div", {class: "chart", "data-chart": each.id}),
  );
}

/** Rules, definitions and inputs: closed at first, whole when printed. */
function provenance() {
  /** @param {[string, string][]} rows */
  const pairs = rows =>
    el(
      "dl",
      {class: "facts"},
      rows.map(([name, value]) => [isolated("dt", null, name), isolated("dd", null, value)]),
    );
  /** @param {string} title @param {Child} inner */
  const closed = (title, inner) => el("details", null, el("summary", null, title), inner);
  const defined = measures.filter(each => each.definition);
  return section(
    "provenance",
    say.provenance,
    null,
    data.rules?.length ? closed(say.rules, pairs(data.rules)) : null,
    defined.length
      ? closed(
          say.measures,
          el(
            "dl",
            {class: "facts"},
            defined.map(each => [
              isolated("dt", null, each.label === each.name ? each.name : `${each.label} = ${each.name}`),
              el("dd", null, readable(each.definition)),
            ]),
          ),
        )
      : null,
    data.inputs?.length ? closed(say.inputs, pairs(data.inputs)) : null,
    data.shown?.rule ? closed(say.queriesWithLists, el("p", null, readable(data.shown.rule))) : null,
    closed(say.licences, el("pre", {class: "licences"}, $("licences").textContent)),
    el("p", {class: "note"}, say.madeBy(data.tool)),
  );
}
