// Answers: the predicted and the right one, with the words and the letters that they share.

import {comparedRuns} from "../../reporting/page/assets/chosen.js";
import {data, DETAIL, ITEM, queries, RANK} from "../../reporting/page/assets/data.js";
import {el, isolated, readable} from "../../reporting/page/assets/dom.js";
import {number, scoresLike} from "../../reporting/page/assets/numbers.js";
import {rankedRows, registerView, runLines} from "../../reporting/page/assets/views.js";
import {say} from "./words.js";

const MOST = 6;

/** @param {ListRow} row */
function isAnswer(row) {
  return Boolean(row[DETAIL]) && ("characters" in row[DETAIL] || "right" in row[DETAIL]);
}

/**
 * The right answers; null where they are not known.
 * @param {Query} query
 * @returns {string[] | null}
 */
function rights(query) {
  try {
    return JSON.parse(queries.attributes.right?.[query] ?? "null");
  } catch {
    return null;
  }
}

/** @param {Query} query */
function summary(query) {
  const right = rights(query);
  const texts = right ? [...new Set(right)] : null;
  const more = texts && texts.length > MOST ? texts.length - MOST : 0;
  /** @param {Run} run @returns {number | null} */
  const noAnswer = run => rankedRows(query, run).find(each => (each[DETAIL]?.no_answer ?? null) !== null)?.[DETAIL].no_answer ?? null;
  const like = scoresLike(comparedRuns().map(noAnswer));
  const numbers = runLines(run => {
    const own = noAnswer(run);
    return own === null ? null : [el("span", {class: "quiet"}, say.noAnswerNumber), el("strong", null, like(own))];
  });
  const shown = texts === null ? null : texts.length === 0
    ? el("p", null, el("strong", null, say.noneRight), say.hasNone)
    : el("p", {class: "rights"}, el("span", {class: "quiet"}, say.rights(texts.length)), texts.slice(0, MOST).map(text => isolated("q", {class: "right-answer"}, text)),
      more ? el("span", {class: "quiet"}, say.andMore(more)) : null);
  const compared = comparedRuns().some(run => (data.lists[query]?.[run] ?? []).some(isAnswer));
  if (!shown && !numbers && !compared) return null;
  return el("div", {class: "view"}, shown, numbers, compared ? legend() : null);
}

function legend() {
  return el("p", {class: "legend"}, el("span", null, el("span", {class: "same-word"}, say.word), say.sameWord),
    el("span", null, el("span", {class: "same-letters"}, say.letters), say.sameLetters),
    el("span", null, el("span", {class: "said-both"}, say.passage), say.both),
    el("span", null, el("span", {class: "said-gold"}, say.passage), say.gold),
    el("span", null, el("span", {class: "said-predicted"}, say.passage), say.predicted));
}

/**
 * A text cut where its marks begin and end; layers: [spans of characters as [start, end], class]. Python counts characters, not code units.
 * @param {string} text
 * @param {[number[][], string][]} layers
 */
function layered(text, layers) {
  const letters = Array.from(text);
  const cuts = new Set([0, letters.length]);
  for (const [spans] of layers) for (const place of spans.flat()) if (place > 0 && place < letters.length) cuts.add(place);
  const ends = [...cuts].sort((one, other) => one - other);
  return ends.slice(1).map((end, place) => {
    const start = ends[place];
    const classes = layers.filter(([spans]) => spans.some(([from, to]) => from <= start && end <= to)).map(([, name]) => name);
    const part = readable(letters.slice(start, end).join(""));
    return classes.length ? el("span", {class: classes.join(" ")}, part) : part;
  });
}

/** @param {string} text @param {number[][] | null} characters @param {number[][] | null} words */
function compare(text, characters, words) {
  return layered(text, [[characters ?? [], "same-letters"], [words ?? [], "same-word"]]);
}

/**
 * The answer in place of an item's id, with the parts it shares with the right one.
 * @param {ListRow} row
 */
function title(row) {
  if (!isAnswer(row)) return null;
  const text = data.items.id[row[ITEM]];
  if (!text) return el("em", {class: "answer"}, row[RANK] === null ? say.noAnswer : say.saysNone);
  return el("span", {class: "answer", dir: "auto"}, compare(text, row[DETAIL].characters, row[DETAIL].tokens));
}

/** @param {RankedRow} row */
function result(row) {
  if (!isAnswer(row) || row[RANK] === null) return null;
  const detail = row[DETAIL];
  const exact = detail.right !== null && detail.right === data.items.id[row[ITEM]];
  const apart = !detail.token_f1 && !detail.aligned_char_f1;
  return el("div", {class: "view"},
    detail.right === null || exact || apart ? null : el("p", {class: "against"}, el("span", {class: "quiet"}, say.right), el("span", {class: "answer", dir: "auto"}, compare(detail.right, detail.right_characters, detail.right_tokens))),
    el("p", {class: "reference"}, detail.right === null ? null : exact ? el("span", {class: "gain"}, say.exact) : apart ? el("span", {class: "quiet"}, say.nothingShared) : f1s(detail),
      detail.document ? isolated("span", {class: "mono quiet"}, detail.document) : null),
    detail.context ? passage(detail.context) : null);
}

/** @param {any} detail */
function f1s(detail) {
  return [el("span", null, el("span", {class: "quiet"}, say.wordF1), number(detail.token_f1, "share")),
    el("span", {title: say.inOrder}, el("span", {class: "quiet"}, say.letterF1), number(detail.aligned_char_f1, "share"))];
}

/** @param {{text: string, spans: [number, number, string][]}} context */
function passage({text, spans}) {
  /** @param {string} word */
  const of = word => spans.filter(([, , each]) => each === word).map(([start, end]) => [start, end]);
  return el("p", {class: "passage", dir: "auto"}, layered(text, ["both", "gold", "predicted"].map(word => [of(word), `said-${word}`])));
}

/**
 * The word for a right answer that a reader does not give; documents are retrieved or not.
 * @param {ListRow} row
 */
function absent(row) {
  return isAnswer(row) ? say.notGiven : null;
}

/** @param {Query} query */
const outcome = query => queries.attributes.why?.[query] ?? "";

registerView("qa", {
  summary, result, title, absent, outcome, labels: say.labels, first: say.first, slices: ["answerable", "title"],
  fails: query => (queries.attributes.failed?.[query] ?? "none") !== "none",
});
