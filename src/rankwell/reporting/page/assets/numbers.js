// Numbers as the command line writes them.

export const MISSING = "–";

/** @type {Record<string, number>} */
const DECIMALS = {"percent": 2, "rank": 2, "count": 2, "ms": 3, "s": 2, "MB": 2, "queries/s": 1};

/** The decimals that were asked for, in the place of those of every unit. @type {number | undefined} */
let asked;

/** @param {number | undefined} digits */
export function showDigits(digits) {
  asked = digits;
}

const WHOLE = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

/**
 * Rounded as C and Python do it: to the nearest, of two that are equally near to the even one. Zero has no sign.
 * @param {number} value
 * @param {number} digits
 */
export function fixed(value, digits) {
  const exact = Math.abs(value) < 1e21 ? value.toFixed(digits) : `${BigInt(value)}${digits ? "." : ""}${"0".repeat(digits)}`;
  // toFixed rounds ties away from zero, which is one too many where the last digit is odd.
  const isTie = (Math.abs(value) * 2 ** (digits + 1)) % 2 === 1;
  const text = isTie ? exact.replace(/[13579]$/, digit => String(Number(digit) - 1)) : exact;
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/**
 * As the command line writes it: 4 decimals, percentages and ranks 2, milliseconds 3, counts none where they are whole.
 * @param {number | null | undefined} value
 * @param {string | undefined} unit
 */
export function number(value, unit) {
  if (value === null || value === undefined) return MISSING;
  if (unit === "count" && Number.isInteger(value)) return fixed(value, 0);
  return fixed(value, asked ?? DECIMALS[unit ?? ""] ?? 4);
}

/** @param {number | null | undefined} value @param {string | undefined} unit */
export function signed(value, unit, write = number) {
  const text = write(value, unit);
  return /[1-9]/.test(text) && !text.startsWith("−") ? `+${text}` : text;
}

/**
 * As `number`, with 3 decimals in the place of 4: what the overview has room for.
 * @param {number | null | undefined} value
 * @param {string | undefined} unit
 */
export function brief(value, unit) {
  return value === null || value === undefined || (unit ?? "") in DECIMALS ? number(value, unit) : fixed(value, asked ?? 3);
}

/** @param {number | null | undefined} value @param {string | undefined} unit */
export function briefChange(value, unit) {
  return signed(value, unit, brief);
}

/**
 * What writes the scores of a column and their differences alike: with 4 decimals, from 100 on 2; with an exponent where the largest
 * is from a million on, or has no digit among 3 decimals. Beside larger ones, a score that would round to 0 is stated as a bound.
 * @param {(number | null | undefined)[]} column
 * @returns {(value: number | null | undefined) => string}
 */
export function scoresLike(column) {
  const largest = Math.max(0, ...column.map(value => Math.abs(value ?? 0)));
  const isLong = largest !== 0 && (largest < 0.001 || largest >= 1e6);
  const digits = column.every(value => Number.isInteger(value ?? 0)) ? 0 : largest < 100 ? 4 : 2;
  const least = fixed(10 ** -digits, digits);
  return value => {
    if (value === null || value === undefined) return "";
    if (isLong) return value.toExponential(3).replace(/-/g, "−");
    const text = fixed(value, digits);
    return value === 0 || /[1-9]/.test(text) ? text : value > 0 ? `< ${least}` : `> −${least}`;
  };
}

/** @param {number | null | undefined} p */
export function chance(p) {
  return p === null || p === undefined ? MISSING : p < 0.0001 ? "< 0.0001" : fixed(p, 4);
}

/** @param {number} n */
export function whole(n) {
  return WHOLE.format(n);
}
