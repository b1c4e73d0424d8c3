// Vega-Lite charts in the page's own colours. These are variables of the stylesheet, so that a theme, or paper, needs no drawing.

import {data} from "./data.js";
import {$, el, readable} from "./dom.js";
import {say} from "./words.js";

// The colours of rankwell's charts, and the page's variables for them.
/** @type {Record<string, string>} */
const PAINTS = {
  "#1c2733": "ink",
  "#5b6773": "quiet",
  "#e6eaee": "line",
  "#1f6fb2": "accent",
  "#d5672a": "bad",
  "#2e8b6f": "good",
  "#8d5aa8": "violet",
  "#b58a14": "ochre",
  "#b0446a": "rose",
  "#3a3f8f": "indigo",
  white: "ground",
  "#ffffff": "ground",
};
const SERIES = ["accent", "bad", "good", "violet", "ochre", "rose", "indigo", "quiet"];
// Widths of a panel's plot: least in a column of its own, least beside others, most.
const PLOT = {alone: 110, beside: 180, most: 640};
// Longest label of an axis, and of a legend, in pixels; least where there is no room for it.
const LABELS = {axis: 220, legend: 260, text: 0, least: 60};
// Width of a character of a legend on average, and of a symbol with what is around it.
const LEGEND = {character: 7, symbol: 40};
// Below this width the title of a panel begins above its labels, for it needs their room.
const NARROW = 480;
const drawnCharts = new Map();
let begun = 0;

/** Draws the charts one after the other, so that the page answers in between; a later call takes the place of an earlier one. */
export async function drawCharts() {
  begun += 1;
  const mine = begun;
  for (const view of drawnCharts.values()) view.finalize();
  drawnCharts.clear();
  for (const each of data.charts ?? []) {
    await new Promise(done => setTimeout(done));
    /** @type {HTMLElement | null} */
    const place = document.querySelector(`[data-chart="${CSS.escape(each.id)}"]`);
    if (mine !== begun || !place) return;
    await drawChart(each, place);
  }
}

/**
 * Draws a chart with as many panels side by side as there is room for.
 * @param {Chart} each
 * @param {HTMLElement} place
 */
async function drawChart(each, place) {
  const painted = withLegends(paint(each.spec), place.clientWidth);
  const panels = painted.concat ?? [];
  place.closest(".card")?.classList.toggle("broad", panels.length > 0);
  try {
    await drawPanels(each.id, place, painted, panels);
    place.querySelector("svg")?.setAttribute("aria-label", `${each.title}. ${each.note ?? ""}`);
  } catch (problem) {
    place.replaceChildren(el("p", {class: "quiet"}, say.chartProblem(problem instanceof Error ? problem.message : String(problem))));
  }
}

/**
 * As many panels side by side as have room, each as wide as the room allows; a chart without panels as it is. Where the narrowest
 * plot leaves too little room, names are cut, and what is still too wide is drawn smaller.
 * @param {string} id
 * @param {HTMLElement} place
 * @param {any} spec
 * @param {any[]} panels
 */
async function drawPanels(id, place, spec, panels) {
  const least = Math.min(...panels.map(panel => panel.width));
  /** @param {number} columns @param {number} by @param {boolean} [cut] */
  const show = async (columns, by, cut = false) => {
    drawnCharts.get(id)?.finalize();
    const wider = panels.map(panel => widened(panel, panel.width, by));
    const whole = panels.length ? {...spec, columns, concat: wider} : spec;
    drawnCharts.set(id, (await embed(place, whole, {plot: panels.length ? least + by : PLOT.most, room: place.clientWidth, cut})).view);
    return Math.floor((place.clientWidth - (place.querySelector("svg")?.getBoundingClientRect().width ?? 0)) / columns);
  };
  for (let columns = Math.max(1, Math.min(spec.columns ?? panels.length, panels.length)); ; columns -= 1) {
    const spare = await show(columns, 0);
    if (!panels.length) return shrink(place);
    if (columns > 1 && least + spare < PLOT.beside) continue;
    const by = Math.min(Math.max(spare, PLOT.alone - least), Math.max(0, PLOT.most - least));
    const left = by ? await show(columns, by) : 0;
    if (left >= 0) return;
    if (columns > 1) continue;
    // A narrower plot may have a wider label at its edge.
    if ((await show(columns, Math.max(by + left, PLOT.alone - least))) < 0) await show(columns, PLOT.alone - least, true);
    return shrink(place);
  }
}

/**
 * Scales a chart that is wider than its place to the width of it.
 * @param {HTMLElement} place
 */
function shrink(place) {
  const drawn = place.querySelector("svg");
  if (!drawn || drawn.getBoundingClientRect().width <= place.clientWidth) return;
  drawn.setAttribute("width", "100%");
  drawn.removeAttribute("height");
}

/**
 * A copy of a specification in which `change` replaces each piece, from the inside out; data stay as they are.
 * @param {any} value
 * @param {(piece: any, name: string) => any} change
 * @param {string} [name]
 * @returns {any}
 */
function changed(value, change, name = "") {
  if (name === "values" || name === "datasets") return value;
  if (Array.isArray(value)) return value.map(each => changed(each, change));
  if (value === null || typeof value !== "object") return change(value, name);
  return change(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, changed(inner, change, key)])), name);
}

/**
 * A panel with a plot so much wider; what stands at its right edge, or beyond, moves with the edge.
 * @param {any} panel
 * @param {number} width
 * @param {number} by
 */
function widened(panel, width, by) {
  return changed(panel, (piece, name) => ((name === "width" && piece === width) || (name === "value" && piece >= width) ? piece + by : piece));
}

/**
 * A specification whose legends have as many columns as the room holds, by the longest of their names.
 * @param {any} spec
 * @param {number} room
 */
function withLegends(spec, room) {
  return changed(spec, piece => {
    const names = piece?.scale?.domain;
    if (!piece?.legend || !Array.isArray(names)) return piece;
    const column = Math.max(...names.map(name => String(name).length)) * LEGEND.character + LEGEND.symbol;
    const {columns = names.length, labelLimit = LABELS.legend} = piece.legend;
    const fit = Math.max(1, Math.min(columns, Math.floor(room / column)));
    return {...piece, legend: {...piece.legend, columns: fit, labelLimit: Math.min(labelLimit, room - LEGEND.symbol)}};
  });
}

/** @param {HTMLElement} place @param {any} spec @param {ChartRoom} room */
function embed(place, spec, room) {
  return window.vegaEmbed(place, spec, {
    mode: "vega-lite",
    renderer: "svg",
    ast: true,
    actions: false,
    defaultStyle: false,
    hover: false,
    tooltip: showTip,
    config: chartConfig(room),
  });
}

/** A specification with the colours of the theme in the place of rankwell's own. @param {any} spec */
function paint(spec) {
  return changed(spec, piece => (typeof piece === "string" && Object.hasOwn(PAINTS, piece) ? `var(--${PAINTS[piece]})` : piece));
}

/**
 * plot: width of the plots, and room: of the whole chart, in pixels, which limit their titles. cut: whether names are cut to what
 * the room leaves beside the plot, with the end of those on both sides of it, where their figures are.
 * @param {ChartRoom} room
 */
function chartConfig({plot, room, cut}) {
  const beside = Math.max(LABELS.least, room - plot - 64);
  const limits = cut ? {axis: beside, text: Math.max(LABELS.least, (room - plot) / 2 - 14)} : LABELS;
  const [ink, quiet, line] = ["var(--ink)", "var(--quiet)", "var(--line)"];
  const small = {labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal"};
  return {
    background: null,
    padding: {left: 2, top: 4, right: 8, bottom: 2},
    font: getComputedStyle(document.body).fontFamily,
    view: {stroke: null},
    range: {category: SERIES.map(name => `var(--${name})`)},
    mark: {color: "var(--accent)"},
    axis: {...small, labelColor: quiet, titleColor: quiet, gridColor: line, domain: false, ticks: false, labelPadding: 6},
    axisY: {labelColor: ink, labelFontSize: 12, labelLimit: limits.axis, labelPadding: 8},
    axisQuantitative: {labelColor: quiet, labelFontSize: 11, labelOverlap: "greedy", labelSeparation: 6},
    legend: {labelColor: ink, titleColor: quiet, labelFontSize: 12, orient: "top", title: null, labelLimit: LABELS.legend},
    header: {labelColor: ink, labelFontSize: 12, title: null},
    title: {
      anchor: "start",
      frame: room < NARROW ? "bounds" : "group",
      limit: room < NARROW ? room - 8 : plot + 40,
      color: ink,
      fontSize: 13,
      fontWeight: 600,
      offset: 10,
      subtitleColor: quiet,
      subtitleFontSize: 12,
      subtitlePadding: 4,
    },
    text: {color: ink, ...(cut ? {limit: limits.text} : {})},
    rule: {color: quiet},
  };
}

/**
 * The tooltip of a chart, as text.
 * @param {unknown} _
 * @param {MouseEvent} event
 * @param {unknown} __
 * @param {any} value
 */
function showTip(_, event, __, value) {
  const tip = $("tip");
  if (value === null || value === undefined || value === "") {
    tip.hidden = true;
    return;
  }
  const lines = typeof value === "object" ? Object.entries(value) : [[null, value]];
  tip.replaceChildren(
    el(
      "dl",
      null,
      lines.map(([name, text]) => [name === null ? null : el("dt", null, readable(name)), el("dd", null, readable(text))]),
    ),
  );
  tip.hidden = false;
  const {width, height} = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
  tip.style.top = `${event.clientY + 16 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 16}px`;
}
