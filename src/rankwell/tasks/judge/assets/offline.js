// Judging without a server: the items are in the page, the judgments in this browser's database, on its disk before the page goes on.

import {$, el} from "../../../reporting/page/assets/dom.js";
import {database, linesOf, addLine} from "./database.js";
import {startJudging} from "./judging.js";
import {Outdated} from "./outdated.js";
import {say} from "./words.js";

/** Judgments between two downloads that the page starts by itself. */
const PER_DOWNLOAD = 25;
/** @type {OfflineBatch} */
const page = JSON.parse($("batch").textContent ?? "null");
/** @type {JudgingAsk[]} */
let asks = [];
let written = 0;

/** @param {JudgingAsk} ask @param {JournalEntry} line @param {number} number */
function applied(ask, line, number) {
  if (line.action === "postpone") ask.postponed = number;
  else if (line.action !== "note") ask.answer = line.grade ?? line.action ?? null;
  ask.note = line.note || ask.note;
}

/** The state by what the database holds. @returns {Promise<JudgingState>} */
async function open() {
  try {
    const lines = await linesOf(await database(page.identity));
    asks = page.asks.map(() => ({answer: null, postponed: 0, note: ""}));
    lines.forEach(({ask, line}, place) => applied(asks[ask], line, place + 1));
    written = lines.length;
  } catch {
    throw new Error(say.nothingKept);
  }
  return {...page.head, turn: 1, asks};
}

/** @param {number} _turn @param {number} ask @returns {Promise<ShownAsk>} */
async function item(_turn, ask) {
  const {query, content} = page.asks[ask];
  return {query: page.queries[query], item: content};
}

/** @param {JudgingAct} act */
async function write({ask, seen, grade, action, note, seconds}) {
  const {ids} = page.asks[ask];
  const [query, name, purpose] = ids;
  /** @type {JournalEntry} */
  const line = {
    time: new Date().toISOString(),
    judge: page.head.judge,
    query,
    item: name,
    ...(grade === undefined ? {action} : {grade}),
    note,
    seconds: Math.round(10 * seconds) / 10,
    place: written + 1,
    guideline: page.digest,
    ...(purpose ? {purpose} : {}),
    study: page.study,
  };
  const before = await addLine(await database(page.identity), {ask, line}, lines => {
    const now = {answer: null, postponed: 0, note: ""};
    lines.forEach((each, place) => applied(now, each.line, place + 1));
    return now.answer === seen;
  });
  if (before === null) throw new Outdated();
  written = before;
  const found = {...asks[ask]};
  applied(found, line, written);
  if (written % PER_DOWNLOAD === 0) await download();
  return found;
}

/** Saves all judgments as lines of the journal; the file is named anew each time, as browsers number equal names. */
async function download() {
  const lines = await linesOf(await database(page.identity));
  const text = lines.map(({line}) => `${JSON.stringify(line)}\n`).join("");
  const address = URL.createObjectURL(new Blob([text], {type: "application/jsonl"}));
  el("a", {href: address, download: `${page.file}-${lines.length}.jsonl`}).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

startJudging({open, item, act: write, next: null, download});
