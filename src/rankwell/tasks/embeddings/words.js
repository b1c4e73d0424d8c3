// The words of this task on the page.

import {pick} from "../../reporting/page/assets/words.js";

export const say = {
  first: {title: "How many of the reference's neighbours are kept?", name: "", absent: ""},
  kinds: {kept: "counted, and found", lost: "counted, not found", other: "found, not counted"},
  /** @param {string | null} cut @param {string | null} next @param {string} margin */
  gap: (cut, next, margin) => `The reference's ${cut ? `${cut} and ${next}` : "last counted item and the next"} are ${margin} apart`,
  stop: ".",
  /** @param {number} n @param {string} shown @param {number} tolerance @param {string | null} cut */
  near: (n, shown, tolerance, cut) =>
    `, and ${n === 0 ? "no other item lies" : `${shown} other ${pick(n, "item lies", "items lie")}`} within ${tolerance} of the ${cut ?? "former"}`,
  colon: ": ",
  chance: "which of them count is close to chance.",
  axis: "similarity to the query under the reference",
  /** @param {string | null} cut @param {string} edge */
  line: (cut, edge) => `; the line is its ${cut ?? "last counted item"}, ${edge}`,
  /** @param {number} n @param {string} kind */
  count: (n, kind) => `${n} ${kind}`,
  /** @param {string} item @param {string} similar @param {string} kind */
  dot: (item, similar, kind) => `${item}: ${similar}, ${kind}`,
  beyond: "beyond what the reference lists",
  reference: "reference ",
  notListed: "Not in the list of the reference",
  similarity: "Similarity under the reference",
  marginTitle: "Similarity under the reference minus that of the last item it counts",
  margin: "margin ",
  /** @param {number} tolerance */
  within: tolerance => `Within ${tolerance} of what counts`,
  asGood: "as good as counted",
};
