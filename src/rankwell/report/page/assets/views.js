// Small pieces that the views of several protocols share.

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
