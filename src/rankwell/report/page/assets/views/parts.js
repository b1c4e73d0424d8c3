// Small pieces that the views of several protocols share.

// The place in a row of what its protocol knows of it.
const DETAIL = 5;

/** A tick or a cross: told apart by shape, by colour, and by its name for those who see neither. */
function sign(found, name) {
  return svg("svg", {class: `sign ${found ? "found" : "missing"}`, viewBox: "0 0 16 16", width: 14, height: 14, role: "img", "aria-label": name},
    svg("title", null, name), svg("path", {d: found ? "M3.2 8.6l3.1 3.1 6.5-7.2" : "M4.4 4.4l7.2 7.2M11.6 4.4l-7.2 7.2"}));
}

/** The rule of this name as the results state it, null where they do not. */
function ruleOf(name) {
  return data.rules?.find(([each]) => each === name)?.[1] ?? null;
}

function comparedRuns() {
  return [chosen.a, chosen.b].filter(run => run !== null);
}

/** The rows of one run's list in the order of rank, those that were not retrieved left out. */
function rankedRows(query, run) {
  const rows = data.lists[query]?.[run] ?? [];
  return rows.filter(row => row[RANK] !== null && row[STATE] !== "junk").sort((one, other) => one[RANK] - other[RANK]);
}

/** A line for each run compared, with what `told` says of it; null where it says nothing of any. */
function runLines(told) {
  const lines = comparedRuns().map(run => [run, told(run)]).filter(([, line]) => line !== null);
  if (!lines.length) return null;
  return el("ul", {class: "run-lines"}, lines.map(([run, line]) =>
    el("li", null, el("span", {class: "run-of-line"}, runTag(run), said("span", {class: "run-name", title: visible(runs[run])}, runs[run])), el("span", null, line))));
}

/** A text cut where its marks begin and end; layers: [spans of characters as [start, end], class]. Python counts characters, not code units. */
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

function ordinal(n) {
  const last = n % 100 >= 11 && n % 100 <= 13 ? "th" : {1: "st", 2: "nd", 3: "rd"}[n % 10] ?? "th";
  return `${number(n, "count")}${last}`;
}
