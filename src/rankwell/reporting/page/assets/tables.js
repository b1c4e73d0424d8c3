// The tables of the overview.

import {addressText} from "./address.js";
import {withoutFilters} from "./chosen.js";
import {data, measures, queries, runs} from "./data.js";
import {el, glyph, heading, isolated, orMissing, readable, showAll, svg, table, visible} from "./dom.js";
import {broken, intervalName, measureName, measureNodes, runTag, shortName} from "./labels.js";
import {chance, MISSING, number, signed} from "./numbers.js";
import {senseOf} from "./rows.js";
import {attributeLabel} from "./views.js";
import {say} from "./words.js";

/** @param {...Child} children */
export function wide(...children) {
  return el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": say.scrolls}, children);
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
  const levels = LEVELS.filter(level => data.summary.some(row => row[level] !== undefined));
  return wide(
    table(
      {class: `figures${many ? " many" : ""}`},
      say.meansCaption,
      [
        heading(many ? say.run : say.measure),
        columns.map(({name, place}) =>
          el(
            "th",
            {scope: "col", class: "number"},
            many ? [measureNodes(measures[place]), levelsBelow(place)] : [runTag(place), el("span", {dir: "auto"}, broken(name))],
          ),
        ),
        many ? null : levels.map(level => heading(say.levels[level], {class: "number", title: say.levelTitles[level]})),
        isCounted ? heading(say.queriesView, {class: "number"}) : null,
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
            many ? null : levels.map(level => el("td", {class: "number quiet"}, levelOf(level, place) ?? glyph(MISSING, say.noLevel))),
            isCounted ? el("td", {class: "number quiet"}, countOf(place)) : null,
          ),
        ),
      ),
    ),
  );
}

/** @type {("ceiling" | "chance")[]} */
const LEVELS = ["ceiling", "chance"];

/**
 * The ceiling or the chance level of a measure, from the lowest to the highest where runs differ; null where it is not known.
 * @param {"ceiling" | "chance"} name
 * @param {MeasurePlace} measure
 */
function levelOf(name, measure) {
  const known = data.summary.filter(row => row.measure === measure).flatMap(row => row[name] ?? []);
  if (!known.length) return null;
  const ends = [Math.min(...known), Math.max(...known)].map(level => number(level, measures[measure].unit));
  return [...new Set(ends)].join("–");
}

/** @param {MeasurePlace} measure */
function levelsBelow(measure) {
  return LEVELS.map(name => {
    const level = levelOf(name, measure);
    return level === null ? null : el("span", {class: "interval", title: say.levelTitles[name]}, `${say.levels[name]} ${level}`);
  });
}

/** @param {MeasurePlace} measure */
function countOf(measure) {
  const counts = [...new Set(data.summary.filter(row => row.measure === measure).map(row => row.n))].sort((x, y) => x - y);
  return counts.length ? counts.map(n => number(n, "count")).join("–") : glyph(MISSING, say.noMean);
}

/** @param {SummaryRow | undefined} row @param {MeasurePlace} measure */
function figureCell(row, measure) {
  if (!row || row.mean === null) return el("td", {class: "number quiet"}, glyph(MISSING, say.noMean));
  const {unit, better} = measures[measure];
  const means = data.summary.filter(each => each.measure === measure).flatMap(each => each.mean ?? []);
  const best =
    runs.length > 1 &&
    (better === "higher" || better === "lower") &&
    new Set(means).size > 1 &&
    row.mean === (better === "lower" ? Math.min(...means) : Math.max(...means));
  const title = say.spread(number(row.sd, unit), row.n);
  return el(
    "td",
    {class: `number${best ? " best" : ""}`, title},
    number(row.mean, unit),
    row.low === null ? null : el("span", {class: "interval"}, `[${number(row.low, unit)}, ${number(row.high, unit)}]`),
  );
}

/** Who fails where: the number of queries that each stage failed, and why, each of which leads to them. */
export function failuresTable() {
  const rows = data.failures ?? [];
  const alone = rows.some(row => row.alone !== null);
  const sums = new Map();
  for (const {failed, n} of rows) sums.set(failed, (sums.get(failed) ?? 0) + n);
  /** @param {string} name @param {string} value @param {string} [shown] */
  const link = (name, value, shown) => attributeLink({name, value}, {[name]: value}, shown);
  return wide(
    table(
      {class: "figures"},
      say.failures,
      [
        heading(say.failed),
        heading(say.why),
        heading(say.questions, {class: "number"}),
        heading(say.shareOfAll, {class: "number"}),
        alone ? heading(say.alone, {class: "number", title: say.aloneTitle}) : null,
      ],
      el(
        "tbody",
        null,
        rows.map((row, place) =>
          el(
            "tr",
            null,
            rows[place - 1]?.failed === row.failed
              ? el("td", null)
              : el("th", {scope: "row"}, link("failed", row.failed, say.stage(row.failed, sums.get(row.failed)))),
            el("td", null, attributeLink({name: "why", value: row.why}, {failed: row.failed, why: row.why})),
            el("td", {class: "number"}, number(row.n, "count")),
            el("td", {class: "number"}, `${number(100 * row.share, "percent")} %`),
            alone ? el("td", {class: "number"}, number(row.alone, "count")) : null,
          ),
        ),
      ),
    ),
  );
}

const MOST_DIFFERENCES = 24;

/** The differences of all pairs of runs but those that share no query. */
export function knownDifferences() {
  /** @param {DifferenceRow} row */
  const pair = ({a, b}) => `${a} ${b}`;
  const known = new Set((data.differences ?? []).filter(row => row.difference !== null).map(pair));
  return (data.differences ?? []).filter(row => known.has(pair(row)));
}

/** A body of rows per pair of runs, the first ones only where there are many. */
export function differencesTable() {
  const known = knownDifferences();
  const adjusted = known.some(
    row => row.adjusted_p !== null && row.adjusted_p !== undefined && row.adjusted_p !== row.p,
  );
  const made = table({class: "figures"}, say.differencesCaption, [
    heading(say.measure),
    heading(say.differenceHeading, {class: "number"}),
    heading(intervalName()),
    heading(adjusted ? say.adjustedP : say.p, {class: "number"}),
    heading(say.balanceHeading),
  ]);
  /** @param {DifferenceRow[]} rows */
  const fill = rows => made.append(...differenceBodies(rows));
  const many = known.length > MOST_DIFFERENCES + 4;
  // Pairs are shown whole.
  const each = known.filter(({a, b}) => a === known[0].a && b === known[0].b).length;
  fill(many ? known.slice(0, each * Math.max(1, Math.floor(MOST_DIFFERENCES / each))) : known);
  const all = () => {
    for (const body of [...made.tBodies]) body.remove();
    fill(known);
  };
  return [wide(made), many ? showAll(known.length, all) : null];
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
      el("a", {href: link, title: visible(measureName(measure))}, broken(shortName(measure))),
      (measure.summary ?? "mean") === "mean" ? null : ` ${say.ofMeans}`,
      row.role && row.role !== "primary" ? el("span", {class: "quiet", title: say.roleTitles[row.role]}, ` ${say.roles[row.role]}`) : null,
    ),
    el("td", {class: `number ${decisive ? senseOf(row.difference, measure) : ""}`}, signed(row.difference, unit)),
    el("td", null, whisker(row, unit)),
    el("td", {class: "number"}, orMissing(chance(row.adjusted_p), say.notTested)),
    el("td", null, row.better === null ? glyph(MISSING, say.noBalance) : balance(row)),
  );
}

/**
 * An interval about 0, on a scale that all rows of the same unit share.
 * @param {DifferenceRow} row
 * @param {string | undefined} unit
 */
function whisker(row, unit) {
  if (row.low === null || row.low === undefined) return glyph(MISSING, say.noInterval, {class: "quiet"});
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
function balance(row) {
  const {better, equal, worse} = row;
  const all = (better ?? 0) + (equal ?? 0) + (worse ?? 0) || 1;
  /** @param {number | null} n */
  const width = n => (110 * (n ?? 0)) / all;
  return el(
    "span",
    {class: "balance", title: say.balance(row, visible(runs[row.a]), visible(runs[row.b]))},
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
      say.groupsCaption,
      [heading(say.group), heading(say.queriesView, {class: "number"}), heading(say.verdict)],
      el(
        "tbody",
        null,
        data.groups.map(row =>
          el(
            "tr",
            null,
            el("th", {scope: "row"}, el("span", {class: "quiet"}, `${visible(attributeLabel(row.name))} = `), groupLink(row)),
            el("td", {class: "number"}, number(row.n, "count")),
            el(
              "td",
              {class: "verdict"},
              el("span", {dir: "auto"}, readable(row.verdict ?? "")),
              row.small ? [" ", el("span", {class: "chip warn"}, say.fewQueries)] : null,
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {GroupRow} row */
function groupLink(row) {
  return attributeLink(row, {[row.name]: String(row.value)});
}

/**
 * A value of an attribute as a link to the queries with all of `attributes`; plain where the page has no such attribute.
 * @param {{name: string, value: unknown}} row
 * @param {Record<string, string>} attributes
 * @param {unknown} [shown]
 */
function attributeLink({name, value}, attributes, shown = value) {
  if (!Object.hasOwn(queries.attributes, name)) return isolated("span", null, shown);
  return isolated("a", {href: `#${addressText({...withoutFilters(), view: "queries", query: null, attributes})}`}, shown);
}
