// The keyboard, and the window that lists its keys.

import {choose} from "./address.js";
import {chosen} from "./chosen.js";
import {shownStates} from "./data.js";
import {closeQuery, openQuery, stepTo} from "./detail.js";
import {$, el, mark, stateName, targetOf} from "./dom.js";
import {toast} from "./downloads.js";
import {order, presets, swapRuns, toggleFilters} from "./filters.js";
import {moveCursor, shownRows} from "./table.js";
import {changeTheme} from "./theme.js";
import {KEYS, say, SIGNS} from "./words.js";

export function setUpHelp() {
  const help = $("help");
  $("help-open").addEventListener("click", openHelp);
  help.addEventListener("click", event => {
    if (event.target === help) help.close();
  });
}

/** The keys, and the signs that this page can show. */
function openHelp() {
  const states = shownStates();
  const has = {lists: states.length > 0, pair: chosen.b !== null};
  const signs = SIGNS.filter(({needs}) => needs.every(each => has[each]));
  $("help").replaceChildren(
    el("h2", {id: "help-title"}, say.keys),
    el(
      "dl",
      null,
      KEYS.map(([key, other, what]) => [
        el("dt", null, el("kbd", null, key), other ? [" ", el("kbd", null, other)] : null),
        el("dd", null, what),
      ]),
    ),
    el("h2", null, say.signs),
    el("dl", {class: "signs"}, signs.map(({sign, meaning}) => [el("dt", null, sign), el("dd", null, meaning)])),
    states.length
      ? el(
          "div",
          {class: "legend"},
          states.map(state => el("span", null, mark(state), stateName(state))),
        )
      : "",
    el("form", {method: "dialog"}, el("button", null, say.close)),
  );
  $("help").showModal();
}

/** @type {Record<string, () => unknown>} */
const ACTIONS = {
  j: () => moveDown(1),
  k: () => moveDown(-1),
  ArrowDown: () => moveDown(1),
  ArrowUp: () => moveDown(-1),
  Enter: openCursor,
  "/": focusSearch,
  s: nextOrder,
  x: swapRuns,
  o: () => choose({view: "overview"}, {push: true}),
  q: () => choose({view: "queries"}, {push: true}),
  m: () => choose({view: "method"}, {push: true}),
  t: changeTheme,
  "?": openHelp,
};

export function setUpKeys() {
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    if (event.key === "Escape") {
      escape(event);
      return;
    }
    if (targetOf(event).closest("input:not([type=checkbox]), select, textarea")) {
      if (targetOf(event).id === "search" && (event.key === "Enter" || event.key === "ArrowDown")) leaveSearch(event);
      return;
    }
    // What has the focus answers to Enter and the arrows itself.
    if (event.key === "Enter" && targetOf(event).closest("button, summary, a:not(.id)")) return;
    const act = Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : null;
    if (act && act() !== false) event.preventDefault();
  });
}

/**
 * Closes what lies on top: the filters, then what is typed, then the query.
 * @param {KeyboardEvent} event
 */
function escape(event) {
  if ($("queries").classList.contains("filtering")) {
    toggleFilters(false);
    $("filters-open").focus();
  } else if (targetOf(event).id === "search" && chosen.search) {
    choose({search: ""});
  } else if (targetOf(event).id === "search") {
    targetOf(event).blur();
  } else {
    closeQuery();
  }
  event.preventDefault();
}

/** @param {KeyboardEvent} event */
function leaveSearch(event) {
  event.preventDefault();
  targetOf(event).blur();
  moveCursor(0);
}

/** @param {number} step */
function moveDown(step) {
  if (chosen.view !== "queries") return false;
  if (chosen.query !== null) stepTo(step);
  else moveCursor(shownRows.cursor + step);
  return true;
}

function openCursor() {
  const query = shownRows.queries[shownRows.cursor];
  if (chosen.view !== "queries" || chosen.query !== null || query === undefined) return false;
  openQuery(query);
  return true;
}

function focusSearch() {
  if (chosen.view !== "queries") choose({view: "queries"}, {push: true});
  if (chosen.query !== null && $("search").offsetParent === null) closeQuery();
  $("search").focus();
  $("search").select();
}

function nextOrder() {
  if (chosen.view !== "queries") return false;
  const offered = presets();
  const [name, , title] = offered[(offered.findIndex(each => each[0] === chosen.sort) + 1) % offered.length];
  order(name);
  toast(title);
  return true;
}
