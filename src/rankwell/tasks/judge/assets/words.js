// The words of the judging page: every sentence and label that a judge reads.

/** @param {number} n @param {string} one @param {string} other */
function counted(n, one, other) {
  return `${n.toLocaleString("en-US")} ${n === 1 ? one : other}`;
}

/** @param {number} n */
const items = n => counted(n, "item", "items");

export const say = {
  skip: "Skip to the item",
  progress: "Share of the batch that is judged",
  keysAndHelp: "Keys and help",
  guideline: "Guideline",
  answers: "Answers",
  grades: "Grades",
  otherAnswers: "Other answers",
  noteLabel: "Note on this item (Esc goes back to it)",
  query: "Query",
  item: "Item",
  answer: "Answer",
  noText: "This item has no document. Judge it by its id.",
  noPicture: "No picture",
  pictureOf: "Picture of the item",
  postpone: "Postpone",
  leaveOpen: "Leave open",
  unknown: "Cannot tell",
  note: "Note",
  back: "Back",
  loading: "Loading …",
  download: "Download",
  next: "Next batch",
  lookBack: "Look at the last item again",
  tryAgain: "Try again",
  close: "Close",
  keys: "Keys",
  singleKeys: "Single keys act (switch off for speech input)",
  backspace: "Backspace",
  enter: "Enter",
  escape: "Esc",
  openHelp: "This help",
  leaveNote: "Out of the note; it is kept",
  nextBatch: "The next batch, when one is finished",
  postponeHelp: "To the end of the batch; there, once more leaves it open",
  unknownHelp: "You have read it and cannot tell",
  noteHelp: "Write a note on the item",
  backHelp: "The item before; another grade replaces the first",
  kept: "Every judgment is saved before the next item appears.",
  changed: "another window has judged this item; here is the next",
  nothingKept: "This browser keeps no data for this page, so nothing can be judged here. Open it in another browser, or outside private mode.",
  gone: "the session is not reachable; start `rankwell judge label` again",
  notHere: "The item could not be loaded",
  nothingTitle: "Nothing is left to judge",
  nothingText: "Every batch is finished, or another judge has it. Close this window, and end the session with Ctrl-C.",
  allDone: "All items are judged",
  /** @param {string} study @param {string} judge */
  title: (study, judge) => `${study} · ${judge}`,
  /** @param {number | null} batch @param {number | null} batches */
  batch: (batch, batches) => (batch === null ? "" : ` · batch ${batch} of ${batches}`),
  /** @param {number} done @param {number} all */
  judged: (done, all) => `${done} of ${all} judged`,
  /** @param {string} name */
  saved: name => `Saved: ${name}.`,
  /** @param {string} name */
  judgedBefore: name => `You judged this item: ${name}.`,
  /** @param {string} why */
  notSaved: why => `Not saved: ${why}. Press the key again.`,
  postponedNow: "Postponed to the end of the batch.",
  postponedBefore: "You postponed this item.",
  noteSaved: "Note saved.",
  /** @param {number | null} batch */
  finishedTitle: batch => (batch === null ? "These items are judged" : `Batch ${batch} is finished`),
  /** @param {number | null} left */
  finishedText: left =>
    left === null
      ? "What is asked next depends on these answers."
      : left
        ? `${counted(left, "batch is", "batches are")} not finished yet. This is a good moment for a pause.`
        : "It was the last one.",
  /** @param {number} n */
  offlineText: n =>
    `${items(n)} judged on this page. Download the judgments, and send the file to whoever runs the study; they are kept in this browser as well.`,
};
