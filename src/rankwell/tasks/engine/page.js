// Live engines: the frontier of the settings, curves over parameters, the table of settings, and what had no answer.

import {queriesLink} from "../../reporting/page/assets/address.js";
import {allMeasures, data, meanOf, measures, queries, RANK, ruleOf, STATE, valueOf} from "../../reporting/page/assets/data.js";
import {el, heading, isolated, orMissing, table, visible} from "../../reporting/page/assets/dom.js";
import {runTag} from "../../reporting/page/assets/labels.js";
import {number} from "../../reporting/page/assets/numbers.js";
import {figureCell, wide} from "../../reporting/page/assets/tables.js";
import {registerView, runLines} from "../../reporting/page/assets/views.js";
import {say} from "./words.js";

const UNITLESS = ["share", "score", "count", "rank"];
const PERCENTILE = /^p\d+$/;

/** The frontier, the settings and the requests without an answer; then the curves. @param {OverviewPieces} pieces */
function tables(pieces) {
  const {settings} = data;
  if (!settings) return null;
  const drawn = data.charts ?? [];
  const isFrontier = (/** @type {Chart} */ each) => each.id === "frontier";
  return [
    ...drawn.filter(isFrontier).map(pieces.chartCard),
    settingsPart(settings, pieces),
    unansweredPart(pieces),
    ...drawn.filter(each => !isFrontier(each)).map(pieces.chartCard),
  ];
}

/** @param {Settings} settings @param {OverviewPieces} pieces */
function settingsPart({varying, fixed, rows}, pieces) {
  const known = allMeasures.filter(place => rows.some(({run}) => meanOf(place, run) !== null));
  /** @param {MeasurePlace} place */
  const meansOf = place => rows.map(({run}) => meanOf(place, run)).filter(mean => mean !== null);
  // A figure of an index is one for all settings of it, and a session that all of them share has one first request.
  /** @param {MeasurePlace} place */
  const isShared = place => rows.length > 1 && valuesOf(place) === 0 && (new Set(meansOf(place)).size === 1);
  // Two measures with the same means are one column: recall by distance and by ids, where nothing is tied.
  const columns = known.filter((place, at) => !isShared(place) && !known.slice(0, at).some(other => valuesOf(other) && String(meansOf(other)) === String(meansOf(place))));
  const shared = known.filter(isShared).map(place => [measures[place].label, `${number(meansOf(place)[0], measures[place].unit)} ${measures[place].unit}`]);
  const last = columns.findLast(place => PERCENTILE.test(measures[place].name));
  const isChosen = rows.some(row => row.choices.length);
  const head = varying.length ? varying.map(name => heading(name)) : heading(say.setting);
  const body = rows.map(row =>
    el("tr", null,
      (varying.length ? row.values : [data.runs[row.run]]).map((value, place) => parameterCell(row.run, value, place === 0)),
      isChosen ? el("td", null, el("span", {class: "chips"}, row.choices.map(choiceChip))) : null,
      columns.map(place => figureCell(row.run, place, place === last ? othersChip(row.others) : null))));
  return pieces.card("settings", say.settingsPart, say.settingsNote,
    fixed.map((own, place) => el("ul", {class: "chips constants"}, [...own, ...(place + 1 === fixed.length ? shared : [])].map(([name, value]) =>
      el("li", null, el("span", {class: "chip"}, isolated("span", {class: "quiet"}, name), " ", isolated("span", null, value)))))),
    wide(table({class: "figures many settings"}, say.settingsCaption,
      [head, isChosen ? heading(say.choice) : null, columns.map(measureHeading)],
      el("tbody", null, body))));
}

/** @param {MeasurePlace} place */
function measureHeading(place) {
  const {label, unit, name} = measures[place];
  return el("th", {scope: "col", class: "number", title: visible(name)}, isolated("span", null, label), UNITLESS.includes(unit) ? null : el("span", {class: "interval"}, unit));
}

/** Number of values of single queries of a measure. @param {MeasurePlace} place */
function valuesOf(place) {
  return (queries.values[place] ?? []).flat().filter(value => value !== null).length;
}

/** @param {Run} run @param {string | null} value @param {boolean} isFirst */
function parameterCell(run, value, isFirst) {
  if (!isFirst) return el("td", null, orMissing(value ?? number(null, "count"), say.noParameter));
  const href = queriesLink({b: data.runs.length > 1 ? run : null});
  return el("th", {scope: "row"}, runTag(run), isolated("a", {href, title: say.lists}, value ?? number(null, "count")));
}

/** @param {string} choice */
function choiceChip(choice) {
  const [word, title] = say.choices[choice] ?? [choice, ""];
  return el("span", {class: `chip choice ${choice in say.choices ? choice : ""}`, title}, word);
}

/** @param {number | null} others */
function othersChip(others) {
  return others === null ? null : el("span", {class: "chip warn", title: say.othersTitle}, say.others(`${number(100 * others, "percent")} %`));
}

const MOST_UNANSWERED = 50;

/** @param {OverviewPieces} pieces */
function unansweredPart(pieces) {
  const rows = data.unanswered ?? [];
  if (!rows.length) return null;
  const body = rows.slice(0, MOST_UNANSWERED).map(({run, query, id, round, status, error}) =>
    el("tr", null,
      el("th", {scope: "row"}, query === null ? isolated("span", null, id) : isolated("a", {href: queriesLink({query})}, id)),
      isolated("td", {}, data.runs[run]),
      el("td", {class: "number"}, number(round, "count")),
      isolated("td", {}, status),
      isolated("td", {class: "verdict"}, error ?? "")));
  return pieces.card("unanswered", say.unanswered, say.unansweredNote(rows.length, Math.min(rows.length, MOST_UNANSWERED)),
    wide(table({class: "figures"}, say.unanswered,
      [heading(say.query), heading(say.setting), heading(say.round, {class: "number"}), heading(say.status), heading(say.message)],
      el("tbody", null, body))));
}

/** The time of a query, what of its exact results is missing, and the requests without an answer. @param {Query} query */
function summary(query) {
  const time = measures.findIndex(each => each.name === "latency");
  const lines = runLines(run => {
    const value = time < 0 ? null : valueOf(time, run, query);
    const missing = ruleOf("key") === null ? 0 : (data.lists[query]?.[run] ?? []).filter(row => row[STATE] === "relevant" && row[RANK] === null).length;
    const failed = (data.unanswered ?? []).filter(row => row.query === query && row.run === run);
    if (value === null && !missing && !failed.length) return null;
    return [
      value === null ? null : el("strong", null, say.time(number(value, "ms"))),
      missing ? el("span", {class: "loss"}, say.missing(missing)) : null,
      failed.map(({status, round, error}) => isolated("span", {class: "loss"}, say.failed(status, round, error))),
    ];
  });
  return lines === null ? null : el("div", {class: "view"}, lines);
}

registerView("engine", {summary, tables});
