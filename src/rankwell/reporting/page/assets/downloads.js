// Downloads: the queries shown as CSV or JSON Lines, and their ids.

import {chosen, comparedRuns} from "./chosen.js";
import {firstOf, measures, queries, runs, valueOf} from "./data.js";
import {$, el} from "./dom.js";
import {noteRecords} from "./notes.js";
import {deltaOf, flagsOf, relevantColumns} from "./rows.js";
import {shownRows} from "./table.js";
import {say} from "./words.js";

// Texts that a spreadsheet would run as a formula; ids are left alone, because tables are joined by them.
const FORMULA = /^[=+\-@\t\r]/;

/** One record per query shown, in the order shown. */
export function records() {
  const relevant = relevantColumns();
  /** A column for each run compared. @param {string} name @param {(run: Run) => unknown} of */
  const bySide = (name, of) => Object.fromEntries(comparedRuns().map((run, side) => [`${name}_${"ab"[side]}`, of(run)]));
  return shownRows.queries.map(query => ({
    query: queries.id[query],
    text: queries.text[query] ?? null,
    ...Object.fromEntries(Object.keys(queries.attributes).map(name => [name, queries.attributes[name][query] ?? null])),
    flags: flagsOf(query).join("; ") || null,
    ...Object.fromEntries(relevant.map(({name, of}) => [name, of(query)])),
    measure: measures[chosen.measure].name,
    ...bySide("run", run => runs[run]),
    ...bySide("value", run => valueOf(chosen.measure, run, query)),
    ...(chosen.b === null ? {} : {difference: deltaOf(query)}),
    ...(queries.first ? bySide("first", run => firstOf(run, query)) : {}),
  }));
}

/** @param {Record<string, unknown>[]} rows */
export function csvText(rows) {
  const names = Object.keys(rows[0]);
  const ids = new Set(["query", "run_a", "run_b"]);
  /** @param {string} name @param {unknown} value */
  const cell = (name, value) => {
    if (value === null) return "";
    const text = typeof value === "string" && !ids.has(name) && FORMULA.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return `${[names.map(name => cell("query", name)), ...rows.map(row => names.map(name => cell(name, row[name])))].map(line => line.join(",")).join("\n")}\n`;
}

/** @param {unknown[]} rows */
export function jsonLines(rows) {
  return rows.map(row => `${JSON.stringify(row)}\n`).join("");
}

/** @param {string} name @param {string} text @param {string} type @param {number} [n] */
function save(name, text, type, n = shownRows.queries.length) {
  const address = URL.createObjectURL(new Blob([text], {type: `${type};charset=utf-8`}));
  const link = el("a", {href: address, download: name});
  link.click();
  // The browser reads the address after this call has returned.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  toast(say.saved(n, name));
}

/** @param {string} text @param {string} done */
export async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    toast(done);
  } catch {
    toast(say.cannotCopy);
  }
}

let toastTimer = 0;

/** @param {string} text */
export function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("shown"), 2200);
}

export function drawNotesButton() {
  $("save-notes").hidden = noteRecords().length === 0;
}

export function setUpDownloads() {
  $("save-csv").addEventListener("click", () => save("queries.csv", csvText(records()), "text/csv"));
  $("save-jsonl").addEventListener("click", () => save("queries.jsonl", jsonLines(records()), "application/jsonl"));
  $("save-notes").addEventListener("click", () => save("notes.csv", csvText(noteRecords()), "text/csv", noteRecords().length));
  $("copy-ids").addEventListener("click", () =>
    copy(shownRows.queries.map(query => queries.id[query]).join("\n"), say.idsCopied(shownRows.queries.length)),
  );
}
