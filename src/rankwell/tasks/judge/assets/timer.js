// Seconds since an item appeared, without the time in which the window was hidden.

let passed = 0;
/** @type {number | null} */
let since = null;

export function restartTimer() {
  passed = 0;
  since = document.hidden ? null : performance.now();
}

/** Seconds to the millisecond. */
export function secondsPassed() {
  return Math.round(passed + (since === null ? 0 : performance.now() - since)) / 1000;
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) since ??= performance.now();
  else if (since !== null) {
    passed += performance.now() - since;
    since = null;
  }
});
