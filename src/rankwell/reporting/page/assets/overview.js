// The first view: the verdict, where the first relevant items are, which queries fail and which get worse, scores and slices.

import {queriesLink} from "./address.js";
import {drawCharts} from "./charts.js";
import {chosen, comparedRuns, filtersSet, START, worstSide} from "./chosen.js";
import {allQueries, allRuns, data, DETAIL, firstOf, firstRows, ITEM, listsOf, meanOf, measures, queries, relevantOf, runs, STATE, valueOf} from "./data.js";
import {$, el, mark, readable, visible} from "./dom.js";
import {chips} from "./findings.js";
import {histogram} from "./histogram.js";
import {broken, confidence, picture, pictureOf, runTag, shortName} from "./labels.js";
import {brief, briefChange, chance, whole} from "./numbers.js";
import {difference, lowerIsBetter, senseOf} from "./rows.js";
import {bandName, bands, cutoff, failureName, isFailed} from "./slices.js";
import {differenceOf, groupsTable, failuresChart, scoresTable, slicesTable} from "./tables.js";
import {taskView} from "./views.js";
import {capital, say} from "./words.js";

const MOST_CASES = 4;
const MOST_BARS = 6;

/** What a task may put in the place of the scores. @type {OverviewPieces} */
const PIECES = {card, chartCard};

export function drawOverview() {
  const [run, other] = runAndOther();
  const drawn = data.charts ?? [];
  const spread = el("figure", {class: "card", id: "spread-card"});
  const worse = chosen.b === null || data.failures?.length ? null : losses(run, other);
  const parts = slicesTable();
  const failures = data.failures?.length ? card("failures", say.failures, say.failuresNote, failuresChart()) : null;
  $("overview").replaceChildren(
    ...[
      lead(run, other),
      failures ?? bars(),
      cards(failing(run), failures ? bars() : (worse ?? spread)),
      ...(taskView().tables?.(PIECES) ?? [scores(), ...drawn.map(chartCard)]),
      cards(parts ? card("slices", say.slices, say.slicesNote(shortName(measures[chosen.measure])), parts) : null, worse ? spread : null),
      data.groups?.length ? card("groups", say.groups, say.groupsNote, groupsTable()) : null,
    ].filter(part => part !== null),
  );
  drawCharts();
}

/** The histogram of the overview, which follows the measure and the filters. */
export function drawSpread() {
  const single = chosen.b === null;
  const place = $("spread-card");
  if (!place) return;
  place.hidden = false;
  const style = getComputedStyle(place);
  const room = place.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
  const drawing = histogram(room, 190);
  const name = shortName(measures[chosen.measure]);
  place.hidden = drawing === null;
  place.replaceChildren(
    el("figcaption", null, el("h2", null, single ? say.valuesTitle(name) : say.spreadTitle(name)), el("p", {class: "note"}, say.spreadNote(filtersSet() > 0))),
    drawing ?? "",
  );
}

/** The run that the overview is about, and what it is compared with: B and A, or A where its failures are counted; twice A where there is one. */
function runAndOther() {
  const {a, b} = chosen;
  if (b === null) return [a, a];
  return worstSide() === "a" ? [a, b] : [b, a];
}

/** @param {Run} run @param {Run} other */
function lead(run, other) {
  const [claim, evidence] = headline(run, other);
  return el("header", {class: "lead"}, el("h1", {dir: "auto"}, readable(claim)), evidence ? el("p", {class: "evidence", dir: "auto"}, readable(evidence)) : null, chips());
}

/**
 * The verdict in two parts: the claim, and what it rests on.
 * @param {Run} run
 * @param {Run} other
 * @returns {string[]}
 */
function headline(run, other) {
  const row = data.failures?.length ? null : differenceOf(START.measure, other, run);
  const {label, unit, name} = measures[START.measure] ?? {};
  const [x, y] = [run, other].map(each => brief(meanOf(START.measure, each), unit));
  const known = data.summary.filter(each => each.measure === START.measure && each.mean !== null);
  const sole = known.find(each => each.run === run) ?? known[0];
  const numbers = (
    row
      ? [say.against(x, y, runs[other]), confidence(row, unit), row.p === null ? null : say.pValue(chance(row.adjusted_p ?? row.p)), row.better === null ? null : say.outcomes(row)]
      : [sole && `${label} ${brief(sole.mean, unit)}`, sole && confidence(sole, unit)]
  ).filter(Boolean).join(" · ");
  const [verdict] = data.verdicts ?? [];
  // The claim on a pair ends in figures, of which all but the first stand in the evidence.
  const [claim] = verdict?.split(/: [+-]?[\d.]+ /) ?? [];
  if (row && claim !== verdict) return [`${claim}: ${briefChange(row.difference, unit)} ${label}`, numbers];
  const end = verdict?.search(/[,;:] |$/);
  const rest = verdict?.slice(end + 2).replace(/\.$/, "");
  if (verdict) return [verdict.slice(0, end), [verdict[end] === ";" ? capital(rest) : rest, numbers].filter(Boolean).join(" · ")];
  if (!sole) return [data.title];
  // The same measure of each part of the queries.
  const means = data.summary.filter(each => each.run === sole.run && measures[each.measure].name === name).map(each => [brief(each.mean, unit), measures[each.measure].of].filter(Boolean).join(" "));
  const levels = /** @type {const} */ (["chance", "ceiling"]).map(level => (sole[level] === undefined ? null : say.levelOf(level, brief(sole[level], unit))));
  return [`${runs[sole.run]}: ${label} ${means.join(", ")}`, [confidence(sole, unit), say.overQueries(sole.n), ...levels].filter(Boolean).join(" · ")];
}

/** @param {string} id @param {Child} title @param {string | null} note @param {...Child} children */
function card(id, title, note, ...children) {
  return el("section", {class: "card", id, "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`, dir: "auto"}, title), note && el("p", {class: "note"}, note), children);
}

/** Cards side by side; one alone has the whole width. @param {...(Element | null)} every */
function cards(...every) {
  const shown = every.filter(each => each !== null);
  return shown.length ? el("div", {class: shown.length > 1 ? "cards" : "cards alone"}, shown) : null;
}

/** A stacked bar per run, and per part of the queries that measures cover: where the first relevant item is. */
function bars() {
  const shown = bands();
  if (!shown) return null;
  const {of, labels} = shown;
  const parts = [...new Set(queries.attributes.direction ?? [null])];
  const lines = runsInOrder().flatMap(run => parts.map(part => ({run, part})));
  /** @type {Set<number>} */
  const found = new Set();
  const rows = lines.map(({run, part}) => {
    const counts = labels.map(() => 0);
    for (const query of allQueries) {
      const band = part === null || queries.attributes.direction[query] === part ? of(run, query) : null;
      if (band === null) continue;
      counts[band] += 1;
      found.add(band);
    }
    return counts.some(n => n) ? barRow(run, part, counts, labels) : null;
  });
  const kept = rows.filter(row => row !== null);
  if (!kept.length) return null;
  const legend = labels.map((label, band) => (found.has(band) ? el("span", null, el("i", {class: `band-${band}`}), label) : null));
  const more = el("details", null, el("summary", null, say.more(kept.length - MOST_BARS)), kept.slice(MOST_BARS));
  return card("bars", shown.title, null, kept.slice(0, MOST_BARS), kept.length > MOST_BARS ? more : null, el("p", {class: "band-legend"}, legend, el("span", null, say.bandHint)));
}

/** Runs in their order; where not all are in sight, those compared come first. */
function runsInOrder() {
  return runs.length > MOST_BARS ? [...new Set([...comparedRuns(), ...allRuns])] : allRuns;
}

/**
 * @param {Run} run
 * @param {string | null} part
 * @param {number[]} counts
 * @param {string[]} labels
 */
function barRow(run, part, counts, labels) {
  const name = runs.length > 1 || part === null ? runs[run] : part;
  const segments = counts.map((n, band) => {
    if (!n) return null;
    const attributes = {[bandName(run)]: labels[band], ...(part === null ? {} : {direction: part})};
    const b = START.b === null || run === chosen.a || run === chosen.b ? chosen.b : run;
    const measure = part === null ? chosen.measure : measures.findIndex(each => each.of === part);
    const title = say.band(n, labels[band], name);
    const made = el("a", {class: `band band-${band}`, href: queriesLink({attributes, b, measure}), title, "aria-label": title}, whole(n));
    made.style.flexGrow = String(n);
    return made;
  });
  return el("div", {class: "bar-row"}, el("span", {class: "bar-name"}, runTag(run), el("span", {dir: "auto"}, broken(name)), runs.length > 1 && part !== null ? el("span", {class: "quiet"}, part) : null), el("div", {class: "band-bar"}, segments));
}

/**
 * The queries in which a run has nothing relevant among the first results, the latest first; where there are none, or nothing is
 * ranked, its worst ones.
 * @param {Run} run
 */
function failing(run) {
  const {fails} = taskView();
  const near = cutoff();
  /** @param {Query} query */
  const rank = query => firstOf(run, query) ?? Infinity;
  /** @param {Query} query */
  const value = query => (valueOf(chosen.measure, run, query) ?? 0) * (lowerIsBetter() ? -1 : 1);
  const known = allQueries.filter(query => (queries.first ? (relevantOf(run, query) ?? 0) > 0 : valueOf(chosen.measure, run, query) !== null));
  const failed = allQueries.filter(query => isFailed(run, query));
  const shown = (failed.length ? failed : known).toSorted((one, other) => rank(other) - rank(one) || value(one) - value(other)).slice(0, MOST_CASES);
  if (!shown.length) return null;
  const name = runs.length === 1 ? say.it : runs[run];
  const note = fails ? say.failedOf(failed.length, queries.id.length) : queries.first && say.failedNear(failed.length, known.length, near);
  // The worst queries are those of B, which the run is then.
  const pair = chosen.b === null || worstSide() === "a" || run === chosen.b ? {} : {a: chosen.b, b: run};
  // A measure of one direction leaves out the failures of the other.
  const isWhole = failed.length > MOST_CASES && !measures[chosen.measure].of;
  const href = queriesLink({sort: "worst", reversed: false, ...pair, attributes: isWhole ? {[failureName(run)]: say.failure(true) ?? ""} : {}});
  const title = failed.length ? say.fails(name) : say.worstOfRun(name);
  return casesCard("fails", title, el("span", {class: failed.length ? "loss" : "quiet"}, note), shown.map(query => caseRow(query, outcome(run, query), wrongHit(run, query))), href, isWhole ? say.allFailures(failed.length) : say.allWorst);
}

/** What became of a query: the rank of the first relevant item, or why it failed. @param {Run} run @param {Query} query */
function outcome(run, query) {
  const {outcome: words, share} = taskView();
  const rank = firstOf(run, query);
  const shown = bands();
  const band = shown?.labels[shown.of(run, query) ?? -1];
  const text =
    words?.(query) ??
    (share && band ? `${shown.name}: ${band}` : rank !== null ? say.firstAt(rank) : (band ?? brief(valueOf(chosen.measure, run, query), measures[chosen.measure].unit)));
  return el("span", {class: rank === null || rank > 1 ? "loss" : ""}, text);
}

/**
 * The first result of a run where it is not relevant, which may be in a file beside the page.
 * @param {Run} run
 * @param {Query} query
 */
function wrongHit(run, query) {
  const place = el("span", {class: "hit"});
  listsOf(query).then(
    lists => {
      const [row] = firstRows(lists?.[run]);
      if (!row || row[STATE] === "relevant") return;
      const [text, label] = [data.items.text[row[ITEM]], row[DETAIL]?.label];
      place.append(
        mark(row[STATE]),
        picture(row[ITEM], 32) ?? "",
        label ? el("span", {class: "hit-name"}, say.takenFor, el("span", {class: "mono", dir: "auto"}, broken(label))) : el("span", {class: "hit-name"}, taskView().title?.(row) ?? el("span", {class: "mono", dir: "auto", title: text && readable(text)}, broken(data.items.id[row[ITEM]])), say.rankedFirst),
      );
    },
    () => {},
  );
  return place;
}

/**
 * The queries in which a run is behind the other; null where there are none.
 * @param {Run} run
 * @param {Run} other
 */
function losses(run, other) {
  const measure = measures[chosen.measure];
  const {unit} = measure;
  /** @param {Run} of @param {Query} query */
  const value = (of, query) => valueOf(chosen.measure, of, query);
  /** @param {Query} query */
  const change = query => difference(value(other, query), value(run, query));
  const lost = allQueries.filter(query => senseOf(change(query), measure) === "loss").sort((one, two) => Math.abs(change(two) ?? 0) - Math.abs(change(one) ?? 0));
  if (!lost.length) return null;
  const least = change(lost[lost.length - 1]) ?? 0;
  /** @type {Interval} */
  const delta = least < 0 ? [null, least] : [least, null];
  const href = queriesLink({a: other, b: run, sort: "loss", reversed: false, ranges: {...START.ranges, delta}});
  const rows = lost.slice(0, MOST_CASES).map(query => caseRow(query, el("span", {class: "change"}, `${brief(value(other, query), unit)} → ${brief(value(run, query), unit)}`), el("span", {class: "loss number"}, briefChange(change(query), unit))));
  return casesCard("losses", say.losses(runs[run]), el("span", {class: "loss"}, say.getWorse(lost.length)), rows, href, say.allLosses(lost.length));
}

/**
 * Queries as links to their lists, with their number beside the title and the way to all of them.
 * @param {string} id
 * @param {string} title
 * @param {Child} number
 * @param {Child} rows
 * @param {string} href
 * @param {string} all
 */
function casesCard(id, title, number, rows, href, all) {
  return card(id, [title, " ", number], null, el("ul", {class: "cases"}, rows), el("a", {class: "all", href}, all));
}

/** A query as a link to its lists. @param {Query} query @param {...Child} evidence */
function caseRow(query, ...evidence) {
  const text = queries.text[query];
  return el(
    "li",
    null,
    el(
      "a",
      {class: "case", href: queriesLink({query})},
      pictureOf(query, 40),
      el("span", {class: `case-query${text === null ? " mono" : ""}`, dir: "auto", title: visible(queries.id[query])}, text === null ? broken(queries.id[query]) : readable(text)),
      el("span", {class: "case-facts"}, evidence),
    ),
  );
}

function scores() {
  if (!data.summary?.length) return null;
  return card("scores", say.scores, null, scoresTable());
}

/** @param {Chart} each */
function chartCard(each) {
  return el(
    "figure",
    {class: "card chart-card"},
    el("figcaption", null, el("h2", null, each.title), each.note && el("p", {class: "note"}, each.note)),
    el("div", {class: "chart", "data-chart": each.id}),
  );
}
