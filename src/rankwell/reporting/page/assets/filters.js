// The column of filters, the chips of those in use, and the bar above the table.

import {choose} from "./address.js";
import {chosen, comparedRuns, filtersSet, measureFor, offered, START, withoutFilters, worstSide} from "./chosen.js";
import {allQueries, data, measures, queries, runs} from "./data.js";
import {$, button, el, icon, isolated, visible} from "./dom.js";
import {histogram} from "./histogram.js";
import {measureName} from "./labels.js";
import {tagCounts} from "./notes.js";
import {whole} from "./numbers.js";
import {ALPHABET, attributeOf, shownAttributes, shownFlags, STRUCTURED} from "./rows.js";
import {derivedNames} from "./slices.js";
import {attributeLabel} from "./views.js";
import {say} from "./words.js";

const SWAP = "M3 5.5h9.5M10 3l2.5 2.5L10 8M13 10.5H3.5M6 8l-2.5 2.5L6 13";
const FUNNEL = "M2 4h12M4.5 8h7M6.5 12h3";
const MOST_CHOICES = 40;

export function setUpBar() {
  $("measure").append(...offered.map(place => el("option", {value: place}, visible(measureName(measures[place])))));
  options($("run-a"), runs);
  options($("run-b"), runs);
  $("swap").append(icon(SWAP));
  for (const each of [$("swap"), labelOf($("run-b"))]) each.hidden = START.b === null;
  labelOf($("run-a")).hidden = runs.length === 1;
  $("measure").addEventListener("change", () =>
    choose({measure: Number($("measure").value), ranges: structuredClone(START.ranges)}),
  );
  $("run-a").addEventListener("change", () => chooseRun("a", Number($("run-a").value)));
  $("run-b").addEventListener("change", () => chooseRun("b", Number($("run-b").value)));
  $("swap").addEventListener("click", swapRuns);
  $("search").addEventListener("input", () => choose({search: $("search").value}));
  $("filters-open").addEventListener("click", () => toggleFilters());
  $("presets").append(...presets().map(([name, label, title]) => button(label, () => order(name), {"data-sort": name, title})));
}

/** @param {HTMLSelectElement} select @param {string[]} names */
export function options(select, names) {
  select.replaceChildren(...names.map((name, place) => el("option", {value: place}, visible(name))));
}

/**
 * The label around a control.
 * @param {Element} control
 * @returns {HTMLElement}
 */
function labelOf(control) {
  return /** @type {any} */ (control.closest("label"));
}

/** The orders offered: [name, label, title]. */
export function presets() {
  const single = START.b === null;
  return [
    ["worst", say.worst, single ? say.worstTitle : say.worstOf(worstSide().toUpperCase())],
    single ? null : ["loss", say.loss, say.lossTitle],
    single ? null : ["gain", say.gain, say.gainTitle],
    // Lists beside the page are not all here to be compared.
    single || data.parts || !Object.keys(data.lists).length
      ? null
      : ["apart", say.apart, say.apartTitle],
    queries.unjudged?.some(counts => counts.some(n => n > 0))
      ? ["unjudged", say.unjudged, say.unjudgedTitle]
      : null,
    ["random", say.random, say.randomTitle],
  ].filter(preset => preset !== null);
}

/**
 * Sorts by a preset; random chosen again takes the next seed.
 * @param {string} name
 */
export function order(name) {
  const again = name === "random" && chosen.sort === "random";
  choose({sort: name, reversed: false, seed: again ? chosen.seed + 1 : chosen.seed});
}

/**
 * Two different runs are compared: choosing the other's run swaps them.
 * @param {"a" | "b"} side
 * @param {Run} run
 */
export function chooseRun(side, run) {
  const other = side === "a" ? "b" : "a";
  const changes = {[side]: run, ranges: structuredClone(START.ranges)};
  if (chosen[other] === run) Object.assign(changes, {[other]: chosen[side]});
  choose(changes);
}

export function swapRuns() {
  if (chosen.b === null) return;
  const {a, b, delta} = chosen.ranges;
  const [low, high] = delta.map(value => (value === null ? null : -value));
  choose({a: chosen.b, b: chosen.a, ranges: {a: b, b: a, delta: [high, low]}});
}

/** @param {boolean} [open] */
export function toggleFilters(open = !$("queries").classList.contains("filtering")) {
  $("queries").classList.toggle("filtering", open);
  $("filters-open").setAttribute("aria-expanded", String(open));
  if (!open) return;
  drawFilters();
  /** @type {HTMLElement | null} */ ($("filters").querySelector("input, select, button"))?.focus({preventScroll: true});
}

export function drawBar() {
  $("measure").value = String(chosen.measure);
  $("run-a").value = String(chosen.a);
  $("run-b").value = String(chosen.b ?? "");
  if ($("search").value !== chosen.search) $("search").value = chosen.search;
  for (const preset of $("presets").querySelectorAll("button"))
    preset.setAttribute("aria-pressed", String(preset.dataset.sort === chosen.sort && !chosen.reversed));
  const set = filtersSet() - (chosen.search ? 1 : 0);
  $("filters-open").replaceChildren(icon(FUNNEL), say.filters, set ? el("span", {class: "badge"}, set) : "");
}

export function drawFilters() {
  const focused = document.activeElement?.id;
  const single = chosen.b === null;
  const unit = measures[chosen.measure]?.unit;
  $("filters").replaceChildren(
    ...[
      el(
        "div",
        {class: "filters-head"},
        el("h2", null, say.filters),
        button(say.clearAll, clearFilters, {class: "plain", disabled: filtersSet() === 0}),
        button(say.done, () => toggleFilters(false), {class: "plain done"}),
      ),
      block(single ? say.values : say.differences, histogram(Math.max(216, $("filters").clientWidth - 48), 120), single ? null : rangeFields("delta", say.difference)),
      single ? null : check("differ", say.onlyDiffering, chosen.differ, on => choose({differ: on})),
      block(
        `${visible(measures[chosen.measure].label)}${unit === "share" ? "" : `, ${unit}`}`,
        rangeFields("a", single ? say.value : "A"),
        single ? null : rangeFields("b", "B"),
      ),
      ...[...shownAttributes(), ...derivedNames(comparedRuns())].map(attributeField),
      anyOf("flags", say.flagsAnyOf, shownFlags().map(([flag, places]) => [flag, places.length, measureFor(places)])),
      anyOf("tags", say.tagsAnyOf, tagCounts().map(([tag, n]) => [tag, n, chosen.measure])),
    ].filter(node => node !== null),
  );
  if (focused) $(focused)?.focus({preventScroll: true});
}

export function clearFilters() {
  choose(withoutFilters());
}

/** @param {string} title @param {...Child} children */
function block(title, ...children) {
  return el("fieldset", null, el("legend", {dir: "auto"}, title), children);
}

/**
 * @param {string} id
 * @param {string} label
 * @param {boolean} on
 * @param {(on: boolean) => void} act
 * @param {number | null} [count]
 */
function check(id, label, on, act, count = null) {
  const box = el("input", {type: "checkbox", id, checked: on});
  box.addEventListener("change", () => act(box.checked));
  return el(
    "label",
    {class: "check", for: id},
    box,
    isolated("span", null, label),
    count === null ? null : el("span", {class: "quiet"}, whole(count)),
  );
}

/** @param {"a" | "b" | "delta"} name @param {string} label */
function rangeFields(name, label) {
  /** @param {0 | 1} place @param {string} end @param {string} word */
  const field = (place, end, word) => {
    const box = el("input", {
      type: "number",
      step: "any",
      id: `range-${name}-${end}`,
      value: chosen.ranges[name][place],
      placeholder: word,
      "aria-label": `${label}, ${word}`,
    });
    box.addEventListener("change", () => {
      /** @type {Interval} */
      const range = [...chosen.ranges[name]];
      range[place] = box.value === "" ? null : box.valueAsNumber;
      choose({ranges: {...chosen.ranges, [name]: range}});
    });
    return box;
  };
  return el(
    "div",
    {class: "range"},
    el("span", {class: "quiet"}, label),
    field(0, "from", say.from),
    el("span", {class: "quiet", "aria-hidden": "true"}, "–"),
    field(1, "to", say.to),
  );
}

/**
 * The choices of an attribute with few values; of one with many there is the search.
 * @param {string} name
 * @param {number} place
 */
function attributeField(name, place) {
  const counts = new Map();
  for (const query of allQueries) {
    const value = attributeOf(name, query);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  if (
    counts.size < 2 ||
    counts.size > MOST_CHOICES ||
    (counts.size > 8 && counts.size > allQueries.length / 2) ||
    [...counts.keys()].some(value => STRUCTURED.test(value))
  )
    return null;
  const id = `attribute-${place}`;
  const values = [...counts.keys()].sort(ALPHABET.compare);
  const select = el(
    "select",
    {id},
    el("option", {value: ""}, say.any),
    values.map((value, at) =>
      el(
        "option",
        {value: at + 1, selected: chosen.attributes[name] === value},
        `${value === "" ? say.none : visible(value)} (${whole(counts.get(value) ?? 0)})`,
      ),
    ),
  );
  select.addEventListener("change", () => {
    const attributes = withoutAttribute(name);
    if (select.value === "") return choose({attributes});
    const value = values[Number(select.value) - 1];
    const measure = measureFor(allQueries.filter(query => attributeOf(name, query) === value));
    return choose({attributes: {...attributes, [name]: value}, measure});
  });
  return el("div", {class: "attribute"}, isolated("label", {for: id}, attributeLabel(name)), select);
}

/**
 * Boxes of which any may be ticked: flags, or the reader's tags.
 * @param {"flags" | "tags"} name
 * @param {string} title
 * @param {[value: string, n: number, measure: MeasurePlace][]} values
 */
function anyOf(name, title, values) {
  if (!values.length) return null;
  return block(
    title,
    values.map(([value, n, measure], place) =>
      check(
        `${name.slice(0, -1)}-${place}`,
        value || say.anyNote,
        chosen[name].includes(value),
        on => choose(on ? {[name]: [...chosen[name], value], measure} : {[name]: without(name, value)}),
        n,
      ),
    ),
  );
}

/** @param {string} name */
function withoutAttribute(name) {
  const {[name]: _, ...others} = chosen.attributes;
  return others;
}

/** @param {"flags" | "tags"} name @param {string} value */
function without(name, value) {
  return chosen[name].filter(each => each !== value);
}

/** The filters in use as chips, each of which takes itself away. */
export function drawChips() {
  /** @type {HTMLElement[]} */
  const chips = [];
  /** @param {string} label @param {Partial<Choices>} changes */
  const chip = (label, changes) =>
    chips.push(
      el(
        "li",
        null,
        button([isolated("span", null, label), icon("M4.5 4.5l7 7M11.5 4.5l-7 7")], () => choose(changes), {
          class: "chip",
          "aria-label": say.removeFilter(visible(label)),
        }),
      ),
    );
  if (chosen.search) chip(`“${chosen.search}”`, {search: ""});
  if (chosen.differ) chip(say.differing, {differ: false});
  for (const [name, word] of /** @type {["a" | "b" | "delta", string][]} */ ([
    ["a", chosen.b === null ? say.aValue : "A"],
    ["b", "B"],
    ["delta", say.difference],
  ])) {
    const [low, high] = chosen.ranges[name];
    if (low === null && high === null) continue;
    chip(say.range(word, low, high), {ranges: {...chosen.ranges, [name]: [null, null]}});
  }
  for (const [name, value] of Object.entries(chosen.attributes)) {
    chip(`${attributeLabel(name)}: ${value || say.none}`, {attributes: withoutAttribute(name)});
  }
  for (const name of /** @type {const} */ (["flags", "tags"])) for (const value of chosen[name]) chip(value || say.anyNote, {[name]: without(name, value)});
  $("active").replaceChildren(...chips);
}
