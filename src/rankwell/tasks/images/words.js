// The words of this task on the page.

export const say = {
  /** @param {string} rank */
  rank: rank => `rank ${rank}`,
  /** @param {number} low @param {number} high */
  tied: (low, high) => `rank ${low} to ${high}, tied`,
  first: {title: "Where is the first right picture?", name: "first right", absent: "not retrieved"},
  noneRight: "no right one found",
  /** @param {number} n */
  of: n => ` of ${n}`,
  /** @param {string} rank */
  firstAt: rank => `first right one at ${rank}`,
  /** @param {number} found @param {number} n @param {number} among */
  near: (found, n, among) => ` · ${found} of ${n} right among the first ${among}`,
  firstRight: "first right",
};
