// The relevant items of a query, with their ranks in each run.

import {GRADE, ITEM, queries, RANK, runs, SCORE, STATE} from "./data.js";
import {el, glyph, heading, mark, readable, showAll, table, visible} from "./dom.js";
import {picture} from "./labels.js";
import {drawLines} from "./lines.js";
import {MISSING, number, scoresLike} from "./numbers.js";
import {marked, words} from "./terms.js";
import {itemName, taskView} from "./views.js";
import {say} from "./words.js";

const MOST_GOLD = 8;

/**
 * Relevant items of the runs compared, best grade first, then best rank.
 * @param {Lists} lists
 * @param {Run[]} compared
 * @returns {RelevantItem[]}
 */
function relevantItems(lists, compared) {
  /** @type {Map<Item, RelevantItem>} */
  const found = new Map();
  compared.forEach((run, side) => {
    for (const row of lists[run] ?? []) {
      if (row[STATE] !== "relevant") continue;
      const relevant = found.get(row[ITEM]) ?? {item: row[ITEM], grade: row[GRADE], rows: compared.map(() => null)};
      relevant.rows[side] = row;
      found.set(row[ITEM], relevant);
    }
  });
  /** @param {RelevantItem} each */
  const best = ({rows}) => Math.min(...rows.map(row => row?.[RANK] ?? Infinity));
  return [...found.values()].sort(
    (one, other) => (other.grade ?? 0) - (one.grade ?? 0) || best(one) - best(other) || one.item - other.item,
  );
}

/** @param {Query} query @param {Lists} lists @param {Run[]} compared */
export function gold(query, lists, compared) {
  const items = relevantItems(lists, compared);
  return el(
    "section",
    {class: "block", "aria-labelledby": "gold-title"},
    el("h3", {id: "gold-title"}, say.relevantItems, el("span", {class: "count"}, items.length)),
    items.length ? goldTable(items, query, lists, compared) : el("p", {class: "quiet"}, say.noRelevantItems),
  );
}

/**
 * @param {RelevantItem[]} items
 * @param {Query} query
 * @param {Lists} lists
 * @param {Run[]} compared
 */
function goldTable(items, query, lists, compared) {
  const likes = compared.map(run => scoresLike((lists[run] ?? []).map(row => row[SCORE])));
  const graded = new Set(items.map(each => each.grade)).size > 1;
  const body = el("tbody");
  /** @param {RelevantItem[]} shown */
  const fill = shown => body.replaceChildren(...shown.map(each => goldRow(each, graded, query, likes)));
  const more = items.length > MOST_GOLD + 2;
  fill(more ? items.slice(0, MOST_GOLD) : items);
  const all = () => {
    fill(items);
    drawLines();
  };
  const heads = [
    heading(say.item),
    graded ? heading(say.grade, {class: "number"}) : null,
    compared.map((run, side) =>
      heading(compared.length > 1 ? say.rankInRun("AB"[side]) : say.rank, {class: "place-head", title: visible(runs[run])}),
    ),
  ];
  return [table({class: "small gold"}, say.relevantCaption, heads, body), more ? showAll(items.length, all) : null];
}

/**
 * @param {RelevantItem} relevant
 * @param {boolean} graded
 * @param {Query} query
 * @param {ScoreWriter[]} likes
 */
function goldRow({item, grade, rows}, graded, query, likes) {
  const named = itemName(item, rows.find(row => row !== null));
  return el(
    "tr",
    null,
    el(
      "th",
      {scope: "row"},
      el(
        "div",
        {class: "gold-item"},
        mark("relevant"),
        picture(item, 28),
        named.node,
        named.text && el("span", {class: "quiet gold-text", dir: "auto", title: readable(named.text)}, marked(named.text, words(queries.text[query]))),
      ),
    ),
    graded ? el("td", {class: "number"}, grade ?? glyph(MISSING, say.noGrade)) : null,
    rows.map((row, side) => placeCell(row, likes[side])),
  );
}

/**
 * The rank of an item in a run. No row at all means that the run does not have the query, which differs from not retrieving the item.
 * @param {ListRow | null} row
 * @param {ScoreWriter} like
 */
function placeCell(row, like) {
  if (!row) return el("td", {class: "place quiet"}, glyph(MISSING, say.noQuery));
  if (row[RANK] === null) return el("td", {class: "place loss"}, taskView().absent?.(row) ?? say.notRetrieved);
  return el(
    "td",
    {class: "place"},
    el("strong", null, number(row[RANK], "count")),
    row[SCORE] === null ? null : el("span", {class: "quiet"}, like(row[SCORE])),
  );
}
