// The page of systems × data sets: its theme, and the order of its rows.

const DARK = matchMedia("(prefers-color-scheme: dark)");
const KEPT = "rankwell-theme";
const root = document.documentElement;

/** @param {string | null} theme */
function show(theme) {
  root.dataset.theme = theme ?? (DARK.matches ? "dark" : "light");
}

/** @param {(storage: Storage) => string | null | void} act */
function stored(act) {
  // A page opened from disk may be refused its storage.
  try {
    return act(localStorage) ?? null;
  } catch {
    return null;
  }
}

/**
 * What a row is ordered by: a number where its cell has one, else the text.
 * @param {Element} row
 * @param {number} column
 */
function keyOf(row, column) {
  const cell = /** @type {HTMLElement} */ (row.children[column]);
  const value = cell.dataset.value;
  return value === undefined ? (cell.textContent ?? "") : value === "" ? null : Number(value);
}

/** @param {HTMLElement} head */
function sort(head) {
  const heads = [...(head.parentElement?.children ?? [])];
  const column = heads.indexOf(head);
  const body = head.closest("table")?.tBodies[0];
  if (!body) return;
  const down = head.ariaSort ? head.ariaSort === "ascending" : head.classList.contains("number");
  const rows = [...body.rows].map(row => ({row, key: keyOf(row, column)}));
  rows.sort((one, other) => {
    // What has no value is last, whichever the direction.
    if (one.key === null || other.key === null) return Number(one.key === null) - Number(other.key === null);
    const order =
      typeof one.key === "number" && typeof other.key === "number"
        ? one.key - other.key
        : String(one.key).localeCompare(String(other.key), "en", {numeric: true});
    return down ? -order : order;
  });
  for (const each of heads) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...rows.map(({row}) => row));
}

show(stored(storage => storage.getItem(KEPT)));
document.getElementById("theme")?.addEventListener("click", () => {
  show(root.dataset.theme === "dark" ? "light" : "dark");
  stored(storage => storage.setItem(KEPT, root.dataset.theme ?? "light"));
});
for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => sort(/** @type {HTMLElement} */ (button.parentElement)));
}
