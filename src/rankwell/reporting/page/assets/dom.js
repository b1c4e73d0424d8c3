// Nodes: everything displayed is made here, as text and never as markup.

import {MISSING} from "./numbers.js";
import {say} from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element; attributes that are null or false are left out, children are nodes, texts, numbers, null or lists of these.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** @template {Element} Made @param {Made} node @param {Attributes | undefined} attributes @param {Child[]} children @returns {Made} */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") || name === "style") throw new Error(`no ${name} attributes on this page`);
    node.setAttribute(name, value === true ? "" : String(value));
  }
  const flat = /** @type {any[]} */ (children).flat(Infinity);
  node.append(...flat.filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

/** @template {string} Id @param {Id} id @returns {Id extends keyof PageElements ? PageElements[Id] : HTMLElement} */
export function $(id) {
  return /** @type {any} */ (document.getElementById(id));
}

/**
 * An id or a name of unknown origin, isolated so that its direction of writing does not affect the text around it.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {unknown} text
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function isolated(tag, attributes, text) {
  return el(tag, {dir: "auto", ...attributes}, visible(text));
}

/**
 * An id with control characters and direction marks written as escapes: two ids that differ must look different.
 * @param {unknown} id
 */
export function visible(id) {
  return String(id).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, each =>
    each === "\u200d" ? each : `\\u{${each.codePointAt(0)?.toString(16)}}`,
  );
}

/**
 * A text to be read, on one line.
 * @param {unknown} text
 */
export function readable(text) {
  return String(text).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}

/** @param {string} state */
export function stateName(state) {
  return /** @type {Record<string, string>} */ (say.states)[state] ?? state;
}

/** @type {Record<string, () => SVGElement[]>} */
const SHAPES = {
  relevant: () => [svg("circle", {cx: 8, cy: 8, r: 7}), svg("path", {d: "M4.8 8.3l2.2 2.2 4.2-4.6"})],
  nonrelevant: () => [svg("rect", {x: 1.75, y: 1.75, width: 12.5, height: 12.5, rx: 2.5}), svg("path", {d: "M5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6"})],
  unjudged: () => [
    svg("circle", {cx: 8, cy: 8, r: 6.25}),
    svg("path", {d: "M6.2 6.5a1.85 1.85 0 1 1 2.6 1.7c-.5.25-.8.5-.8 1.1M8 11.2v.3"}),
  ],
  junk: () => [svg("circle", {cx: 8, cy: 8, r: 6.25}), svg("path", {d: "M3.8 12.2l8.4-8.4"})],
};

/**
 * The sign of a state: a shape, a colour, and a name for those who see neither.
 * @param {string} state
 */
export function mark(state) {
  const shape = SHAPES[state] ?? SHAPES.unjudged;
  const name = stateName(state);
  return svg(
    "svg",
    {class: `mark ${state}`, viewBox: "0 0 16 16", width: 16, height: 16, role: "img", "aria-label": name},
    svg("title", null, name),
    shape(),
  );
}

/**
 * A sign in letters, with its meaning for those who point at it and for those who do not see it.
 * @param {string} text
 * @param {string} meaning
 * @param {Attributes} [attributes]
 */
export function glyph(text, meaning, attributes = {}) {
  return el("span", {...attributes, role: "img", title: meaning, "aria-label": meaning}, text);
}

/**
 * A figure; the sign of a missing one with the reason.
 * @param {string} text
 * @param {string} reason
 */
export function orMissing(text, reason) {
  return text === MISSING ? glyph(text, reason) : text;
}

/** @param {string} path */
export function icon(path) {
  return svg("svg", {class: "icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true"}, svg("path", {d: path}));
}

/**
 * @param {Child} label
 * @param {() => void} act
 * @param {Attributes} [attributes]
 */
export function button(label, act, attributes = {}) {
  const made = el("button", {type: "button", ...attributes}, label);
  made.addEventListener("click", act);
  return made;
}

/**
 * A button that lets `act` show all of a long list, and goes.
 * @param {number} n
 * @param {() => void} act
 */
export function showAll(n, act) {
  const made = button(
    say.showAll(n),
    () => {
      made.remove();
      act();
    },
    {class: "plain more"},
  );
  return made;
}

/** @param {unknown} text @param {Attributes} [attributes] */
export function heading(text, attributes = {}) {
  return isolated("th", {scope: "col", ...attributes}, text);
}

/**
 * A table of one line of headings; its caption is for those who do not see it.
 * @param {Attributes} attributes
 * @param {string} caption
 * @param {Child} headings
 * @param {...Child} bodies
 */
export function table(attributes, caption, headings, ...bodies) {
  return el(
    "table",
    attributes,
    el("caption", {class: "visually-hidden"}, caption),
    el("thead", null, el("tr", null, headings)),
    bodies,
  );
}

/**
 * The element of an event.
 * @param {Event} event
 * @returns {HTMLElement}
 */
export function targetOf(event) {
  return /** @type {any} */ (event.target);
}
