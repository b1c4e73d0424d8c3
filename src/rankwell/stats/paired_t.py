"""The paired t-test: whether the mean of paired differences is 0, as far as a mean is normal; also for clusters of queries."""

import math
from typing import NamedTuple

from rankwell.core.tables import Floats
from rankwell.stats import student_p, student_quantile


class PairedT(NamedTuple):
    """t: mean over its standard error. p: two-sided. error: the standard error. freedom: degrees of freedom, clusters less 1."""

    t: float
    p: float
    error: float
    freedom: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of the mean. Raises BadUsage for a level outside (0, 1)."""
        reach = student_quantile(level, self.freedom) * self.error
        mean = 0.0 if self.t == 0 else self.t * self.error
        return mean - reach, mean + reach


def paired_t(sums: Floats, sizes: Floats | None = None) -> PairedT | None:
    """Student's test of the mean of differences; None for fewer than two of them, and where all are the same but 0.

    sums: (n,) the differences, or the sum of those of each cluster, with sizes: (n,) how many each cluster has; the mean is
    then Σ sums / Σ sizes and its error that of a ratio, by linearisation. Where every difference is 0, p is 1.
    Source: Student 1908; for clusters Cochran 1977, Sampling Techniques, 6.4.
    """
    n = len(sums)
    if n < 2:
        return None
    total = n if sizes is None else float(sizes.sum())
    mean = float(sums.sum()) / total
    off = sums - mean * (1.0 if sizes is None else sizes)
    error = math.sqrt(n / (n - 1) * float((off * off).sum())) / total
    if not sums.any():
        return PairedT(0.0, 1.0, 0.0, n - 1)
    if error <= 1e-12 * abs(mean):
        return None
    return PairedT(mean / error, student_p(mean / error, n - 1), error, n - 1)
