// The judging page: shows an item, takes an answer, and goes on once it is saved. Where answers are saved is the store's affair.

import {$, button, el} from "../../../reporting/page/assets/dom.js";
import {gradeKeys} from "./grade_keys.js";
import {guideline} from "./guideline.js";
import {setUpHelp} from "./help.js";
import {drawItem} from "./item.js";
import {setUpKeys} from "./keys.js";
import {answered, before, extended, nextAsk, trailOf} from "./order.js";
import {Outdated} from "./outdated.js";
import {restartTimer, secondsPassed} from "./timer.js";
import {say} from "./words.js";

/** @type {JudgingStore} */
let store;
/** @type {JudgingState} */
let state;
/** The item that is shown, null where the batch is finished. @type {number | null} */
let at = null;
/** @type {number[]} */
let trail = [];
/** Whether an answer is being saved or an item loaded; keys do nothing meanwhile. */
let isBusy = true;
/** @type {Map<number, Promise<ShownAsk>>} */
const loaded = new Map();

/** @param {JudgingStore} chosen */
export async function startJudging(chosen) {
  store = chosen;
  writeFrame();
  $("note").addEventListener("change", saveNote);
  $("skip").addEventListener("click", event => {
    event.preventDefault();
    $("item").focus();
  });
  $("guideline").open = innerWidth > 900;
  $("download").hidden = !store.download;
  $("download").addEventListener("click", () => store.download?.());
  $("help-open").addEventListener("click", () => $("help").showModal());
  setUpKeys({postpone, unknown: () => answer({action: "unknown"}), note: openNote, back: goBack, next: goOn});
  await load(store.open);
}

/** Takes the state of the store, and shows the first item without an answer. @param {() => Promise<JudgingState>} read @param {string} [message] */
async function load(read, message = "") {
  isBusy = true;
  try {
    state = await read();
  } catch (error) {
    pauseWith(say.notHere, reasonOf(error), [button(say.tryAgain, () => load(read))]);
    return;
  }
  trail = trailOf(state.asks);
  loaded.clear();
  $("page-title").textContent = $("heading").textContent = say.title(state.study, state.judge) + say.batch(state.batch, state.batches);
  $("guideline-text").replaceChildren(...guideline(state.guideline));
  setUpHelp(state.grades);
  drawAnswers();
  await show(state.asks.length ? nextAsk(state.asks, -1) : null, message);
}

/** @param {unknown} error */
function reasonOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** The content of an item, requested once. @param {number} place */
function contentOf(place) {
  const known = loaded.get(place) ?? store.item(state.turn, place);
  // Few are kept, as texts may be large; one that failed is requested again.
  loaded.delete(place);
  loaded.set(place, known);
  if (loaded.size > 4) loaded.delete(/** @type {number} */ (loaded.keys().next().value));
  known.catch(() => loaded.delete(place));
  return known;
}

/** Shows an item; the pause between batches for null. @param {number | null} place @param {string} [message] */
async function show(place, message = "") {
  at = place;
  drawCounts();
  if (place === null) {
    drawPause();
    isBusy = false;
    return;
  }
  isBusy = true;
  try {
    const content = await contentOf(place);
    $("judging").hidden = $("answers").hidden = $("skip").hidden = false;
    $("pause").hidden = true;
    drawItem(content);
  } catch (error) {
    if (error instanceof Outdated) await load(store.open, say.changed);
    else pauseWith(say.notHere, reasonOf(error), [button(say.tryAgain, () => show(place, message))]);
    return;
  }
  const ask = state.asks[place];
  $("note").value = ask.note;
  $("note-field").hidden = !ask.note;
  drawAnswers();
  $("status").textContent = `${message} ${standing(ask)}`.trim();
  scrollTo(0, 0);
  $("item").focus({preventScroll: true});
  restartTimer();
  isBusy = false;
  const following = nextAsk(state.asks, place);
  if (following !== null && following !== place) contentOf(following).catch(() => {});
}

/** @param {JudgingAsk} ask */
function standing(ask) {
  if (ask.answer !== null) return say.judgedBefore(nameOf(ask.answer));
  return ask.postponed ? say.postponedBefore : "";
}

/** @param {JudgedAnswer} given */
function nameOf(given) {
  if (given === "unknown") return say.unknown;
  return given === "open" ? say.leaveOpen : (state.grades.find(each => each.grade === given)?.name ?? String(given));
}

/** @param {number} grade */
function giveGrade(grade) {
  return answer({grade});
}

/** To the end of the batch; one that comes round again stays open. */
function postpone() {
  const ask = at === null ? null : state.asks[at];
  return answer({action: ask && (ask.postponed || ask.answer !== null) ? "open" : "postpone"});
}

/** Saves an answer, and shows the next item once it is saved. @param {{grade?: number, action?: string}} given */
async function answer(given) {
  const saved = await save(given);
  if (!saved || at === null) return;
  trail = extended(trail, at);
  const message = given.action === "postpone" ? say.postponedNow : say.saved(nameOf(state.asks[at].answer));
  await show(nextAsk(state.asks, at), message);
}

/** Whether an act was saved; says so where it was not. @param {{grade?: number, action?: string}} given */
async function save(given) {
  if (isBusy || at === null) return false;
  isBusy = true;
  const ask = at;
  try {
    const note = $("note").value.trim();
    state.asks[ask] = await store.act({turn: state.turn, ask, seen: state.asks[ask].answer, note, seconds: secondsPassed(), ...given});
    isBusy = false;
    return true;
  } catch (error) {
    if (error instanceof Outdated) await load(store.open, say.changed);
    else $("status").textContent = say.notSaved(reasonOf(error));
    isBusy = false;
    return false;
  }
}

function openNote() {
  if (at === null) return;
  $("note-field").hidden = false;
  $("note").focus();
}

async function saveNote() {
  if (at !== null && $("note").value.trim() !== state.asks[at].note && (await save({action: "note"}))) $("status").textContent = say.noteSaved;
}

function goBack() {
  const place = isBusy ? null : before(trail, at ?? -1);
  if (place !== null) show(place);
}

/** The next batch, from the pause. */
function goOn() {
  if (!isBusy && at === null && store.next && state.asks.length) load(() => /** @type {any} */ (store.next)(state.turn));
}

function drawCounts() {
  const [done, all] = [answered(state.asks), state.asks.length];
  $("judged").textContent = all ? say.judged(done, all) : "";
  $("progress").max = Math.max(1, all);
  $("progress").value = done;
}

function drawAnswers() {
  const ask = at === null ? null : state.asks[at];
  const keys = gradeKeys(state.grades);
  const grades = state.grades.map(({grade, name}, place) =>
    keyed(name, keys[place], () => giveGrade(grade), {class: "grade", "aria-pressed": String(ask?.answer === grade)}),
  );
  $("grades").replaceChildren(...grades);
  const isOpen = ask !== null && (ask.postponed > 0 || ask.answer !== null);
  $("acts").replaceChildren(
    keyed(say.back, "⌫", goBack, {disabled: before(trail, at ?? -1) === null}),
    keyed(say.note, "n", openNote),
    keyed(isOpen ? say.leaveOpen : say.postpone, "s", postpone, {"aria-pressed": String(ask?.answer === "open")}),
    keyed(say.unknown, "u", () => answer({action: "unknown"}), {"aria-pressed": String(ask?.answer === "unknown")}),
  );
}

/** A button with its key. @param {string} name @param {string} key @param {() => void} act @param {Attributes} [attributes] */
function keyed(name, key, act, attributes = {}) {
  return button([key ? el("kbd", {"aria-hidden": "true"}, key) : null, el("span", {dir: "auto"}, name)], act, {...attributes});
}

/** The pause between batches, and the end. */
function drawPause() {
  const look = trail.length ? [button(say.lookBack, goBack)] : [];
  if (!state.asks.length) pauseWith(say.nothingTitle, say.nothingText, []);
  else if (store.download)
    pauseWith(say.allDone, say.offlineText(state.asks.length), [button(say.download, () => store.download?.(), {class: "main"}), ...look]);
  else
    pauseWith(say.finishedTitle(state.batch), say.finishedText(state.left === null ? null : state.left - 1), [
      keyed(say.next, "⏎", goOn, {class: "main"}),
      ...look,
    ]);
}

/** @param {string} title @param {string} text @param {HTMLElement[]} acts */
function pauseWith(title, text, acts) {
  $("judging").hidden = $("answers").hidden = $("skip").hidden = true;
  $("pause").hidden = false;
  $("pause-title").textContent = title;
  $("pause-text").textContent = text;
  $("pause-acts").replaceChildren(...acts);
  $("pause").focus();
}

/** Writes the words of the frame: `data-say` names them, each alone or with the attribute that it is for. */
function writeFrame() {
  for (const node of document.querySelectorAll("[data-say]"))
    for (const part of (node.getAttribute("data-say") ?? "").split(" ")) {
      const [name, attribute] = part.split("@");
      const text = /** @type {Record<string, any>} */ (say)[name];
      if (attribute) node.setAttribute(attribute, text);
      else node.textContent = text;
    }
}
