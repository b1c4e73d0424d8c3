// The words of this task on the page.

import {counted, pick} from "../../reporting/page/assets/words.js";

export const say = {
  /** @type {Record<string, string>} */
  reasons: {below_threshold: "below the threshold", unannotated: "not annotated", query_itself: "the query itself"},
  first: {title: "Where is the first right clip?", name: "first right", absent: "not retrieved"},
  failsMost: "Which keyword fails most",
  /** @param {number} n */
  caption: n => `Keywords of the first ${n === 1 ? "result" : counted(n, "result")}`,
  keyword: "Keyword",
  missing: "Missing",
  signs: {found: "found", missing: "missing", unknown: "not annotated"},
  /** @param {string} label @param {string} state @param {number} rank */
  slot: (label, state, rank) => `${label}: ${state}, rank ${rank}`,
  /** @param {string} group @param {string} label */
  inGroup: (group, label) => `${group}: ${label}`,
  /** @param {number} some @param {number} n */
  of: (some, n) => `${some} of ${n}`,
  lacks: "lacks ",
  carries: "has ",
  /** @param {number} n */
  excluded: n => pick(n, ", which is excluded", ", which are excluded"),
  and: " and ",
  complete: "nothing is missing",
  /** @param {number} lacks @param {number} n */
  each: (lacks, n) => `each is missing in ${lacks} of ${n}`,
  /** @param {number} same @param {number} lacks @param {number} n */
  several: (same, lacks, n) => `${counted(same, "keyword")} ${pick(same, "is", "are")} missing in ${lacks} of ${n}`,
  /** @param {number} lacks @param {number} n */
  alone: (lacks, n) => ` is missing in ${lacks} of ${n}`,
};
