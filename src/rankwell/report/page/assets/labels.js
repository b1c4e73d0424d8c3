// Runs, measures and items as the reader sees them.

import {chosen, START} from "./chosen.js";
import {data, measures, ruleOf} from "./data.js";
import {el, said, visible} from "./dom.js";

export function intervalName() {
  return `${Number((100 * Number(ruleOf("level") ?? 0.95)).toFixed(4))} % interval`;
}

export function runTag(run) {
  if (START.b === null) return null;
  if (run === chosen.a) return el("span", {class: "tag a"}, "A");
  return run === chosen.b ? el("span", {class: "tag b"}, "B") : null;
}

/** The word for a measure, its exact name where that is another, and the part of the queries that it is of. */
export function measureName({label, name, of}) {
  const word = label === name ? name : `${label} = ${name}`;
  return of ? `${word}, ${of}` : word;
}

/** The word for a measure, and below it its exact name where that is another. */
export function measureNodes({label, name, of}) {
  return [
    said("span", null, of ? `${label}, ${of}` : label),
    label === name ? null : said("span", {class: "exact"}, name),
  ];
}

/** The word for a measure alone, where no other measure is called the same. */
export function shortName(measure) {
  const alike = measures.filter(each => each.label === measure.label && each.of === measure.of);
  return alike.length > 1 ? measureName(measure) : measure.of ? `${measure.label}, ${measure.of}` : measure.label;
}

const PICTURE = /^data:image\/(png|jpeg|webp|gif);|^(?!\/\/)[^:]*$/;

/** The picture of an item, null where it has none; size in pixels, of its longer side. */
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
