// The relevant items of a query, with their ranks in each run.

import {data, GRADE, ITEM, queries, RANK, runs, SCORE, STATE} from "./data.js";
import {el, glyph, heading, isolated, mark, readable, showAll, table, visible} from "./dom.js";
import {picture} from "./labels.js";
import {drawLines} from "./lines.js";
import {MISSING, number, scoresLike} from "./numbers.js";
import {marked, words} from "./terms.js";
import {taskView} from "./views.js";
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
  const title = el("h3", {id: "gold-title"}, say.relevantItems, el("span", {class: "count"}, items.length));
  if (!items.length)
    return el(
      "section",
      {class: "block", "aria-labelledby": "gold-title"},
      title,
      el("p", {class: "quiet"}, say.noRelevantItems),
    );
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
  return el(
    "section",
    {class: "block", "aria-labelledby": "gold-title"},
    title,
    table(
      {class: "small gold"},
      say.relevantCaption,
      [
        heading(say.item),
        graded ? heading(say.grade, {class: "number"}) : null,
        compared.map((run, side) =>
          heading(compared.length > 1 ? say.rankInRun("AB"[side]) : say.rank, {class: "place-head", title: visible(runs[run])}),
        ),
      ],
      body,
    ),
    more ? showAll(items.length, all) : null,
  );
}

/**
 * @param {RelevantItem} relevant
 * @param {boolean} graded
 * @param {Query} query
 * @param {((score: number | null) => string)[]} likes
 */
function goldRow({item, grade, rows}, graded, query, likes) {
  const text = data.items.text[item];
  const first = rows.find(row => row !== null);
  const named = (first && taskView().title?.(first)) ?? null;
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
        named
          ? el("span", {class: "named"}, named)
          : isolated("span", {class: "mono", title: visible(data.items.id[item])}, data.items.id[item]),
        !named && text && text !== data.items.id[item]
          ? el("span", {class: "quiet gold-text", dir: "auto", title: readable(text)}, marked(text, words(queries.text[query])))
          : null,
      ),
    ),
    graded ? el("td", {class: "number"}, grade ?? glyph(MISSING, say.noGrade)) : null,
    rows.map((row, side) => placeCell(row, likes[side])),
  );
}

/**
 * The rank of an item in a run. No row at all means that the run does not have the query, which differs from not retrieving the item.
 * @param {ListRow | null} row
 * @param {(score: number | null) => string} like
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
