// Keys: one for each grade, and one for each other answer. They rest while a note is written or the help is open.

import {$, targetOf} from "../../../reporting/page/assets/dom.js";
import {singleKeys} from "./help.js";

/** @param {{postpone: () => void, unknown: () => void, note: () => void, back: () => void, next: () => void}} acts */
export function setUpKeys(acts) {
  /** @type {Record<string, () => void>} */
  const named = {s: acts.postpone, u: acts.unknown, n: acts.note, Backspace: acts.back};
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || $("help").open) return;
    const target = targetOf(event);
    if (target.id === "note") {
      if (event.key === "Escape") $("item").focus();
      return;
    }
    const isControl = target.tagName === "BUTTON" || target.tagName === "SUMMARY";
    if (event.key === "Enter" && !isControl) acts.next();
    if (!singleKeys()) return;
    if (event.key === "?") $("help").showModal();
    const act = named[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? buttonOf(event.key);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** The act of the grade with a key. @param {string} key */
function buttonOf(key) {
  const found = /^\d$/.test(key) && [...$("grades").children].find(each => each.querySelector("kbd")?.textContent === key);
  return found ? () => /** @type {HTMLElement} */ (found).click() : null;
}
