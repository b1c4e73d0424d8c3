// Judging with a session on this machine: every act is sent to it, and is on its disk when it answers.

import {startJudging} from "./judging.js";
import {Outdated} from "./outdated.js";
import {say} from "./words.js";

/**
 * @param {string} path
 * @param {unknown} [content]
 */
async function request(path, content) {
  const sent = content === undefined ? {} : {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(content)};
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {...sent, cache: "no-store", redirect: "error"});
  } catch {
    throw new Error(say.gone);
  }
  if (response.status === 409) throw new Outdated();
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

/** @param {any} found @returns {JudgingState} */
function stateOf(found) {
  /** @param {[JudgedAnswer, number, string]} ask */
  const named = ([answer, postponed, note]) => ({answer, postponed, note});
  return {...found, asks: found.asks.map(named)};
}

startJudging({
  open: async () => stateOf(await request("/state")),
  item: (turn, ask) => request(`/items/${turn}/${ask}`),
  act: act => request("/act", act),
  next: async turn => stateOf(await request("/next", {turn})),
  download: null,
});
