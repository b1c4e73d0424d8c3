// What the reader has chosen, kept in the address after the #, so that a link shows the same page and the back button works.

import {chosen, rangeText, START, withoutFilters} from "./chosen.js";
import {addressOf, measures, queries, queryAt, runs} from "./data.js";
import {ORDERS} from "./rows.js";
import {derivedNames} from "./slices.js";

/** @type {(changed: Set<string>) => void} */
let draw = () => {};
/** @type {string | null} */
let written = null;
let writing = 0;

/**
 * Sets what draws the page; it is called with the names of the choices that changed.
 * @param {(changed: Set<string>) => void} act
 */
export function onChange(act) {
  draw = act;
}

/**
 * Changes what is chosen, writes the address and draws again; `push` makes it a step that the back button undoes.
 * @param {Partial<Choices>} changes
 * @param {{push?: boolean}} [options]
 */
export function choose(changes, {push = false} = {}) {
  if (push) writeAddress();
  Object.assign(chosen, changes);
  clearTimeout(writing);
  if (push) writeAddress(true);
  // Browsers refuse hundreds of changes of the address within seconds, as a brush or a held key would make them.
  else writing = setTimeout(writeAddress, 150);
  draw(new Set(Object.keys(changes)));
}

/**
 * Draws what depends on these names, without a change of what is chosen.
 * @param {Set<string>} names
 */
export function redraw(names) {
  draw(names);
}

/** @param {boolean} [push] */
export function writeAddress(push = false) {
  clearTimeout(writing);
  const address = `#${addressText()}`;
  if (address === location.hash || (location.hash === "" && address === "#overview")) return;
  written = address;
  if (push) location.hash = address;
  else location.replace(address);
}

/** @param {Partial<Choices>} [changes] */
export function addressText(changes = {}) {
  const now = {...chosen, ...changes};
  const parameters = new URLSearchParams();
  /** @param {string} name @param {string | null | undefined} value @param {string | null | undefined} usual */
  const set = (name, value, usual) => {
    if (value !== usual && value !== null && value !== undefined && value !== "") parameters.set(name, value);
  };
  set("measure", measureKey(measures[now.measure]), measureKey(measures[START.measure]));
  set("a", runs[now.a], runs[START.a]);
  set("b", now.b === null ? null : runs[now.b], START.b === null ? null : runs[START.b]);
  set("sort", now.reversed ? `-${now.sort}` : now.sort, START.sort);
  set("seed", String(now.seed), String(START.seed));
  set("search", now.search, "");
  set("differ", now.differ ? "yes" : null, null);
  for (const [name, range] of Object.entries(now.ranges))
    set(name === "delta" ? "difference" : `value_${name}`, rangeText(range), null);
  for (const flag of now.flags) parameters.append("flag", flag);
  for (const [name, value] of Object.entries(now.attributes)) parameters.append("only", `${name}=${value}`);
  for (const tag of now.tags) parameters.append("tag", tag);
  set("theme", now.theme, null);
  if (now.query !== null) parameters.set("query", addressOf(now.query));
  const text = parameters.toString();
  return text ? `${now.view}?${text}` : now.view;
}

/** A link to queries: no filter is set but those named. @param {Partial<Choices>} [changes] */
export function queriesLink(changes = {}) {
  return `#${addressText({...withoutFilters(), view: "queries", query: null, ...changes})}`;
}

/**
 * Of two directions the measures have the same name.
 * @param {Measure | undefined} measure
 */
function measureKey(measure) {
  return measure && (measure.of ? `${measure.name} of ${measure.of}` : measure.name);
}

/** @param {string | null} text @returns {Interval} */
function rangeFrom(text) {
  const [low, high] = (text ?? "..")
    .split("..")
    .map(part => (part?.trim() && Number.isFinite(Number(part)) ? Number(part) : null));
  return [low ?? null, high ?? null];
}

/** Reads the address; what it names and this page does not have is left as at the start. */
export function readAddress() {
  const [view, text = ""] = location.hash.slice(1).split(/\?(.*)/s);
  const parameters = new URLSearchParams(text);
  /** @param {(string | undefined)[]} names @param {string} name @param {number} usual */
  const place = (names, name, usual) => {
    const found = names.indexOf(parameters.get(name) ?? "");
    return parameters.has(name) && found >= 0 ? found : usual;
  };
  const sort = parameters.get("sort") ?? START.sort;
  Object.assign(chosen, structuredClone(START), {
    view: /** @type {Choices["view"]} */ (["queries", "method"].includes(view) ? view : "overview"),
    query: parameters.has("query") ? queryAt(parameters.get("query") ?? "") : null,
    measure: place(measures.map(measureKey), "measure", START.measure),
    a: place(runs, "a", START.a),
    b: START.b === null ? null : place(runs, "b", START.b),
    sort: Object.hasOwn(ORDERS, sort.replace(/^-/, "")) ? sort.replace(/^-/, "") : START.sort,
    reversed: sort.startsWith("-"),
    seed: Math.abs(Number.parseInt(parameters.get("seed") ?? "1", 10)) || 1,
    search: parameters.get("search") ?? "",
    differ: parameters.get("differ") === "yes" && START.b !== null,
    ranges: {a: rangeFrom(parameters.get("value_a")), b: rangeFrom(parameters.get("value_b")), delta: rangeFrom(parameters.get("difference"))},
    flags: parameters.getAll("flag").filter(flag => Object.hasOwn(queries.flags, flag)),
    attributes: attributesFrom(parameters.getAll("only")),
    tags: parameters.getAll("tag"),
    theme: ["light", "dark"].includes(parameters.get("theme") ?? "") ? parameters.get("theme") : null,
  });
}

/** @param {string[]} texts */
function attributesFrom(texts) {
  /** @type {Record<string, string>} */
  const found = {};
  const known = [...Object.keys(queries.attributes), ...derivedNames()];
  for (const text of texts) {
    // The longest name: one may begin with another and a sign of equality.
    const [name] = known.filter(each => text.startsWith(`${each}=`)).sort((one, other) => other.length - one.length);
    if (name !== undefined) found[name] = text.slice(name.length + 1);
  }
  return found;
}

export function watchAddress() {
  addEventListener("hashchange", () => {
    if (location.hash === written) return;
    written = location.hash;
    clearTimeout(writing);
    readAddress();
    draw(new Set(Object.keys(chosen)));
  });
  readAddress();
}
