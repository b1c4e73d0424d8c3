// Draws what is chosen; what did not change is left as it is.

import {addressText, onChange, watchAddress} from "./address.js";
import {drawCharts} from "./charts.js";
import {chosen, FILTERS} from "./chosen.js";
import {data} from "./data.js";
import {drawDetail, openQuery} from "./detail.js";
import {$, readable} from "./dom.js";
import {drawNotesButton, setUpDownloads} from "./downloads.js";
import {drawBar, drawChips, drawFilters, setUpBar} from "./filters.js";
import {setUpHelp, setUpKeys} from "./keys.js";
import {drawLines, setUpLines} from "./lines.js";
import {drawMethod} from "./method.js";
import {watchNotes} from "./notes.js";
import {drawOverview, drawSpread} from "./overview.js";
import {drawRows, drawTable, revealCursor, setUpTable, shownRows} from "./table.js";
import {changeTheme, DARK, drawTheme} from "./theme.js";
import {say} from "./words.js";

const TABLE_DEPENDS_ON = ["measure", "a", "b", "sort", "reversed", "seed", ...FILTERS];
let overviewDrawn = false;

/**
 * Draws what depends on the choices named.
 * @param {Set<string>} changed
 */
function draw(changed) {
  /** @param {string[]} names */
  const any = names => names.some(name => changed.has(name));
  drawTheme();
  drawView();
  if (any(TABLE_DEPENDS_ON)) {
    drawTable();
    drawChips();
    drawFilters();
    if (any(["sort", "reversed", "seed", "a", "b", "measure"]) && chosen.query === null) $("scroller").scrollTop = 0;
  }
  if (changed.has("notes")) {
    if (chosen.tags.length) drawTable();
    else drawRows(true);
    drawFilters();
    drawNotesButton();
  }
  drawBar();
  if (any(["query", ...TABLE_DEPENDS_ON])) {
    drawDetail();
    if (changed.has("query")) {
      shownRows.cursor = chosen.query === null ? shownRows.cursor : shownRows.queries.indexOf(chosen.query);
      if (chosen.view === "queries") {
        revealCursor();
        drawRows(true);
      }
    }
  } else if (changed.has("view")) {
    drawRows(true);
    drawLines();
  }
  if (any(["a", "b", "measure"])) overviewDrawn = false;
  if (chosen.view !== "overview") return;
  if (!overviewDrawn) drawOverview();
  overviewDrawn = true;
  drawSpread();
}

function drawView() {
  for (const view of ["overview", "queries", "method"]) {
    $(view).hidden = chosen.view !== view;
    if (chosen.view === view) $(`to-${view}`).setAttribute("aria-current", "page");
    else $(`to-${view}`).removeAttribute("aria-current");
  }
  for (const view of /** @type {const} */ (["overview", "method"])) $(`to-${view}`).href = `#${addressText({view, query: null})}`;
  $("to-queries").href = `#${addressText({view: "queries"})}`;
  $("skip").href = `#${chosen.view}`;
}

/** Writes the words of the frame: `data-say` names them, each alone or with the attribute that it is for. */
function writeFrame() {
  for (const node of document.querySelectorAll("[data-say]"))
    for (const part of (node.getAttribute("data-say") ?? "").split(" ")) {
      const [name, attribute] = part.split("@");
      const text = /** @type {Record<string, any>} */ (say)[name];
      if (attribute) node.setAttribute(attribute, text);
      else node.textContent = text;
    }
}

function setUp() {
  writeFrame();
  $("page-title").textContent = readable(data.title);
  $("skip").addEventListener("click", event => {
    event.preventDefault();
    $(chosen.view).focus();
  });
  setUpBar();
  onChange(draw);
  setUpTable(openQuery);
  setUpDownloads();
  watchNotes(() => draw(new Set(["notes", "query"])));
  setUpLines();
  setUpHelp();
  setUpKeys();
  drawMethod();
  $("theme").addEventListener("click", changeTheme);
  DARK.addEventListener("change", () => draw(new Set()));
  let width = innerWidth;
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (innerWidth === width || chosen.view !== "overview") return;
      width = innerWidth;
      drawSpread();
      drawCharts();
    }, 200);
  });
  watchAddress();
  draw(new Set([...Object.keys(chosen), "notes"]));
}

setUp();
