"""Priority samples and the difference estimator, written plainly from their formulas."""

import hashlib
import math
from collections.abc import Sequence
from statistics import NormalDist, mean, stdev

from scipy import stats


def permanent_number(seed: int, *ids: bytes) -> float:
    """The first 53 bits of SHA-256 of the length-prefixed seed and ids, over 2**53."""
    text = b"".join(len(part).to_bytes(8, "big") + part for part in (str(seed).encode(), *ids))
    bits = bin(int(hashlib.sha256(text).hexdigest(), 16))[2:].zfill(256)[:53]
    return int(bits, 2) / 2**53


def drawn(u: Sequence[float], size: Sequence[float], n: int) -> tuple[list[int], float]:
    """The n items of the lowest u / size, and the priority of the next one."""
    ranked = sorted((u[at] / size[at], at) for at in range(len(u)) if size[at] > 0)
    return [at for _, at in ranked[:n]], ranked[n][0] if n < len(ranked) else math.inf


def totals(
    queries: int,
    query: Sequence[int],
    c: Sequence[float],
    m: Sequence[float],
    pi: Sequence[float],
    gain: dict[int, float],
    share: Sequence[float],
) -> list[float]:
    """T_q = sum of c lambda m over all items of q + sum of c (g - lambda m) / pi over its judged
    ones.
    """
    found = [0.0] * queries
    for at, owner in enumerate(query):
        found[owner] += c[at] * share[owner] * m[at]
        if at in gain:
            found[owner] += c[at] * (gain[at] - share[owner] * m[at]) / pi[at]
    return found


def share(
    query: Sequence[int],
    c: Sequence[float],
    m: Sequence[float],
    pi: Sequence[float],
    gain: dict[int, float],
    others: set[int],
) -> float:
    """Lambda, fitted on the judged items of some queries that were not certain to be judged."""
    rows = [at for at in gain if query[at] in others and pi[at] < 1]
    v = {at: c[at] ** 2 * (1 - pi[at]) / pi[at] ** 2 for at in rows}
    below = sum(v[at] * m[at] ** 2 for at in rows)
    if sum(gain[at] > 0 for at in rows) < 5 or below == 0:
        return 1.0
    return min(1.0, max(0.0, sum(v[at] * m[at] * gain[at] for at in rows) / below))


def these_queries(
    values: Sequence[float],
    query: Sequence[int],
    c: Sequence[float],
    m: Sequence[float],
    pi: Sequence[float],
    gain: dict[int, float],
    shares: Sequence[float],
    level: float,
) -> tuple[float, float]:
    """The normal interval with the variance of drawing the items."""
    variance = sum(
        (1 - pi[at]) / pi[at] ** 2 * (c[at] * (gain[at] - shares[query[at]] * m[at])) ** 2
        for at in gain
    )
    reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(variance) / len(values)
    return mean(values) - reach, mean(values) + reach


def queries_like_these(values: Sequence[float], level: float) -> tuple[float, float]:
    """Student's interval over the totals."""
    reach = (
        float(stats.t.ppf((1 + level) / 2, len(values) - 1))
        * stdev(values)
        / math.sqrt(len(values))
    )
    return mean(values) - reach, mean(values) + reach
