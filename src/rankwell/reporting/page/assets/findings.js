// Findings: what to know before reading a number, the most serious first. As chips they lead to their queries.

import {queriesLink} from "./address.js";
import {measureFor} from "./chosen.js";
import {data, measures, queries, runs} from "./data.js";
import {el, readable} from "./dom.js";
import {say} from "./words.js";

const LEVELS = ["error", "warning", "info"];
const MOST_CHIPS = 4;

export const findings = data.findings ?? [];
/** Name -> the order of queries that shows all findings of this name. */
const orders = new Map(findings.filter(each => each.sort).map(({name, sort}) => /** @type {const} */ ([name, sort])));
for (const {name, run, queries: places} of findings) {
  if (!places || orders.has(name)) continue;
  const flagged = (queries.flags[name] ??= runs.map(() => []));
  for (const [each, known] of flagged.entries()) if (run === undefined || runs[each] === run) flagged[each] = [...new Set([...known, ...places])];
}
findings.sort((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));

/** The queries that findings are about, each once. @param {Finding[]} some */
function queriesOf(some) {
  return [...new Set(some.flatMap(each => each.queries ?? []))];
}

/** Where findings of one name lead: to their queries, to their order by it, or null. @param {Finding[]} some */
function addressFor(some) {
  const sort = orders.get(some[0].name);
  if (sort) return queriesLink({sort, reversed: false});
  const places = queriesOf(some);
  return places.length ? queriesLink({flags: [some[0].name], measure: measureFor(places)}) : null;
}

/** The number of queries, a chip for each name of findings that change how to read a number or lead to queries, and the way to the rest. */
export function chips() {
  const kinds = [...new Set(findings.map(each => each.name))].map(name => findings.filter(each => each.name === name));
  const shown = kinds.filter(kind => kind[0].level !== "info" || addressFor(kind)).slice(0, MOST_CHIPS);
  const rest = findings.length - shown.flat().length;
  const counted = Math.max(...data.summary.filter(row => !measures[row.measure].of).map(row => row.n), 0) || queries.id.length;
  return el(
    "ul",
    {class: "findings", "aria-label": say.findings},
    el("li", null, chip(say.counted(queries.id.length, counted), queriesLink())),
    shown.map(kind => el("li", null, chip([sign(kind[0]), chipText(kind)], addressFor(kind) ?? "#method", kind))),
    el("li", null, chip(rest ? say.methodAnd(rest) : say.provenance, "#method")),
  );
}

/** What findings of one name have in common, in a few words: their sentences are the title of the chip. @param {Finding[]} kind */
function chipText(kind) {
  const summed = kind.find(each => each.sort);
  if (summed) return readable(summed.message);
  const runsNamed = new Set(kind.flatMap(each => each.run ?? []));
  return say.chip(readable(kind[0].name.replaceAll("-", " ")), queriesOf(kind).length, runsNamed.size);
}

/** @param {Child} text @param {string} href @param {Finding[]} [kind] */
function chip(text, href, kind = []) {
  const title = kind.map(each => readable(each.detail ?? each.message)).join("\n") || null;
  return el("a", {class: `finding ${kind[0]?.level ?? "info"}`, href, title, dir: "auto"}, text);
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
      const address = addressFor([each]);
      return el(
        "li",
        {class: each.level, dir: "auto"},
        sign(each),
        readable(each.detail ?? each.message),
        address ? [" ", el("a", {href: address}, orders.has(each.name) ? say.bySort : say.itsQueries(each.queries?.length ?? 0))] : null,
      );
    }),
  );
}

