// The dialog of keys, and the switch for keys without a modifier, which disturb those who speak to their machine.

import {$, button, el} from "../../../reporting/page/assets/dom.js";
import {gradeKeys} from "./grade_keys.js";
import {say} from "./words.js";

const single = el("input", {type: "checkbox", id: "single-keys", checked: true});

export function singleKeys() {
  return single.checked;
}

/** @param {{grade: number, name: string}[]} grades */
export function setUpHelp(grades) {
  const digits = gradeKeys(grades);
  const rows = [
    ...grades.map(({name}, place) => [digits[place], name]),
    ["s", say.postponeHelp],
    ["u", say.unknownHelp],
    ["n", say.noteHelp],
    [say.escape, say.leaveNote],
    [say.backspace, say.backHelp],
    [say.enter, say.nextBatch],
    ["?", say.openHelp],
  ].filter(([key]) => key);
  $("help").replaceChildren(
    el("h2", {id: "help-title"}, say.keys),
    el("dl", null, rows.map(([key, text]) => [el("dt", null, el("kbd", null, key)), el("dd", {dir: "auto"}, text)])),
    el("p", {class: "kept quiet"}, say.kept),
    el("p", null, el("label", {class: "switch"}, single, say.singleKeys)),
    el("p", {class: "row"}, button(say.close, () => $("help").close())),
  );
}
