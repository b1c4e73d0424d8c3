// Runs, measures and items as the reader sees them.

import {chosen, START} from "./chosen.js";
import {data, measures, queries, ruleOf} from "./data.js";
import {el, visible} from "./dom.js";
import {say} from "./words.js";

export function intervalName() {
  return say.interval(Number((100 * Number(ruleOf("level") ?? 0.95)).toFixed(4)));
}

/** @param {Run} run */
export function runTag(run) {
  if (START.b === null) return null;
  if (run === chosen.a) return el("span", {class: "tag a"}, "A");
  return run === chosen.b ? el("span", {class: "tag b"}, "B") : null;
}

/**
 * The label of a measure, its exact name where that differs, and the part of the queries that it covers.
 * @param {Measure} measure
 */
export function measureName({label, name, of}) {
  const word = label === name ? name : `${label} = ${name}`;
  return of ? `${word}, ${of}` : word;
}

/**
 * A name that may be broken after its marks, and nowhere inside a word.
 * @param {string} name
 */
export function broken(name) {
  return visible(name).split(/(?<=[_(,=./-])/).flatMap((part, place) => (place ? [el("wbr"), part] : [part]));
}

/**
 * The label of a measure, and below it its exact name where that differs.
 * @param {Measure} measure
 */
export function measureNodes({label, name, of}) {
  return [
    el("span", {dir: "auto"}, broken(of ? `${label}, ${of}` : label)),
    label === name ? null : el("span", {class: "exact", dir: "auto"}, broken(name)),
  ];
}

/**
 * The label of a measure, with its exact name where another measure has the same label.
 * @param {Measure} measure
 */
export function shortName(measure) {
  const alike = measures.filter(each => each.label === measure.label && each.of === measure.of);
  return alike.length > 1 ? measureName(measure) : measure.of ? `${measure.label}, ${measure.of}` : measure.label;
}

const PICTURE = /^data:image\/(png|jpeg|webp|gif);|^(?!\/\/)[^:]*$/;

/**
 * The picture of an item, null where it has none; size in pixels, of its longer side.
 * @param {Item} item
 * @param {number} size
 */
export function picture(item, size) {
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

/**
 * The picture of a query, null where it has none.
 * @param {Query} query
 * @param {number} size
 */
export function pictureOf(query, size) {
  const item = queries.picture?.[query] ?? null;
  return item === null ? null : picture(item, size);
}
