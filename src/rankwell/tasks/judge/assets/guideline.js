// The guideline: headings, lists, paragraphs and bold words of Markdown, as text and never as markup.

import {el} from "../../../reporting/page/assets/dom.js";

/** @param {string} text */
export function guideline(text) {
  return text.split(/\n\s*\n/).flatMap(block);
}

/** @param {string} text @returns {Node[]} */
function block(text) {
  const lines = text.split("\n").filter(line => line.trim());
  if (!lines.length) return [];
  const head = /^#{1,6}\s+(.*)/.exec(lines[0]);
  if (head) return [el("h3", {dir: "auto"}, spans(head[1])), ...block(lines.slice(1).join("\n"))];
  const first = lines.findIndex(line => /^\s*[-*]\s+/.test(line));
  if (first === 0) return [el("ul", null, points(lines).map(point => el("li", {dir: "auto"}, spans(point))))];
  const paragraph = el("p", {dir: "auto"}, spans((first === -1 ? lines : lines.slice(0, first)).join("\n")));
  return [paragraph, ...(first === -1 ? [] : block(lines.slice(first).join("\n")))];
}

/** The text with its bold words. @param {string} text */
function spans(text) {
  return text.split(/\*\*([^*\n]+)\*\*/).map((part, place) => (place % 2 ? el("strong", null, part) : part));
}

/** Points of a list; a line without a mark goes on with the point before. @param {string[]} lines */
function points(lines) {
  /** @type {string[]} */
  const found = [];
  for (const line of lines) {
    const point = /^\s*[-*]\s+(.*)/.exec(line);
    if (point) found.push(point[1]);
    else found[found.length - 1] += ` ${line.trim()}`;
  }
  return found;
}
