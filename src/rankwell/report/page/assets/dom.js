// Nodes, numbers and words: all that is shown goes through here, as text and never as markup.

const SVG = "http://www.w3.org/2000/svg";
const MISSING = "–";
const STATES = {relevant: "relevant", nonrelevant: "not relevant", unjudged: "unjudged", junk: "junk"};

/** An element; attributes that are null or false are left out, children are nodes, texts, numbers, null or lists of these. */
function el(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") || name === "style") throw new Error(`no ${name} attributes on this page`);
    node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

function $(id) {
  return document.getElementById(id);
}

/** An id or a name of unknown origin and direction, kept from disturbing what stands beside it. */
function said(tag, attributes, text) {
  return el(tag, {dir: "auto", ...attributes}, visible(text));
}

/** An id with control characters and direction marks written as escapes: two ids that differ must look different. */
function visible(id) {
  return String(id).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, each =>
    each === "\u200d" ? each : `\\u{${each.codePointAt(0).toString(16)}}`,
  );
}

/** A text to be read, on one line. */
function readable(text) {
  return String(text).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}

function stateName(state) {
  return STATES[state] ?? state;
}

const SHAPES = {
  relevant: () => [svg("circle", {cx: 8, cy: 8, r: 7}), svg("path", {d: "M4.8 8.3l2.2 2.2 4.2-4.6"})],
  nonrelevant: () => [svg("circle", {cx: 8, cy: 8, r: 6.25}), svg("path", {d: "M5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6"})],
  unjudged: () => [
    svg("circle", {cx: 8, cy: 8, r: 6.25}),
    svg("path", {d: "M6.2 6.5a1.85 1.85 0 1 1 2.6 1.7c-.5.25-.8.5-.8 1.1M8 11.2v.3"}),
  ],
  junk: () => [svg("rect", {x: 2, y: 2, width: 12, height: 12, rx: 2}), svg("path", {d: "M4.5 11.5l7-7"})],
};

/** The sign of a state: told apart by its shape, by its colour, and by its word for those who see neither. */
function mark(state) {
  const shape = SHAPES[state] ?? SHAPES.unjudged;
  const name = stateName(state);
  return svg(
    "svg",
    {class: `mark ${state}`, viewBox: "0 0 16 16", width: 16, height: 16, role: "img", "aria-label": name},
    svg("title", null, name),
    shape(),
  );
}

function icon(path) {
  return svg("svg", {class: "icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true"}, svg("path", {d: path}));
}

function button(label, act, attributes = {}) {
  const made = el("button", {type: "button", ...attributes}, label);
  made.addEventListener("click", act);
  return made;
}

/** A button that lets `act` show all of a long list, and goes. */
function showAll(n, act) {
  const made = button(
    `Show all ${number(n, "count")}`,
    () => {
      made.remove();
      act();
    },
    {class: "plain more"},
  );
  return made;
}

function heading(text, attributes = {}) {
  return said("th", {scope: "col", ...attributes}, text);
}

/** A table of one line of headings; its caption is for those who do not see it. */
function table(attributes, caption, headings, ...bodies) {
  return el(
    "table",
    attributes,
    el("caption", {class: "visually-hidden"}, caption),
    el("thead", null, el("tr", null, headings)),
    bodies,
  );
}

const WHOLE = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

/** As the command line writes it: 4 decimals, percentages and ranks 2, counts none where they are whole. */
function number(value, unit) {
  if (value === null || value === undefined) return MISSING;
  if (unit === "count" && Number.isInteger(value)) return WHOLE.format(value);
  return value.toFixed(unit === "percent" || unit === "rank" || unit === "count" ? 2 : 4).replace(/^-/, "−");
}

function signed(value, unit) {
  if (value === null || value === undefined) return MISSING;
  const text = number(Math.abs(value), unit);
  return Number(text.replace(/,/g, "")) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

function score(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 0.001 || size >= 1e6) ? value.toExponential(3) : value.toFixed(size < 100 ? 4 : 2);
  return text.replace(/-/g, "−");
}

function chance(p) {
  if (p === null || p === undefined) return MISSING;
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

function counted(n, one, many = `${one}s`) {
  return `${WHOLE.format(n)} ${n === 1 ? one : many}`;
}

const PICTURE = /^data:image\/(png|jpeg|webp|gif);|^(?!\/\/)[^:]*$/;

/** The picture of an item, null where it has none; size in pixels, of its longer side. */
function picture(item, size) {
  const source = data.items.thumbnail[item];
  if (!source || !PICTURE.test(source)) return null;
  return el("img", {
    class: "picture",
    src: source,
    alt: visible(data.items.id[item]),
    width: size,
    height: size,
    loading: "lazy",
    decoding: "async",
  });
}
