// The first view: the verdict, the figures, the charts, the groups, and how all this was measured.

import {addressText} from "./address.js";
import {drawCharts} from "./charts.js";
import {chosen, filtersSet, withoutFilters} from "./chosen.js";
import {data, measures, queries, runs} from "./data.js";
import {$, el, isolated, readable, visible} from "./dom.js";
import {BROAD_SPREAD, histogram} from "./histogram.js";
import {intervalName, measureName, runTag} from "./labels.js";
import {counted, fixed, number, whole} from "./numbers.js";
import {differencesTable, groupsTable, summaryTable} from "./tables.js";

export function drawOverview() {
  const parts = [lead(), figures(), differences(), charts(), groups(), cautions(), provenance()];
  $("overview").replaceChildren(...parts.filter(part => part !== null));
  drawCharts();
}

/** The histogram of the overview, which follows the measure and the filters. */
export function drawSpread() {
  const single = chosen.b === null;
  const drawing = histogram(BROAD_SPREAD);
  const name = measureName(measures[chosen.measure]);
  const which = filtersSet() ? ", of those that pass the filters" : "";
  $("spread-card").hidden = drawing === null;
  $("spread-card").replaceChildren(
    el(
      "figcaption",
      null,
      el("h3", null, single ? name : ["B − A, query by query, in ", name]),
      el("p", {class: "note"}, `how many queries lie where${which}, on a square-root scale; drag over a range to see them`),
    ),
    drawing ?? "",
  );
}

function lead() {
  const [headline, ...others] = data.verdicts?.length ? data.verdicts : [soleVerdict()];
  return el(
    "header",
    {class: "lead"},
    el("p", {class: "eyebrow"}, eyebrow()),
    el("h1", {dir: "auto"}, twoParts(headline)),
    sentences("verdicts", others),
    el(
      "ul",
      {class: "runs", "aria-label": "Runs"},
      runs.map((run, place) => el("li", null, runTag(place), isolated("span", null, run))),
    ),
    sentences("notes", data.notes ?? []),
  );
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
      ? el("details", null, el("summary", null, `${whole(rest.length)} more`), el("ul", null, list(rest)))
      : null,
  );
}

function eyebrow() {
  const what = runs.length === 1 ? "One run" : runs.length === 2 ? "Two runs compared" : `${runs.length} runs compared`;
  const protocol = data.protocol && data.protocol !== "runs" ? ` · ${data.protocol}` : "";
  return `${what}${protocol} · ${counted(queries.id.length, "query", "queries")}`;
}

/** The headline for a single run: its first measure. */
function soleVerdict() {
  const row = data.summary.find(each => each.measure === 0);
  if (!row || row.mean === null) return data.title;
  const {label, unit} = measures[0];
  const interval = row.low === null ? "" : `, ${intervalName()} [${number(row.low, unit)}, ${number(row.high, unit)}]`;
  return `${runs[row.run]}: ${label} ${number(row.mean, unit)}${interval}, over ${counted(row.n, "query", "queries")}`;
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
  const what = `The mean over queries${others.length ? ` (${[...new Set(others)].join(", ")})` : ""}`;
  return section("figures", "Figures", intervals ? `${what}, and below it the ${intervalName()}.` : `${what}.`, summaryTable());
}

function differences() {
  if (!data.differences?.length) return null;
  const pairs = [...new Set(data.differences.map(({a, b}) => `${visible(runs[b])} − ${visible(runs[a])}`))];
  const which = pairs.length === 1 ? `${pairs[0]}, paired query by query.` : "Paired, query by query.";
  return section("differences", "Differences", `${which} A measure leads to its queries.`, differencesTable());
}

function groups() {
  if (!data.groups?.length) return null;
  return section("groups", "Groups", "What holds within a part of the queries.", groupsTable());
}

/** Flags of queries, each a way to those that have it. */
function cautions() {
  const flags = Object.entries(queries.flags).filter(([, places]) => places.length);
  if (!flags.length) return null;
  /** @param {string} flag */
  const link = flag => `#${addressText({...withoutFilters(), view: "queries", query: null, flags: [flag]})}`;
  return section(
    "cautions",
    "Queries to be careful about",
    null,
    el(
      "ul",
      {class: "cautions"},
      flags.map(([flag, places]) =>
        el(
          "li",
          null,
          el("span", {class: "number"}, whole(places.length)),
          isolated("a", {href: link(flag)}, flag),
          el("span", {class: "quiet"}, shareText(places.length / queries.id.length)),
        ),
      ),
    ),
  );
}

/** @param {number} share */
function shareText(share) {
  return share < 0.01 ? "< 1 %" : `${fixed(100 * share, 0)} %`;
}

function charts() {
  const spread = el("figure", {class: "card broad", id: "spread-card"});
  return section("charts", "Charts", null, el("div", {class: "charts"}, spread, (data.charts ?? []).map(chartCard)));
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
    "How this was measured",
    null,
    data.rules?.length ? closed("Rules in force", pairs(data.rules)) : null,
    defined.length
      ? closed(
          "Measures",
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
    data.inputs?.length ? closed("Inputs", pairs(data.inputs)) : null,
    data.shown?.rule ? closed("Queries with lists", el("p", null, readable(data.shown.rule))) : null,
    closed("Licences of the software in this page", el("pre", {class: "licences"}, $("licences").textContent)),
    el("p", {class: "note"}, `Made by ${data.tool}. This page needs no network.`),
  );
}
