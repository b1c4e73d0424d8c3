// The words of this task on the page.

import {pick} from "../../reporting/page/assets/words.js";

export const say = {
  settingsPart: "Settings",
  settingsNote: "Means over queries and percentiles of requests, with their intervals. Parameters that all settings share are named once.",
  settingsCaption: "Settings with their parameters, figures and choices",
  setting: "Setting",
  choice: "Choice",
  /** @type {Record<string, [string, string]>} */
  choices: {
    cheapest: ["cheapest", "The cheapest setting that reaches the target recall, or is as good as the best"],
    accepted: ["reaches recall", "Its lower confidence bound is above the target recall"],
    best: ["as good", "Indistinguishable from the best by all pairs"],
    baseline: ["default", "The engine's own parameters, or the first setting"],
  },
  lists: "Its lists, query by query",
  noParameter: "This engine does not have the parameter",
  /** @param {string} share */
  others: share => `others ${share}`,
  othersTitle: "Processor time of other processes meanwhile, as a share of one processor; they may have slowed the engine",
  unanswered: "Queries without an answer",
  /** @param {number} n @param {number} shown */
  unansweredNote: (n, shown) => `${n} ${pick(n, "request", "requests")}${shown < n ? `, the first ${shown}` : ""}; queries without any answer count as empty.`,
  query: "Query",
  round: "Round",
  status: "Status",
  message: "Message",
  /** @param {string} time */
  time: time => `${time} ms`,
  /** @param {number} n */
  missing: n => `${n} exact ${pick(n, "result", "results")} missing`,
  /** @param {string} status @param {number} round @param {string | null} error */
  failed: (status, round, error) => `${status} in round ${round}${error ? `: ${error}` : ""}`,
};
