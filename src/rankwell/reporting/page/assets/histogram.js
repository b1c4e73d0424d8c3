// A histogram of the differences, or of the values of a single run; dragging over it is a filter.

import {choose} from "./address.js";
import {chosen} from "./chosen.js";
import {allQueries, measures} from "./data.js";
import {el, svg} from "./dom.js";
import {fixed, number, whole} from "./numbers.js";
import {deltaOf, passing, senseOf, valueA} from "./rows.js";
import {say} from "./words.js";

// Margins around the bars, and the pixels that a bin, a tick of values, one of counts and a bar have at least.
const MARGIN = {top: 24, right: 18, bottom: 18};
const LEAST = {bin: 8, values: 66, counts: 34, bar: 2};
const DIGIT = 7;
const MOST_BINS = 61;

/** The range among the filters that the histogram shows. */
function spreadName() {
  return chosen.b === null ? "a" : "delta";
}

/**
 * Equal bins over the range of all values, whatever the filters, so that bars stay where they are; the middle one is about 0.
 * @param {number} width
 * @returns {Spread | null}
 */
function spread(width) {
  const valueFor = chosen.b === null ? valueA : deltaOf;
  const every = allQueries.map(valueFor).filter(value => value !== null);
  if (!every.length) return null;
  let low = every.reduce((least, value) => Math.min(least, value), Infinity);
  let high = every.reduce((most, value) => Math.max(most, value), -Infinity);
  if (chosen.b !== null) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
  const top = {share: 1, percent: 100}[measures[chosen.measure].unit];
  // A share has its own range: its axis does not go beyond it.
  if (chosen.b === null && top && low >= 0 && high <= top) [low, high] = [0, top];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const bins = 2 * Math.floor(Math.min(MOST_BINS, width / LEAST.bin) / 2) + 1;
  const counts = new Array(bins).fill(0);
  for (const query of passing(spreadName())) {
    const value = valueFor(query);
    if (value !== null) counts[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))] += 1;
  }
  return {low, high, counts, width};
}

/**
 * Round numbers from low to high, 1, 2 or 5 of a power of ten apart: at most `most` intervals, unless fewer than three fit.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
export function ticks(low, high, most) {
  const least = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(least));
  const steps = [10, 5, 2, 1, 0.5, 0.2, 0.1].map(each => each * power);
  const fits = steps.findLastIndex(each => each >= least * (1 - 1e-9));
  const step = steps.slice(fits).find(each => Math.floor(high / each + 1e-9) - Math.ceil(low / each - 1e-9) >= 2) ?? steps[fits];
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  const places = Array.from({length: count}, (_, place) => Number(((first + place) * step).toFixed(digits)));
  return {places, step, digits};
}

/** The room of the counts, as wide as the number of all queries. */
function marginLeft() {
  return 12 + DIGIT * Math.max(3, whole(allQueries.length).length);
}

/**
 * Bars as high as the number of their queries, between an axis of counts and one of values.
 * @param {number} width
 * @param {number} height
 */
export function histogram(width, height) {
  const left = marginLeft();
  const inner = {width: width - left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom};
  const found = spread(inner.width);
  if (!found) return null;
  const {low, high, counts} = found;
  const scale = ticks(0, Math.max(1, ...counts), inner.height / LEAST.counts);
  const step = Math.max(1, scale.step);
  const top = Math.ceil(Math.max(1, ...counts) / step) * step;
  const drawing = svg(
    "svg",
    {class: "spread", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": say.histogram},
    svg(
      "g",
      {transform: `translate(${left} ${MARGIN.top})`},
      svg("rect", {class: "brush", height: inner.height, y: 0}),
      countAxis(step, top, inner),
      bars(found, top, inner.height),
      chosen.b === null ? null : svg("path", {class: "zero", d: `M${inner.width / 2} 0v${inner.height}`}),
      svg("path", {class: "base", d: `M0 ${inner.height + 0.5}H${inner.width}`}),
      valueAxis(low, high, inner),
    ),
  );
  drawBrush(drawing, found, chosen.ranges[spreadName()]);
  brushable(drawing, found);
  return el("div", {class: "histogram"}, drawing);
}

/** @param {Spread} found @param {number} top @param {number} height */
function bars({low, high, counts, width}, top, height) {
  const unit = measures[chosen.measure].unit;
  const wide = width / counts.length;
  const part = (high - low) / counts.length;
  return counts.map((n, place) => {
    if (!n) return null;
    const from = low + place * part;
    const sense = chosen.b === null ? "plain" : place === (counts.length - 1) / 2 ? "same" : senseOf(from + part / 2);
    const tall = Math.max(LEAST.bar, (height * n) / top);
    return svg(
      "rect",
      {class: sense, x: place * wide + 0.5, y: height - tall, width: wide - 1, height: tall, rx: 1},
      svg("title", null, say.bar(n, number(from, unit), number(from + part, unit))),
    );
  });
}

/** @param {number} step @param {number} top @param {{width: number, height: number}} inner */
function countAxis(step, top, {width, height}) {
  return Array.from({length: top / step + 1}, (_, place) => place * step).map(n => {
    const y = height - (height * n) / top;
    const label = n === top ? svg("text", {class: "unit", x: -marginLeft(), y: y - 13}, say.queries) : null;
    return [label, svg("path", {class: "grid", d: `M0 ${y}H${width}`}), svg("text", {x: -6, y: y + 4, "text-anchor": "end"}, whole(n))];
  });
}

/** @param {number} low @param {number} high @param {{width: number, height: number}} inner */
function valueAxis(low, high, {width, height}) {
  const {places, digits} = ticks(low, high, width / LEAST.values);
  return places.map(value => {
    const x = (width * (value - low)) / (high - low);
    const text = `${chosen.b !== null && value > 0 ? "+" : ""}${value === 0 ? "0" : fixed(value, digits)}`;
    return [svg("path", {class: "base", d: `M${x} ${height}v4`}), svg("text", {x, y: height + 16, "text-anchor": "middle"}, text)];
  });
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
    const place = ((event.clientX - box.left) * drawing.viewBox.baseVal.width) / box.width - marginLeft();
    return found.low + Math.min(Math.max(place / found.width, 0), 1) * (found.high - found.low);
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
