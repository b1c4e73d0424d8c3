// How the numbers were made: the verdict in full, findings, rules, definitions and inputs.

import {data, measures} from "./data.js";
import {$, el, isolated, readable} from "./dom.js";
import {findings, findingsList} from "./findings.js";
import {say} from "./words.js";

/** Draws the view once: nothing in it depends on a choice. */
export function drawMethod() {
  const defined = measures.filter(each => each.definition);
  const verdicts = data.verdicts ?? [];
  $("method").append(
    ...[
      el("h1", null, say.provenance),
      verdicts.length ? part(say.verdict, el("ul", null, verdicts.map(each => el("li", {dir: "auto"}, readable(each))))) : null,
      findings.length ? part(say.findings, findingsList()) : null,
      data.rules?.length ? part(say.rules, facts(data.rules.map(([name, value]) => [name, isolated("dd", null, value)]))) : null,
      defined.length ? part(say.measures, facts(defined.map(each => [each.label === each.name ? each.name : `${each.label} = ${each.name}`, el("dd", null, withCode(each.definition ?? ""))]))) : null,
      data.shown?.rule ? part(say.queriesWithLists, el("p", null, readable(data.shown.rule))) : null,
      data.inputs?.length ? part(say.inputs, facts(data.inputs.map(([name, value]) => [name, isolated("dd", {class: "mono"}, value)]))) : null,
      part(say.software, el("p", null, say.madeBy(data.tool)), el("details", null, el("summary", null, say.licences), el("pre", {class: "licences"}, $("licences").textContent))),
    ].filter(node => node !== null),
  );
}

/** @param {string} title @param {...Child} children */
function part(title, ...children) {
  return el("section", {class: "part"}, el("h2", null, title), children);
}

/** @param {[name: string, value: Element][]} rows */
function facts(rows) {
  return el("dl", {class: "facts"}, rows.map(([name, value]) => [isolated("dt", null, name), value]));
}

/**
 * A sentence with what stands between backticks as code.
 * @param {string} text
 */
export function withCode(text) {
  return readable(text).split(/`([^`]+)`/).map((piece, place) => (place % 2 ? el("code", null, piece) : piece));
}
