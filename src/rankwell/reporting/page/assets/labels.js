// Runs, measures and items as the reader sees them.

import {chosen, START} from "./chosen.js";
import {data, queries, ruleOf} from "./data.js";
import {el, visible} from "./dom.js";
import {brief} from "./numbers.js";
import {say} from "./words.js";

/**
 * An interval in short, with its level; null where there is none.
 * @param {{low: number | null, high: number | null}} row
 * @param {string | undefined} unit
 */
export function confidence({low, high}, unit) {
  const level = Number((100 * Number(ruleOf("level") ?? 0.95)).toFixed(4));
  return low === null ? null : say.confidence(level, brief(low, unit), brief(high, unit));
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
 * A name that may be broken after its marks, and nowhere inside a word or before the ending of a file.
 * @param {string} name
 */
export function broken(name) {
  return visible(name).split(/(?<=[_(,=./-])(?!\w{1,4}$)/).flatMap((part, place) => (place ? [el("wbr"), part] : [part]));
}

/** The label of a measure with its part. @param {Measure} measure */
export function shortName({label, of}) {
  return of ? `${label}, ${of}` : label;
}

/** The same with the exact name as its title. @param {Measure} measure */
export function measureNodes(measure) {
  return el("span", {dir: "auto", title: visible(measure.name)}, broken(shortName(measure)));
}

const PICTURE = /^data:image\/(png|jpeg|webp|gif);|^(?!\/\/)[^:]*$/;

/**
 * The picture of an item, null where it has none; its name stands beside it. size in pixels, of its longer side.
 * @param {Item} item
 * @param {number} size
 */
export function picture(item, size) {
  const source = data.items.thumbnail[item];
  if (!source || !PICTURE.test(source)) return null;
  return el("img", {
    class: "picture",
    src: source,
    alt: "",
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
