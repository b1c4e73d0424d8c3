// Light and dark: the system's setting until the reader chooses; the choice is kept in the address and in this browser.

import {choose} from "./address.js";
import {chosen} from "./chosen.js";
import {$, icon} from "./dom.js";
import {say} from "./words.js";

export const DARK = matchMedia("(prefers-color-scheme: dark)");
const KEPT = "rankwell-theme";

function storedTheme() {
  // A page opened from disk may be refused its storage.
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function isDark() {
  const theme = chosen.theme ?? storedTheme();
  return theme === "dark" || (theme !== "light" && DARK.matches);
}

export function drawTheme() {
  const dark = isDark();
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const sun =
    "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.2M8 13.8V15M1 8h1.2M13.8 8H15M3.05 3.05l.85.85M12.1 12.1l.85.85M12.95 3.05l-.85.85M3.9 12.1l-.85.85";
  $("theme").replaceChildren(icon(dark ? sun : "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z"));
  $("theme").setAttribute("aria-label", dark ? say.toLight : say.toDark);
}

export function changeTheme() {
  const theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem(KEPT, theme);
  } catch {
    // The address keeps it.
  }
  choose({theme});
}
