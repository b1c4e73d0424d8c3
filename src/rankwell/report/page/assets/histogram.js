// A histogram of the differences, or of the values of a single run; dragging over it is a filter.

import {choose} from "./address.js";
import {chosen} from "./chosen.js";
import {allQueries, measures} from "./data.js";
import {el, svg} from "./dom.js";
import {counted, number, signed} from "./numbers.js";
import {deltaOf, passing, senseOf, valueA} from "./rows.js";

const SPREAD = {width: 216, height: 74, bins: 25};
export const BROAD_SPREAD = {width: 1040, height: 150, bins: 61};

/** The range among the filters that the histogram shows. */
function spreadName() {
  return chosen.b === null ? "a" : "delta";
}

/**
 * Equal bins over the range of all values, whatever the filters, so that bars stay where they are; the middle one is about 0.
 * @param {SpreadShape} shape
 * @returns {Spread | null}
 */
function spread(shape) {
  const valueFor = chosen.b === null ? valueA : deltaOf;
  const every = allQueries.map(valueFor).filter(value => value !== null);
  if (!every.length) return null;
  let low = every.reduce((least, value) => Math.min(least, value), Infinity);
  let high = every.reduce((most, value) => Math.max(most, value), -Infinity);
  if (chosen.b !== null) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const counts = new Array(shape.bins).fill(0);
  for (const query of passing(spreadName())) {
    const value = valueFor(query);
    if (value !== null) counts[Math.min(shape.bins - 1, Math.floor(((value - low) / (high - low)) * shape.bins))] += 1;
  }
  return {low, high, counts, width: shape.width};
}

/** @param {SpreadShape} [shape] */
export function histogram(shape = SPREAD) {
  const found = spread(shape);
  if (!found) return null;
  const {width, height, bins} = shape;
  const {low, high, counts} = found;
  const most = Math.max(1, ...counts);
  const step = width / bins;
  const unit = measures[chosen.measure].unit;
  const bars = counts.map((n, place) => {
    const middle = low + ((place + 0.5) * (high - low)) / bins;
    // A root, so that a single query can be seen beside the hundreds that are equal.
    const tall = n ? Math.max(2, height * Math.sqrt(n / most)) : 0;
    const from = low + (place * (high - low)) / bins;
    return svg(
      "rect",
      {
        class: chosen.b === null ? "plain" : place === (bins - 1) / 2 ? "same" : senseOf(middle),
        x: place * step + 0.5,
        y: height - tall,
        width: step - 1,
        height: tall,
        rx: 1,
      },
      svg(
        "title",
        null,
        `${counted(n, "query", "queries")} from ${number(from, unit)} to ${number(from + (high - low) / bins, unit)}`,
      ),
    );
  });
  const drawing = svg(
    "svg",
    {
      class: "spread",
      width,
      height: height + 1,
      viewBox: `0 0 ${width} ${height + 1}`,
      role: "img",
      "aria-label": "Histogram; the same range can be typed into the filters",
    },
    svg("rect", {class: "brush", height, y: 0}),
    bars,
    chosen.b === null ? null : svg("path", {class: "zero", d: `M${width / 2} 0v${height}`}),
    svg("path", {class: "base", d: `M0 ${height + 0.5}H${width}`}),
  );
  drawBrush(drawing, found, chosen.ranges[spreadName()]);
  brushable(drawing, found);
  const ends = [signedOrPlain(low, unit), chosen.b === null ? null : "0", signedOrPlain(high, unit)];
  return el(
    "div",
    {class: "histogram"},
    drawing,
    el(
      "p",
      {class: "ends", "aria-hidden": "true"},
      ends.map(text => text && el("span", null, text)),
    ),
  );
}

/** @param {number} value @param {string | undefined} unit */
function signedOrPlain(value, unit) {
  return chosen.b === null ? number(value, unit) : signed(value, unit);
}

/** @param {SVGSVGElement} drawing @param {Spread} spread @param {Interval} range */
function drawBrush(drawing, {low, high, width}, [from, to]) {
  /** @param {number} value */
  const at = value => Math.min(Math.max((value - low) / (high - low), 0), 1) * width;
  const brush = drawing.querySelector(".brush");
  if (!brush) return;
  const none = from === null && to === null;
  const left = from === null ? 0 : at(from);
  brush.setAttribute("x", String(left));
  brush.setAttribute("width", String(none ? 0 : Math.max(1, (to === null ? width : at(to)) - left)));
}

/** @param {SVGSVGElement} drawing @param {Spread} found */
function brushable(drawing, found) {
  /** @type {number | null} */
  let start = null;
  /** @param {PointerEvent} event */
  const valueAt = event => {
    const box = drawing.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return found.low + share * (found.high - found.low);
  };
  /** @param {number} from @param {PointerEvent} event @returns {[number, number]} */
  const rangeTo = (from, event) => {
    const to = valueAt(event);
    return [Number(Math.min(from, to).toPrecision(3)), Number(Math.max(from, to).toPrecision(3))];
  };
  drawing.addEventListener("pointerdown", event => {
    start = valueAt(event);
    drawing.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  drawing.addEventListener("pointermove", event => {
    if (start !== null) drawBrush(drawing, found, rangeTo(start, event));
  });
  drawing.addEventListener("pointerup", event => {
    if (start === null) return;
    const range = rangeTo(start, event);
    start = null;
    // A click without a drag takes the range away.
    const wide = range[1] - range[0] > (found.high - found.low) / 100;
    const ranges = {...chosen.ranges, [spreadName()]: wide ? range : [null, null]};
    choose({ranges, view: "queries"}, {push: chosen.view !== "queries"});
  });
}
