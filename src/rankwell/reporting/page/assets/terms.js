// The terms of a text: its words in any script, and those of a query marked in a snippet.

import {el, readable} from "./dom.js";

const SEGMENTS = new Intl.Segmenter(undefined, {granularity: "word"});
const COMMON = new Set(
  "a an and are as at be by do does for from had has have how i in is it its of on or that the this to was were what when where which who why will with".split(
    " ",
  ),
);

/**
 * Pieces of a text in order, [text, whether it is a word]; joined they are the text again.
 * @param {string} text
 * @returns {[string, boolean][]}
 */
export function pieces(text) {
  return Array.from(SEGMENTS.segment(text), each => [each.segment, each.isWordLike === true]);
}

/**
 * A word as it is compared: without case, width and accents.
 * @param {string} word
 */
export function folded(word) {
  return word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * The words of a text that are worth marking; all of them where every one is common.
 * @param {string | null | undefined} text
 */
export function words(text) {
  const every = pieces(text ?? "")
    .filter(([, isWord]) => isWord)
    .map(([piece]) => folded(piece));
  const distinctive = every.filter(word => !COMMON.has(word));
  return new Set(distinctive.length ? distinctive : every);
}

/**
 * A text as nodes, with the given words in <mark>.
 * @param {string} text
 * @param {Set<string>} terms
 */
export function marked(text, terms) {
  const nodes = [];
  let plain = "";
  for (const [piece, isWord] of pieces(readable(text))) {
    if (!isWord || !terms.has(folded(piece))) {
      plain += piece;
      continue;
    }
    if (plain) nodes.push(plain);
    nodes.push(el("mark", null, piece));
    plain = "";
  }
  if (plain) nodes.push(plain);
  return nodes;
}
