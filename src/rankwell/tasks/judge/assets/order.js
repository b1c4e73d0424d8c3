// The order in which the items of a batch are shown: as arranged, then the postponed ones, and back along the way that one came.

/** @param {JudgingAsk} ask */
const isNew = ask => ask.answer === null && !ask.postponed;

/**
 * The next item without an answer after `at`, or from the beginning; then the one postponed longest ago; null for none.
 * @param {JudgingAsk[]} asks
 * @param {number} at
 */
export function nextAsk(asks, at) {
  for (let step = 1; step <= asks.length; step += 1) {
    const place = (at + step + asks.length) % asks.length;
    if (isNew(asks[place])) return place;
  }
  const postponed = asks.map((ask, place) => ({ask, place})).filter(({ask}) => ask.answer === null);
  postponed.sort((one, other) => one.ask.postponed - other.ask.postponed);
  return postponed[0]?.place ?? null;
}

/**
 * The items that were judged or postponed, in the order of the last act on each.
 * @param {JudgingAsk[]} asks
 */
export function trailOf(asks) {
  return asks.map((_, place) => place).filter(place => !isNew(asks[place]));
}

/**
 * The trail after an act on an item.
 * @param {number[]} trail
 * @param {number} at
 */
export function extended(trail, at) {
  return [...trail.filter(place => place !== at), at];
}

/**
 * The item before this one on the trail; the last one where this one is not on it; null at its beginning.
 * @param {number[]} trail
 * @param {number} at
 */
export function before(trail, at) {
  const place = trail.indexOf(at);
  return place === -1 ? (trail[trail.length - 1] ?? null) : (trail[place - 1] ?? null);
}

/** @param {JudgingAsk[]} asks */
export function answered(asks) {
  return asks.filter(ask => ask.answer !== null).length;
}
