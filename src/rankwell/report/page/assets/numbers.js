// Numbers as the command line writes them.

export const MISSING = "–";

const WHOLE = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

/**
 * As the command line writes it: 4 decimals, percentages and ranks 2, counts none where they are whole.
 * @param {number | null | undefined} value
 * @param {string | undefined} unit
 */
export function number(value, unit) {
  if (value === null || value === undefined) return MISSING;
  if (unit === "count" && Number.isInteger(value)) return WHOLE.format(value);
  return value.toFixed(unit === "percent" || unit === "rank" || unit === "count" ? 2 : 4).replace(/^-/, "−");
}

/** @param {number | null | undefined} value @param {string | undefined} unit */
export function signed(value, unit) {
  if (value === null || value === undefined) return MISSING;
  const text = number(Math.abs(value), unit);
  return Number(text.replace(/,/g, "")) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/** @param {number | null | undefined} value */
export function score(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 0.001 || size >= 1e6) ? value.toExponential(3) : value.toFixed(size < 100 ? 4 : 2);
  return text.replace(/-/g, "−");
}

/** @param {number | null | undefined} p */
export function chance(p) {
  if (p === null || p === undefined) return MISSING;
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/** @param {number} n @param {string} one @param {string} [many] */
export function counted(n, one, many = `${one}s`) {
  return `${WHOLE.format(n)} ${n === 1 ? one : many}`;
}
