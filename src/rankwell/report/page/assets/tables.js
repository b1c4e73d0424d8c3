// The tables of the overview.

import {addressText} from "./address.js";
import {withoutFilters} from "./chosen.js";
import {data, measures, queries, runs} from "./data.js";
import {el, heading, isolated, readable, showAll, svg, table, visible} from "./dom.js";
import {intervalName, measureName, measureNodes, runTag, shortName} from "./labels.js";
import {chance, counted, MISSING, number, signed} from "./numbers.js";
import {senseOf} from "./rows.js";

/** @param {...Child} children */
function wide(...children) {
  return el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Table, scrolls sideways"}, children);
}

/** Measures under each other while the runs fit beside each other, else the other way round. */
export function summaryTable() {
  const found = new Map(data.summary.map(row => [`${row.run} ${row.measure}`, row]));
  const many = runs.length > 4;
  const ofRuns = runs.map((name, place) => ({name, place}));
  const ofMeasures = measures.map((each, place) => ({name: measureName(each), place}));
  const [lines, columns] = many ? [ofRuns, ofMeasures] : [ofMeasures, ofRuns];
  const counts = [...new Set(data.summary.map(row => row.n))];
  /** @param {number} row @param {number} column */
  const cell = (row, column) => {
    const [run, measure] = many ? [row, column] : [column, row];
    return figureCell(found.get(`${run} ${measure}`), measure);
  };
  const isCounted = !many && counts.length > 1;
  return wide(
    table(
      {class: `figures${many ? " many" : ""}`},
      "Means of every run and measure",
      [
        heading(many ? "Run" : "Measure"),
        columns.map(({name, place}) =>
          el(
            "th",
            {scope: "col", class: "number"},
            many ? measureNodes(measures[place]) : [runTag(place), isolated("span", null, name)],
          ),
        ),
        isCounted ? heading("Queries", {class: "number"}) : null,
      ],
      el(
        "tbody",
        null,
        lines.map(({name, place}) =>
          el(
            "tr",
            null,
            el(
              "th",
              {scope: "row", title: many ? null : readable(measures[place].definition ?? "")},
              many ? runTag(place) : null,
              many ? isolated("span", null, name) : measureNodes(measures[place]),
            ),
            columns.map(other => cell(place, other.place)),
            isCounted ? el("td", {class: "number quiet"}, countOf(place)) : null,
          ),
        ),
      ),
    ),
  );
}

/** @param {MeasurePlace} measure */
function countOf(measure) {
  const counts = [...new Set(data.summary.filter(row => row.measure === measure).map(row => row.n))].sort((x, y) => x - y);
  return counts.length ? counts.map(n => number(n, "count")).join("–") : MISSING;
}

/** @param {SummaryRow | undefined} row @param {MeasurePlace} measure */
function figureCell(row, measure) {
  if (!row || row.mean === null) return el("td", {class: "number quiet"}, MISSING);
  const {unit, better} = measures[measure];
  const means = data.summary.filter(each => each.measure === measure).flatMap(each => each.mean ?? []);
  const best =
    runs.length > 1 &&
    (better === "higher" || better === "lower") &&
    new Set(means).size > 1 &&
    row.mean === (better === "lower" ? Math.min(...means) : Math.max(...means));
  const title = `sd ${number(row.sd, unit)}, ${counted(row.n, "query", "queries")}`;
  return el(
    "td",
    {class: `number${best ? " best" : ""}`, title},
    number(row.mean, unit),
    row.low === null ? null : el("span", {class: "interval"}, `[${number(row.low, unit)}, ${number(row.high, unit)}]`),
  );
}

const MOST_DIFFERENCES = 24;

/** A body of rows per pair of runs, the first ones only where there are many. */
export function differencesTable() {
  const adjusted = data.differences.some(
    row => row.adjusted_p !== null && row.adjusted_p !== undefined && row.adjusted_p !== row.p,
  );
  const made = table({class: "figures"}, "Paired differences with their intervals", [
    heading("Measure"),
    heading("Difference", {class: "number"}),
    heading(intervalName()),
    heading(adjusted ? "adjusted p" : "p", {class: "number"}),
    heading("Better, equal, worse"),
  ]);
  /** @param {DifferenceRow[]} rows */
  const fill = rows => made.append(...differenceBodies(rows));
  const many = data.differences.length > MOST_DIFFERENCES + 4;
  // Pairs are shown whole.
  const each = data.differences.filter(({a, b}) => a === data.differences[0].a && b === data.differences[0].b).length;
  fill(many ? data.differences.slice(0, each * Math.max(1, Math.floor(MOST_DIFFERENCES / each))) : data.differences);
  const all = () => {
    for (const body of [...made.tBodies]) body.remove();
    fill(data.differences);
  };
  return [wide(made), many ? showAll(data.differences.length, all) : null];
}

/** @param {DifferenceRow[]} rows */
function differenceBodies(rows) {
  /** @type {Map<string, DifferenceRow[]>} */
  const pairs = new Map();
  for (const row of rows) {
    const name = `${row.a} ${row.b}`;
    pairs.set(name, [...(pairs.get(name) ?? []), row]);
  }
  const named = new Set(data.differences.map(({a, b}) => `${a} ${b}`)).size > 1;
  return [...pairs.values()].map(mine =>
    el(
      "tbody",
      null,
      named
        ? el(
            "tr",
            {class: "pair"},
            el(
              "th",
              {scope: "rowgroup", colspan: 5},
              isolated("span", null, runs[mine[0].b]),
              " − ",
              isolated("span", null, runs[mine[0].a]),
            ),
          )
        : null,
      mine.map(row => differenceRow(row)),
    ),
  );
}

const ROLES = {
  secondary: "Tested by itself; the verdict is about the primary measure",
  repeated: "The values of an earlier measure on every query: the two count once",
  descriptive: "Not tested: neither higher nor lower values are better",
};

/** @param {DifferenceRow} row */
function differenceRow(row) {
  const measure = measures[row.measure];
  const {unit} = measure;
  const decisive = row.decisive === true;
  const link = `#${addressText({view: "queries", query: null, measure: row.measure, a: row.a, b: row.b})}`;
  return el(
    "tr",
    null,
    el(
      "th",
      {scope: "row"},
      el("a", {href: link, title: visible(measureName(measure))}, visible(shortName(measure))),
      row.role && row.role !== "primary" ? el("span", {class: "quiet", title: ROLES[row.role]}, ` ${row.role}`) : null,
    ),
    el("td", {class: `number ${decisive ? senseOf(row.difference, measure) : ""}`}, signed(row.difference, unit)),
    el("td", null, whisker(row, unit)),
    el("td", {class: "number"}, chance(row.adjusted_p)),
    el("td", null, row.better === null ? MISSING : balance(row)),
  );
}

/**
 * An interval about 0, on a scale that all rows of the same unit share.
 * @param {DifferenceRow} row
 * @param {string | undefined} unit
 */
function whisker(row, unit) {
  if (row.low === null || row.low === undefined) return el("span", {class: "quiet"}, MISSING);
  const same = data.differences.filter(each => measures[each.measure].unit === unit && each.low !== null);
  const reach = Math.max(...same.map(each => Math.max(Math.abs(each.low ?? 0), Math.abs(each.high ?? 0)))) || 1;
  /** @param {number} value */
  const at = value => 60 + (56 * value) / reach;
  return el(
    "span",
    {class: "whisker"},
    svg(
      "svg",
      {width: 120, height: 16, viewBox: "0 0 120 16", "aria-hidden": "true"},
      svg("path", {class: "zero", d: "M60 0v16"}),
      svg("path", {class: "reach", d: `M${at(row.low)} 8H${at(row.high ?? 0)}`}),
      svg("circle", {cx: at(row.difference ?? 0), cy: 8, r: 3.5}),
    ),
    el("span", {class: "interval"}, `[${signed(row.low, unit)}, ${signed(row.high, unit)}]`),
  );
}

/**
 * Queries won, equal and lost as one bar, with their numbers.
 * @param {DifferenceRow} row
 */
function balance({better, equal, worse}) {
  const all = (better ?? 0) + (equal ?? 0) + (worse ?? 0) || 1;
  /** @param {number | null} n */
  const width = n => (110 * (n ?? 0)) / all;
  return el(
    "span",
    {class: "balance"},
    svg(
      "svg",
      {width: 110, height: 8, viewBox: "0 0 110 8", "aria-hidden": "true"},
      svg("rect", {class: "won", width: width(better), height: 8}),
      svg("rect", {class: "even", x: width(better), width: width(equal), height: 8}),
      svg("rect", {class: "lost", x: width((better ?? 0) + (equal ?? 0)), width: width(worse), height: 8}),
    ),
    el("span", {class: "number"}, `${better} · ${equal} · ${worse}`),
  );
}

export function groupsTable() {
  return wide(
    table(
      {class: "figures"},
      "Verdicts by group",
      [heading("Group"), heading("Queries", {class: "number"}), heading("Verdict")],
      el(
        "tbody",
        null,
        data.groups.map(row =>
          el(
            "tr",
            null,
            el("th", {scope: "row"}, el("span", {class: "quiet"}, `${visible(row.name)} = `), groupLink(row)),
            el("td", {class: "number"}, number(row.n, "count")),
            el(
              "td",
              {class: "verdict"},
              el("span", {dir: "auto"}, readable(row.verdict ?? "")),
              row.small ? [" ", el("span", {class: "chip warn"}, "few queries")] : null,
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {GroupRow} row */
function groupLink(row) {
  if (!Object.hasOwn(queries.attributes, row.name)) return isolated("span", null, row.value);
  return isolated(
    "a",
    {href: `#${addressText({...withoutFilters(), view: "queries", query: null, attributes: {[row.name]: String(row.value)}})}`},
    row.value,
  );
}
