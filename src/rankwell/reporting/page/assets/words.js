// The words of the page: every sentence and label that its scripts and its frame show, and the plural forms.

import {number, whole} from "./numbers.js";

const PLURALS = new Intl.PluralRules("en");
/** @type {Record<"query" | "id" | "rank" | "run" | "result" | "keyword", {one: string, other: string}>} */
const NOUNS = {
  query: {one: "query", other: "queries"},
  id: {one: "id", other: "ids"},
  rank: {one: "rank", other: "ranks"},
  run: {one: "run", other: "runs"},
  result: {one: "result", other: "results"},
  keyword: {one: "keyword", other: "keywords"},
};

/**
 * The form that stands with a number: the singular with 1.
 * @param {number} n
 * @param {string} one
 * @param {string} other
 */
export function pick(n, one, other) {
  return PLURALS.select(n) === "one" ? one : other;
}

/**
 * A number with its noun in the right form: 1 query, 2 queries.
 * @param {number} n
 * @param {keyof typeof NOUNS} noun
 */
export function counted(n, noun) {
  const forms = NOUNS[noun];
  return `${whole(n)} ${pick(n, forms.one, forms.other)}`;
}

/** Queries as a word in a sentence. */
const queries = () => NOUNS.query.other;

/**
 * A range of numbers, one number where both ends are the same.
 * @param {number} low
 * @param {number} high
 */
function between(low, high) {
  const [from, to] = [low, high].map(value => (Number.isInteger(value) ? whole(value) : String(Number(value.toPrecision(3))).replace("-", "−")));
  return from === to ? from : `${from}–${to}`;
}

/** @param {string} word */
export function capital(word) {
  return `${word[0].toUpperCase()}${word.slice(1)}`;
}

/**
 * Gives queries the name that the task has for them, in every word of the page; before anything is drawn.
 * @param {string} one
 * @param {string} other
 */
export function renameQueries(one, other) {
  NOUNS.query = {one, other};
  /** @param {string} text */
  const renamed = text =>
    text.replace(/\bquer(y|ies)\b/gi, (word, end) => {
      const name = end === "y" ? one : other;
      return word[0] === "Q" ? capital(name) : name;
    });
  /** @param {Record<string, any>} words */
  const inside = words => {
    for (const [name, each] of Object.entries(words)) {
      if (typeof each === "string") words[name] = renamed(each);
      else if (typeof each === "object" && each !== null) inside(each);
    }
  };
  [say, KEYS, SIGNS].forEach(inside);
}

export const say = {
  // The frame, page.html.
  skip: "Skip to the content",
  partsOfPage: "Parts of this page",
  overview: "Overview",
  queriesView: "Queries",
  changeTheme: "Change the theme (t)",
  keysAndHelp: "Keys and help (?)",
  comparedBar: "What is compared",
  measure: "Measure",
  runA: "Run A",
  runB: "Run B",
  swap: "Swap A and B (x)",
  order: "Order",
  searchLabel: "Search in ids and texts of queries",
  searchHint: "Search queries",
  filters: "Filters",
  tableOfQueries: "Table of queries",
  filtersInUse: "Filters in use",
  copyIds: "Copy ids",
  csv: "CSV",
  saveCsv: "Download the queries shown as CSV",
  jsonl: "JSONL",
  saveJsonl: "Download the queries shown as JSON Lines",
  notes: "Notes",
  saveNotes: "Download your notes and tags on all queries as CSV",
  printed: "The first 500 are printed.",

  // Names that stand in several places.
  query: "Query",
  text: "Text",
  value: "Value",
  values: "Values",
  difference: "B − A",
  unjudged: "Unjudged",
  rank: "Rank",
  grade: "Grade",
  item: "Item",
  run: "Run",
  close: "Close",
  closeTitle: "Close (Esc)",
  none: "none",
  any: "any",
  from: "from",
  to: "to",
  states: {relevant: "relevant", nonrelevant: "not relevant", unjudged: "unjudged", junk: "junk"},
  /** @param {number} n */
  showAll: n => `Show all ${whole(n)}`,
  /** @param {number} n */
  more: n => `${whole(n)} more`,
  /** @param {string} label @param {string} key */
  withKey: (label, key) => `${label} (${key})`,
  /** @param {number} place @param {number} n */
  placeOf: (place, n) => `${whole(place)} of ${whole(n)}`,
  /** @param {number} share */
  share: share => `${number(100 * share, "percent")} %`,

  // Reasons of missing figures.
  noValue: "No value: this query is not counted in this run",
  noDifference: "A or B has no value for this query",
  noMean: "No value: this run does not have this measure",
  noInterval: "No interval was computed",
  notTested: "Not tested",
  noBalance: "Values of single queries are not compared",
  noQuery: "This run does not have the query",
  noGrade: "No grade",
  noText: "No text of its own",
  noRelevantCount: "The number of relevant items is not known",
  noFirst: "No relevant item was retrieved",
  noOverlap: "The lists of this query are not in the page",
  noJudgments: "Results are not judged",

  // The overview.
  /** @param {string} mean @param {string} other @param {string} run */
  against: (mean, other, run) => `${mean} against ${other} for ${run}`,
  /** @param {number} level @param {string} low @param {string} high */
  confidence: (level, low, high) => `${level}\u00a0% CI [${low}, ${high}]`,
  /** @param {string} p */
  pValue: p => `p ${p.startsWith("<") ? p : `= ${p}`}`.replaceAll(" ", "\u00a0"),
  /** @param {DifferenceRow} row */
  outcomes: ({better, equal, worse}) => `${whole(better ?? 0)} better, ${whole(equal ?? 0)} equal, ${whole(worse ?? 0)} worse`,
  /** @param {"chance" | "ceiling"} level @param {string} value */
  levelOf: (level, value) => `${level} ${value}`,
  /** @param {number} n */
  overQueries: n => counted(n, "query"),
  /** @param {number} all @param {number} n */
  counted: (all, n) => (all === n ? `${counted(all, "query")}, all counted` : `${counted(all, "query")}, ${whole(n)} counted`),
  findings: "Findings",
  findingLevels: {error: "error", warning: "warning"},
  /** @param {string} name @param {number} n @param {number} ofRuns */
  chip: (name, n, ofRuns) => (n ? `${name}: ${counted(n, "query")}` : ofRuns > 1 ? `${name}: ${counted(ofRuns, "run")}` : name),
  /** @param {number} n */
  itsQueries: n => `See ${n === 1 ? `the ${NOUNS.query.one}` : `the ${whole(n)} ${queries()}`}`,
  /** @param {number} rest */
  methodAnd: rest => `How this was measured, ${whole(rest)} more ${pick(rest, "finding", "findings")}`,
  firstRelevantTitle: "Where is the first relevant document?",
  firstRelevant: "first relevant",
  rankBands: ["rank 1", "ranks 2–5", "ranks 6–10", "ranks 11–100", "beyond rank 100", "not retrieved", "nothing relevant known"],
  shareBands: ["all", "three quarters or more", "half or more", "a quarter or more", "less", "none"],
  /** @param {string} name @param {string} run */
  inRun: (name, run) => `${name} in ${run}`,
  bandHint: "A band leads to its queries.",
  /** @param {number} n @param {string} label @param {string} run */
  band: (n, label, run) => `${counted(n, "query")}, ${label}: ${run}`,
  /** @param {string} run */
  fails: run => `Where ${run} fails`,
  it: "it",
  /** @param {string} run */
  worstOfRun: run => `Where ${run} is worst`,
  /** @param {number} n @param {number} all */
  failedOf: (n, all) => `${whole(n)} of ${whole(all)} fail`,
  /** @param {number} n @param {number} all @param {number} near */
  failedNear: (n, all, near) => {
    if (near === 1) return n ? `${whole(n)} of ${whole(all)} have no relevant result first` : `all ${whole(all)} have a relevant result first`;
    return n ? `${whole(n)} of ${whole(all)} have nothing relevant in the top ${near}` : `all ${whole(all)} have something relevant in the top ${near}`;
  },
  /** @param {number} rank */
  firstAt: rank => `first relevant at ${whole(rank)}`,
  rankedFirst: " ranked 1",
  takenFor: "taken for ",
  allWorst: "All queries, worst first",
  /** @param {number} n */
  allFailures: n => `All ${whole(n)} failures`,
  outcome: "outcome",
  /** @param {number} near @param {string} run */
  top: (near, run) => `top ${near}${run && ` of ${run}`}`,
  /** @param {boolean | null} is */
  failure: is => (is === null ? null : is ? "fails" : "succeeds"),
  /** @param {string} run */
  losses: run => `What you would lose by switching to ${run}`,
  /** @param {number} n */
  getWorse: n => `${counted(n, "query")} ${pick(n, "gets", "get")} worse`,
  /** @param {number} n */
  allLosses: n => (n === 1 ? "The loss, side by side" : `All ${whole(n)} losses, side by side`),
  scores: "Scores",
  scrolls: "Table, scrolls sideways",
  /** @param {string} sd @param {number} n */
  spread: (sd, n) => `sd ${sd}, ${counted(n, "query")}`,
  /** @param {string} run @param {string} measure */
  behind: (run, measure) => `${measure} less that of ${run}`,
  reference: "what the others are compared with",
  ofMeans: "(mean)",
  adjustedP: "adjusted p",
  p: "p",
  balanceHeading: "Better, equal, worse",
  /** @param {DifferenceRow} row @param {string} a @param {string} b */
  balance: ({better, equal, worse}, a, b) =>
    `${b} is better than ${a} for ${counted(better ?? 0, "query")}, equal for ${whole(equal ?? 0)}, worse for ${whole(worse ?? 0)}`,
  slices: "By kind of query",
  /** @param {string} measure */
  slicesNote: measure => `Means of ${measure}. A kind leads to its ${queries()}.`,
  slice: "Kind",
  length: "query length",
  /** @param {number} low @param {number} high */
  lengthRange: (low, high) => `${between(low, high)} ${pick(high, "word", "words")}`,
  relevantCount: "number of relevant items",
  /** @param {number} low @param {number} high */
  relevantRange: (low, high) => `${between(low, high)} relevant`,
  /** @param {string} name */
  rangeOf: name => `range of ${name.replaceAll("_", " ")}`,
  /** @param {string} name */
  plainRange: name => (/** @type {number} */ low, /** @type {number} */ high) => `${name.replaceAll("_", " ")} ${between(low, high)}`,
  groups: "Groups",
  groupsNote: "What holds within a part of the queries.",
  groupsCaption: "Verdicts by group",
  group: "Group",
  verdict: "Verdict",
  fewQueries: "few queries",
  /** @param {string} problem */
  chartProblem: problem => `This chart cannot be drawn: ${problem}`,
  /** @param {string} measure */
  valuesTitle: measure => `${measure}, ${NOUNS.query.one} by ${NOUNS.query.one}`,
  /** @param {string} measure */
  spreadTitle: measure => `B − A, ${NOUNS.query.one} by ${NOUNS.query.one}, in ${measure}`,
  /** @param {boolean} isFiltered */
  spreadNote: isFiltered => `Number of ${queries()}${isFiltered ? " that pass the filters" : ""} in each range. Drag over a range to see them.`,
  queries: "queries",
  histogram: "Histogram; the same range can be typed into the filters",
  /** @param {number} n @param {string} low @param {string} high */
  bar: (n, low, high) => `${counted(n, "query")} from ${low} to ${high}`,

  // The view of the method.
  method: "Method",
  provenance: "How this was measured",
  rules: "Rules",
  measures: "Measures",
  inputs: "Inputs",
  queriesWithLists: "Queries with lists",
  software: "Software",
  licences: "Licences of the software in this page",
  /** @param {string} tool */
  madeBy: tool => `Made by ${tool}. This page needs no network.`,

  // Orders and filters.
  worst: "Worst",
  worstTitle: "Worst value first",
  /** @param {string} run */
  worstOf: run => `Worst value of ${run} first`,
  loss: "Biggest loss",
  lossTitle: "Where B is furthest behind A",
  gain: "Biggest gain",
  gainTitle: "Where B is furthest ahead of A",
  apart: "Lists differ",
  apartTitle: "Where A and B list the most different results",
  unjudgedTitle: "Where most of the first 10 results are unjudged",
  random: "Random",
  randomTitle: "A random order; press again for another seed",
  clearAll: "Clear all",
  clearAllFilters: "Clear all filters",
  done: "Done",
  differences: "Difference B − A",
  onlyDiffering: "Only where A and B differ",
  differing: "A and B differ",
  aValue: "value",
  flagsAnyOf: "Flags, any of",
  tagsAnyOf: "Your tags, any of",
  anyNote: "a note",
  /** @param {string} filter */
  removeFilter: filter => `Remove the filter ${filter}`,
  /** @param {string} name @param {number | null} low @param {number | null} high */
  range: (name, low, high) => (low === null ? `${name} ≤ ${high}` : high === null ? `${name} ≥ ${low}` : `${name} from ${low} to ${high}`),
  nonePasses: "No query passes these filters",
  takeAway: "Take one away, or all of them.",
  noQueries: "No queries",
  collectionOnly: "This result has figures of the whole collection only.",

  // The table of queries.
  queryId: "Query id",
  textOfQuery: "Text of the query",
  differenceTitle: "B minus A; the bar is its part of the largest difference",
  /** @param {"A" | "B" | null} side */
  relevantOf: side => (side === null ? "Relevant" : `Relevant ${side}`),
  relevantTitle: "Number of relevant items",
  first: "First",
  /** @param {string} run */
  firstOf: run => `First ${run}`,
  firstTitle: "Rank of the first relevant item",
  overlap: "Overlap",
  overlapTitle: "Rank-biased overlap of the two lists, 1 where they are the same",
  unjudgedColumn: "Unjudged items among the first 10, of A and B together",
  flags: "Flags",
  flagsTitle: "What to be careful about",
  /** @param {string} every */
  ofAll: every => ` of ${every}`,
  /** @param {number} seed */
  seed: seed => `, seed ${seed}`,
  /** @param {string} a @param {string} b */
  pair: (a, b) => `A ${a}, B ${b}`,
  /** @param {string} measure @param {string} pair */
  tableCaption: (measure, pair) => `${capital(queries())} with their ${measure}: ${pair}`,
  /** @param {number} n @param {string} name */
  saved: (n, name) => `${counted(n, "query")} in ${name}`,
  cannotCopy: "This browser does not let a page copy; use the CSV",
  /** @param {number} n */
  idsCopied: n => `${counted(n, "id")} copied`,

  // A query.
  previousQuery: "Previous query",
  nextQuery: "Next query",
  notShown: "not among the queries shown",
  copyLink: "Copy link",
  linkCopied: "Link copied",
  loading: "Loading …",
  listsMissing: "The lists are not here",
  noLists: "No lists for this query",
  /** @param {string} file */
  partMissing: file => `The lists of this ${NOUNS.query.one} are in ${file}, which is not beside this page. Keep the folder and the page together.`,
  /** @param {string} measure */
  differenceIn: measure => `B − A in ${measure}`,
  allMeasures: "All measures",
  allMeasuresOfQuery: "All measures of this query",
  noteAndTags: "Note and tags",
  note: "Note",
  tags: "Tags",
  tagsHint: "separated by commas",
  notesKept: "Kept in this browser, for this page, and sent nowhere. The button Notes above the table downloads all of them.",
  notesNotKept: "This browser keeps nothing for this page: notes and tags last until it is closed. The button Notes above the table downloads them.",
  /** @param {string[]} tags @param {string} note */
  own: (tags, note) => [tags.length ? `Tags: ${tags.join(", ")}` : "", note.trim() ? `Note: ${note.trim()}` : ""].filter(Boolean).join(". "),
  relevantItems: "Relevant items",
  noRelevantItems: "No item is known to be relevant to this query.",
  relevantCaption: "Relevant items with their rank and score in each run",
  /** @param {string} run */
  rankInRun: run => `Rank in ${run}`,
  notRetrieved: "not retrieved",
  /** @param {number} n */
  firstResults: n => `First ${n}`,
  /** @param {string} run */
  runOfLists: run => `Run ${run} of these lists`,
  nothingRetrieved: "Nothing retrieved",
  noResults: "This run has no results for the query.",
  /** @param {number} grade */
  gradeOf: grade => `grade ${grade}`,
  lead: "Lead over the next result",
  tied: "tied",
  noPicture: "no picture",
  levels: {ceiling: "Ceiling", chance: "Chance", n: "Queries"},
  levelTitles: {ceiling: "The value of a perfect ranking", chance: "The expected value of a random ranking", n: "Number of queries counted"},
  noLevel: "Not known for this measure",
  failures: "Who fails where",
  failuresNote: "The first stage that failed a question, and why. A reason leads to its questions.",
  /** @param {number} n */
  alone: n => `${whole(n)} right alone`,
  aloneTitle: "Answered rightly from the right passage alone",
  /** @param {string} name @param {number} n */
  stage: (name, n) => `${name} ${whole(n)}`,
  bySort: "Order the queries by it",
  /** @param {number} n @param {string} run */
  notAmong: (n, run) => `Not among the first ${n} of ${run}`,
  /** @param {string} run */
  notRetrievedBy: run => `Not retrieved by ${run}`,
  /**
   * moved: number of ranks by which the item is higher in this list than in the other.
   * @param {number} rank
   * @param {string} run
   * @param {number} moved
   */
  rankIn: (rank, run, moved) =>
    `Rank ${rank} in ${run}, ${moved ? `${counted(Math.abs(moved), "rank")} ${moved > 0 ? "higher" : "lower"} here` : "as here"}`,

  // The theme and the window of keys.
  toLight: "Change to the light theme",
  toDark: "Change to the dark theme",
  keys: "Keys",
  signs: "Signs",
};

/** @type {[key: string, other: string | null, what: string][]} */
export const KEYS = [
  ["j", "k", "next and previous query; arrows too"],
  ["Enter", null, "open the query"],
  ["Esc", null, "close"],
  ["/", null, "search"],
  ["s", null, "next order: worst, biggest loss, and so on"],
  ["x", null, "swap A and B"],
  ["o", "q", "overview, queries"],
  ["m", null, "method"],
  ["t", null, "light or dark"],
  ["?", null, "this window"],
];

/** @type {Sign[]} */
export const SIGNS = [
  {sign: "–", meaning: "no value; point at it for the reason", needs: []},
  {sign: "B 9 ↑8", meaning: "rank 9 in B, 8 ranks higher in this list; ↓ is lower", needs: ["lists", "pair"]},
  {sign: "B > 20", meaning: "not among the first 20 results of B", needs: ["lists", "pair"]},
  {sign: "+0.0797", meaning: "below a score: the lead over the next result", needs: ["lists"]},
  {sign: "49 · 4 · 7", meaning: "queries in which B is better, equal, worse", needs: ["pair"]},
  {sign: "[0.1, 0.2]", meaning: "the interval of the mean or of the difference", needs: []},
  {sign: "0.5710", meaning: "in bold: the best of its measure", needs: ["pair"]},
];
