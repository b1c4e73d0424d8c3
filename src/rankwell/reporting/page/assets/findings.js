// Findings: what to know before reading a number, the most serious first. As chips they lead to their queries.

import {queriesLink} from "./address.js";
import {comparedRuns, measureFor} from "./chosen.js";
import {data, measures, queries, runs} from "./data.js";
import {el, readable} from "./dom.js";
import {shownFlags} from "./rows.js";
import {say} from "./words.js";

const LEVELS = ["error", "warning", "info"];
const MOST_CHIPS = 4;

/** What warnings, flags and notes say, for results without findings. @returns {Finding[]} */
const noted = () => [
  ...(data.warnings ?? []).map(({text, detail, sort}) => finding("warning", text, {name: sort, detail, sort})),
  ...shownFlags().map(([name, places]) => finding("info", flagMessage(name, places), {name, queries: places})),
  ...(data.notes ?? []).map(message => finding("info", message)),
];
/** @type {Finding[]} */
export const findings = data.findings ?? noted();
for (const {name, queries: places} of findings) if (places) queries.flags[name] ??= runs.map(() => places);
findings.sort((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));

/** @param {Finding["level"]} level @param {string} message @param {Partial<Finding>} [more] @returns {Finding} */
function finding(level, message, more) {
  return {name: "", level, message, ...more};
}

/** @param {string} name @param {Query[]} places */
function flagMessage(name, places) {
  const counts = comparedRuns().map(run => ({run: runs[run], n: queries.flags[name][run].length}));
  return say.flag(name, places.length, counts.every(({n}) => n === places.length) ? [] : counts.filter(({n}) => n));
}

/** Where a finding leads: to its queries, to their order by it, or null. @param {Finding} each */
function addressFor({name, queries: places, sort}) {
  if (sort) return queriesLink({sort, reversed: false});
  if (!places?.length) return null;
  return queriesLink({flags: [name], measure: measureFor(places)});
}

/** The number of queries, the first findings that change how to read a number or lead to queries, and the way to all of them. */
export function chips() {
  const shown = findings.filter(each => each.level !== "info" || addressFor(each)).slice(0, MOST_CHIPS);
  const rest = findings.length - shown.length;
  const counted = Math.max(...data.summary.filter(row => !measures[row.measure].of).map(row => row.n), 0) || queries.id.length;
  return el(
    "ul",
    {class: "findings", "aria-label": say.findings},
    el("li", null, chip(say.counted(queries.id.length, counted), queriesLink())),
    shown.map(each => el("li", null, chip([sign(each), readable(each.message)], addressFor(each) ?? "#method", each.level))),
    el("li", null, chip(rest ? say.methodAnd(rest) : say.provenance, "#method")),
  );
}

/** @param {Child} text @param {string} href */
function chip(text, href, level = "info") {
  return el("a", {class: `finding ${level}`, href, dir: "auto"}, text);
}

/** @param {Finding} each */
function sign({level}) {
  return level === "info" ? null : el("span", {role: "img", "aria-label": say.findingLevels[level]}, level === "error" ? "✕ " : "⚠ ");
}

/** All findings as a list, whole. */
export function findingsList() {
  return el(
    "ul",
    {class: "all-findings"},
    findings.map(each => {
      const address = addressFor(each);
      return el(
        "li",
        {class: each.level, dir: "auto"},
        sign(each),
        readable(each.detail ?? each.message),
        address ? [" ", el("a", {href: address}, each.sort ? say.bySort : say.itsQueries(each.queries?.length ?? 0))] : null,
      );
    }),
  );
}

