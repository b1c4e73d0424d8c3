// A query and an item as a judge reads them: texts, further columns, the picture; everything is text and never markup.

import {$, el, isolated} from "../../../reporting/page/assets/dom.js";
import {say} from "./words.js";

/** @param {ShownAsk} shown */
export function drawItem({query, item}) {
  $("query").replaceChildren(
    el("h2", {class: "over", id: "query-label"}, say.query),
    el("p", {class: "query-text", id: "query-text", dir: "auto"}, query.text ?? query.title ?? ""),
    fields(query),
  );
  $("item").replaceChildren(
    el("h2", {class: "over", id: "item-label"}, say.item),
    item.title ? el("h3", {class: "item-title", dir: "auto"}, item.title) : "",
    picture(item),
    item.answer ? el("p", {class: "given-answer", dir: "auto"}, el("span", {class: "over"}, say.answer), item.answer) : "",
    item.text ? el("div", {class: "item-text", dir: "auto"}, marked(item.text, item.answer)) : "",
    item.id ? el("div", {class: "no-text"}, isolated("p", {class: "mono"}, item.id), el("p", {class: "quiet"}, say.noText)) : "",
    fields(item),
  );
}

/** @param {ShownTexts} texts */
function fields({fields: own}) {
  return own.length
    ? el("dl", {class: "fields"}, own.map(([name, text]) => [isolated("dt", null, name), el("dd", {dir: "auto"}, text)]))
    : "";
}

/** @param {ShownItem} item */
function picture({picture: address, missing}) {
  if (address) return el("img", {class: "item-picture", src: address, alt: say.pictureOf});
  return missing ? el("p", {class: "no-picture"}, say.noPicture, el("span", {class: "quiet"}, missing)) : "";
}

/**
 * The text, with the answer marked in it where it occurs.
 * @param {string} text
 * @param {string | undefined} answer
 * @returns {Child}
 */
function marked(text, answer) {
  const place = answer ? text.indexOf(answer) : -1;
  if (!answer || place < 0) return text;
  return [text.slice(0, place), el("mark", null, answer), text.slice(place + answer.length)];
}
