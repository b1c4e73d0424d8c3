// The words of this task on the page.

import {pick} from "../../reporting/page/assets/words.js";

export const say = {
  noAnswerNumber: "no answer ",
  noneRight: "No answer is right: ",
  hasNone: "the question has none.",
  /** @param {number} n */
  rights: n => pick(n, "right answer", "right answers"),
  /** @param {number} n */
  andMore: n => `and ${n} more`,
  word: "word",
  sameWord: "counts as the same word in both",
  letters: "letters",
  sameLetters: "the same letters in both",
  passage: "passage",
  both: "answered and right",
  gold: "right answer only",
  predicted: "answered only",
  noAnswer: "no answer",
  saysNone: "says that there is no answer",
  right: "right",
  exact: "exactly the right answer",
  nothingShared: "shares nothing with a right answer",
  wordF1: "F1 of words ",
  inOrder: "Letters in their order",
  letterF1: "of letters ",
  notGiven: "not given",
  first: {title: "Where is the first right answer?", name: "first right", absent: "not given"},
  labels: {
    answerable: "has an answer",
    failed: "failed by",
    why: "why",
    value: "right",
    partial: "right in part",
    alone: "right from the right passage",
    hardest: "place among the hardest",
    document_rank: "rank of the right document",
  },
};
