// The tables of the overview.

import {addressText, queriesLink} from "./address.js";
import {chosen, comparedRuns, offered} from "./chosen.js";
import {allMeasures, allRuns, data, meanOf, measures, queries, runs, valueOf} from "./data.js";
import {el, glyph, heading, isolated, orMissing, readable, showAll, svg, table, visible} from "./dom.js";
import {broken, measureNodes, runTag, shortName} from "./labels.js";
import {brief, briefChange, chance, MISSING, number} from "./numbers.js";
import {senseOf} from "./rows.js";
import {slices} from "./slices.js";
import {attributeLabel} from "./views.js";
import {say} from "./words.js";

/** @param {...Child} children */
export function wide(...children) {
  return el("div", {class: "wide", tabindex: "0", role: "group", "aria-label": say.scrolls}, children);
}

/**
 * The difference of two runs by a measure, b less a; null where none is known.
 * @param {MeasurePlace} measure
 * @param {Run} a
 * @param {Run} b
 * @returns {DifferenceRow | null}
 */
export function differenceOf(measure, a, b) {
  const row = data.differences.find(each => each.measure === measure && each.difference !== null && ((each.a === a && each.b === b) || (each.a === b && each.b === a)));
  if (!row || row.a === a) return row ?? null;
  /** @param {number | null} value */
  const turned = value => (value === null ? null : 0 - value);
  return {...row, a, b, difference: turned(row.difference), low: turned(row.high), high: turned(row.low), better: row.worse, worse: row.better};
}

const MOST_LINES = 8;

/**
 * Scores with their intervals and differences. Up to two runs stand beside each other; of more each is a line, with its difference
 * from B by the measure chosen.
 */
export function scoresTable() {
  const repeated = new Set(data.differences.filter(row => row.role === "repeated").map(row => row.measure));
  const places = allMeasures.filter(place => !repeated.has(place) && allRuns.some(run => meanOf(place, run) !== null));
  // Where runs have measures of their own, as retriever and reader, measures are the lines.
  const many = runs.length > 2 && places.every(place => allRuns.every(run => meanOf(place, run) !== null));
  const isSame = new Set(data.summary.map(row => row.n)).size === 1;
  const levels = LEVELS.filter(level => !many && (level === "n" ? !isSame : data.summary.some(row => row[level] !== undefined)));
  const reference = chosen.b ?? chosen.a;
  const differs = (many || runs.length === 2) && data.differences.some(row => row.difference !== null);
  const heads = [
    heading(many ? say.run : say.measure),
    many
      ? places.map(place => el("th", {scope: "col", class: "number"}, measureLink(place, `#${addressText({measure: place})}`), levelsBelow(place)))
      : runs.map((name, run) => el("th", {scope: "col", class: "number"}, runTag(run), el("span", {dir: "auto"}, broken(name)))),
    differs ? [heading(many ? say.behind(runs[reference], shortName(measures[chosen.measure])) : say.difference), heading(isAdjusted() ? say.adjustedP : say.p, {class: "number"}), heading(say.balanceHeading)] : null,
    levels.map(level => heading(say.levels[level], {class: "number", title: say.levelTitles[level]})),
  ];
  /** @param {MeasurePlace} place */
  const measureLine = place =>
    el(
      "tr",
      null,
      el("th", {scope: "row"}, measureLink(place, queriesLink({measure: place}))),
      allRuns.map(run => figureCell(run, place)),
      differs ? differenceCells(differenceOf(place, chosen.a, reference), place) : null,
      levels.map(level => el("td", {class: "number quiet"}, levelOf(level, place) ?? glyph(MISSING, say.noLevel))),
    );
  /** @param {Run} run */
  const runLine = run =>
    el(
      "tr",
      null,
      el("th", {scope: "row"}, runTag(run), isolated("span", null, runs[run])),
      places.map(place => figureCell(run, place)),
      differs ? (run === reference ? el("td", {class: "quiet", colspan: 3}, say.reference) : differenceCells(differenceOf(chosen.measure, reference, run), chosen.measure)) : null,
    );
  const lines = many ? allRuns.map(runLine) : places.map(measureLine);
  const body = el("tbody", null, lines.slice(0, lines.length > MOST_LINES + 3 ? MOST_LINES : undefined));
  const rest = lines.slice(body.rows.length);
  return [wide(table({class: `figures${many ? " many" : ""}`}, say.scores, heads, body)), rest.length ? showAll(lines.length, () => body.append(...rest)) : null];
}

/** @param {MeasurePlace} place @param {string} href */
function measureLink(place, href) {
  return offered.includes(place) ? el("a", {href}, measureNodes(measures[place])) : measureNodes(measures[place]);
}

function isAdjusted() {
  return data.differences.some(row => (row.adjusted_p ?? row.p) !== row.p);
}

/** The difference with its interval, its p-value, and the queries won and lost. @param {DifferenceRow | null} row @param {MeasurePlace} place */
function differenceCells(row, place) {
  const measure = measures[place];
  if (!row) return [0, 1, 2].map(() => el("td", {class: "quiet"}, glyph(MISSING, say.notTested)));
  const sense = row.decisive === true ? senseOf(row.difference, measure) : "";
  return [
    el("td", null, el("span", {class: "whisker"}, el("span", {class: `number ${sense}`}, briefChange(row.difference, measure.unit)), (measure.summary ?? "mean") === "mean" ? null : say.ofMeans, whisker(row, measure.unit))),
    el("td", {class: "number"}, orMissing(chance(row.adjusted_p), say.notTested)),
    el("td", null, row.better === null ? glyph(MISSING, say.noBalance) : balance(row)),
  ];
}

/** @type {Level[]} */
const LEVELS = ["ceiling", "chance", "n"];

/**
 * The ceiling, the chance level or the number of queries of a measure, from the lowest to the highest where runs differ; null where
 * it is not known.
 * @param {Level} name
 * @param {MeasurePlace} measure
 */
function levelOf(name, measure) {
  const known = data.summary.filter(row => row.measure === measure).flatMap(row => row[name] ?? []);
  if (!known.length) return null;
  const ends = [Math.min(...known), Math.max(...known)].map(level => brief(level, name === "n" ? "count" : measures[measure].unit));
  return [...new Set(ends)].join("–");
}

/** @param {MeasurePlace} measure */
function levelsBelow(measure) {
  return LEVELS.map(name => {
    const level = name === "n" ? null : levelOf(name, measure);
    return level === null ? null : el("span", {class: "interval", title: say.levelTitles[name]}, `${say.levels[name]} ${level}`);
  });
}

/** The mean of a run with its interval. @param {Run} run @param {MeasurePlace} measure @param {...Child} children */
export function figureCell(run, measure, ...children) {
  const row = data.summary.find(each => each.run === run && each.measure === measure);
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
    brief(row.mean, unit),
    row.low === null ? null : el("span", {class: "interval"}, `[${brief(row.low, unit)}, ${brief(row.high, unit)}]`),
    children,
  );
}

/** Who fails where: a bar for each reason, under its stage, as long as the number of its queries, to which it leads. */
export function failuresChart() {
  const rows = data.failures ?? [];
  const most = Math.max(...rows.map(row => row.n), 1);
  /** @param {string} stage */
  const total = stage => rows.filter(row => row.failed === stage).reduce((sum, row) => sum + row.n, 0);
  return el(
    "ul",
    {class: "reasons"},
    rows.map((row, place) =>
      el(
        "li",
        null,
        el("span", {class: "stage"}, rows[place - 1]?.failed === row.failed ? null : attributeLink({name: "failed", value: row.failed}, {failed: row.failed}, say.stage(row.failed, total(row.failed)))),
        attributeLink({name: "why", value: row.why}, {failed: row.failed, why: row.why}),
        el("span", {class: "reason-room"}, barOf(row.n / most, `reason-bar${row.failed === "none" ? " right" : ""}`)),
        el("span", {class: "number"}, number(row.n, "count")),
        el("span", {class: "number quiet"}, say.share(row.share)),
        row.alone === null ? null : el("span", {class: "quiet", title: say.aloneTitle}, say.alone(row.alone)),
      ),
    ),
  );
}

const MOST_SLICES = 12;

/** The means of the runs compared in parts of the queries, by the measure chosen; null where there are none. */
export function slicesTable() {
  const compared = comparedRuns();
  const {unit} = measures[chosen.measure] ?? {};
  /** @param {Query} query */
  const isCounted = query => compared.every(run => valueOf(chosen.measure, run, query) !== null);
  const known = slices().flatMap(({name, label, parts}) => {
    const lines = parts
      .map(([value, places]) => ({name, value, label: Object.hasOwn(queries.attributes, name) ? `${label}: ${value}` : value, places: places.filter(isCounted)}))
      .filter(({places}) => places.length);
    return lines.length > 1 ? lines : [];
  });
  if (known.length < 2) return null;
  /** @param {Run} run @param {Query[]} places */
  const mean = (run, places) => places.reduce((sum, query) => sum + (valueOf(chosen.measure, run, query) ?? 0), 0) / places.length;
  const most = Math.max(...known.flatMap(({places}) => compared.map(run => Math.abs(mean(run, places))))) || 1;
  const rows = known.map(({name, value, label, places}) => {
    const means = compared.map(run => mean(run, places));
    return el(
      "tr",
      null,
      el("th", {scope: "row"}, el("a", {href: queriesLink({attributes: {[name]: value}}), dir: "auto"}, visible(label))),
      el("td", {class: "number quiet"}, number(places.length, "count")),
      el("td", {class: "slice-bars", "aria-hidden": "true"}, means.map((each, side) => barOf(each / most, `side-${compared.length > 1 ? "ab"[side] : "b"}`))),
      means.map((each, side) => el("td", {class: `number${side && senseOf(each - means[0]) === "gain" ? " best" : ""}`}, brief(each, unit))),
    );
  });
  const body = el("tbody", null, rows.slice(0, MOST_SLICES));
  const heads = [heading(say.slice), heading(say.queriesView, {class: "number"}), el("td", {class: "slice-bars"}), compared.map(run => el("th", {scope: "col", class: "number"}, compared.length > 1 ? runTag(run) : say.value))];
  return [
    table({class: "figures slices"}, say.slices, heads, body),
    rows.length > MOST_SLICES ? showAll(rows.length, () => body.append(...rows.slice(MOST_SLICES))) : null,
  ];
}

/** @param {number} share @param {string} kind */
function barOf(share, kind) {
  const bar = el("span", {class: kind});
  bar.style.width = `${Math.max(0, 100 * share)}%`;
  return bar;
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
  return [
    svg(
      "svg",
      {width: 120, height: 16, viewBox: "0 0 120 16", "aria-hidden": "true"},
      svg("path", {class: "zero", d: "M60 0v16"}),
      svg("path", {class: "reach", d: `M${at(row.low)} 8H${at(row.high ?? 0)}`}),
      svg("circle", {cx: at(row.difference ?? 0), cy: 8, r: 3.5}),
    ),
    el("span", {class: "interval"}, `[${briefChange(row.low, unit)}, ${briefChange(row.high, unit)}]`),
  ];
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
            el("th", {scope: "row"}, el("span", {class: "quiet"}, `${visible(attributeLabel(row.name))} = `), attributeLink(row, {[row.name]: String(row.value)})),
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

/**
 * A value of an attribute as a link to the queries with all of `attributes`; plain where the page has no such attribute.
 * @param {{name: string, value: unknown}} row
 * @param {Record<string, string>} attributes
 * @param {unknown} [shown]
 */
function attributeLink({name, value}, attributes, shown = value) {
  if (!Object.hasOwn(queries.attributes, name)) return isolated("span", null, shown);
  return isolated("a", {href: queriesLink({attributes})}, shown);
}
