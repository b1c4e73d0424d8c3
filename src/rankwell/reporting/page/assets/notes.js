// The reader's notes and tags on queries, kept in this browser under the identity of the page, and sent nowhere.

import {addressOf, allQueries, data, queries, queryAt, runs} from "./data.js";

// The digests of the inputs stand for what is in them.
const KEY = `rankwell-notes ${JSON.stringify([data.protocol, runs, data.inputs ?? [], queries.id.length])}`;
/** @type {Note} */
const NONE = {note: "", tags: []};
/** @type {Map<Query, Note>} */
let notes = new Map();
let isKept = true;

/** Reads what this browser keeps, which another window may have written; where it keeps nothing, the session's notes stay. */
function read() {
  if (!isKept) return;
  try {
    /** @type {[address: string, note: string, tags: string[]][]} */
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    notes = new Map();
    for (const [address, note, tags] of kept) {
      const query = queryAt(address);
      if (query !== null) notes.set(query, {note, tags});
    }
  } catch {
    isKept = false;
  }
}

/** Whether this browser keeps the notes beyond this session. */
export function areKept() {
  return isKept;
}

/** @param {Query} query @returns {Note} */
export function noteOf(query) {
  return notes.get(query) ?? NONE;
}

/**
 * Changes the note or the tags of a query, without touching what other windows wrote about others.
 * @param {Query} query
 * @param {Partial<Note>} changes
 */
export function writeNote(query, changes) {
  const changed = {...noteOf(query), ...changes};
  read();
  if (changed.note.trim() || changed.tags.length) notes.set(query, changed);
  else notes.delete(query);
  try {
    const kept = notedQueries().map(each => [addressOf(each), noteOf(each).note, noteOf(each).tags]);
    if (!isKept) return;
    if (kept.length) localStorage.setItem(KEY, JSON.stringify(kept));
    else localStorage.removeItem(KEY);
  } catch {
    isKept = false;
  }
}

/** Queries with a note or a tag, in the order of the data. */
export function notedQueries() {
  return allQueries.filter(query => notes.has(query));
}

/**
 * Tags from what is typed: separated by commas, each once.
 * @param {string} text
 */
export function tagsFrom(text) {
  return [...new Set(text.split(/[,;\n]/).map(tag => tag.trim().replace(/\s+/g, " ")).filter(Boolean))];
}

/** Number of queries of each tag, in alphabetical order; that of notes stands under "". */
export function tagCounts() {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const query of notedQueries())
    for (const tag of [...noteOf(query).tags, ...(noteOf(query).note.trim() ? [""] : [])]) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort(([one], [other]) => one.localeCompare(other));
}

/** @param {Query} query @param {string[]} tags */
export function hasAnyTag(query, tags) {
  const {note, tags: own} = noteOf(query);
  return tags.some(tag => (tag === "" ? note.trim() !== "" : own.includes(tag)));
}

/** A record per query with a note or a tag. */
export function noteRecords() {
  return notedQueries().map(query => ({query: addressOf(query), tags: noteOf(query).tags.join("; "), note: noteOf(query).note}));
}

/**
 * Calls `act` when another window of this page has changed a note.
 * @param {() => void} act
 */
export function watchNotes(act) {
  addEventListener("storage", event => {
    if (event.key !== KEY && event.key !== null) return;
    read();
    act();
  });
}

read();
