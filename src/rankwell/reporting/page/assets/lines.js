// Lines between the same items of two lists that stand side by side.

import {$, svg, targetOf} from "./dom.js";

/** Draws the lines anew; none where the lists stand under each other. */
export function drawLines() {
  const drawing = $("detail").querySelector(".lines");
  if (!drawing) return;
  const [left, right] = $("detail").querySelectorAll(".ranked");
  const box = drawing.getBoundingClientRect();
  drawing.replaceChildren();
  if (!box.width || left.getBoundingClientRect().right > right.getBoundingClientRect().left) return;
  drawing.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const places = new Map(cardsOf(right).map(card => [card.dataset.item, middleOf(card, box)]));
  const lines = [];
  for (const card of cardsOf(left)) {
    const to = places.get(card.dataset.item);
    if (to === undefined) continue;
    const from = middleOf(card, box);
    const half = box.width / 2;
    const state = ["relevant", "nonrelevant", "unjudged"].find(each => card.classList.contains(each)) ?? "unjudged";
    lines.push(
      svg("path", {
        class: `line ${state}`,
        "data-item": card.dataset.item,
        d: `M0 ${from}C${half} ${from} ${half} ${to} ${box.width} ${to}`,
      }),
    );
  }
  // Relevant ones lie on top.
  lines.sort((one, other) => Number(one.classList.contains("relevant")) - Number(other.classList.contains("relevant")));
  drawing.append(...lines);
}

/**
 * The cards of a list.
 * @param {Element} list
 * @returns {HTMLElement[]}
 */
function cardsOf(list) {
  return Array.from(list.querySelectorAll("[data-item]"));
}

/** @param {Element} card @param {DOMRect} box */
function middleOf(card, box) {
  const place = card.getBoundingClientRect();
  return Math.round(place.top + place.height / 2 - box.top) + 0.5;
}

/**
 * Marks an item in both lists, and its line, while the pointer is over it.
 * @param {string | null} item
 */
function point(item) {
  for (const node of $("detail").querySelectorAll(".pointed")) node.classList.remove("pointed");
  $("detail").classList.toggle("pointing", item !== null);
  if (item === null) return;
  for (const node of $("detail").querySelectorAll(`[data-item="${item}"]`)) node.classList.add("pointed");
}

export function setUpLines() {
  const detail = $("detail");
  detail.addEventListener("pointerover", event => {
    const card = targetOf(event).closest(".lists:not(.alone) [data-item]");
    if (event.pointerType === "mouse") point(card?.getAttribute("data-item") ?? null);
  });
  detail.addEventListener("pointerleave", () => point(null));
  new ResizeObserver(drawLines).observe(detail);
  // Pictures and disclosures move what stands below them.
  detail.addEventListener("load", drawLines, true);
  detail.addEventListener("toggle", drawLines, true);
}
