"""Dual softmax: a score counts for more where no other query claims the item."""

import numpy as np

from rankwell.core.tables import Floats
from rankwell.transforms import Matrix, Transformed, check_matrix, check_positive, log_sums, transform, wide


@transform(
    "dual-softmax",
    transductive="queries",
    source="Cheng and others 2021, Improving video-text retrieval by multi-stream corpus alignment and dual softmax loss (CAMoE)",
)
def dual_softmax(scores: Matrix, *, temperature: float) -> Transformed:
    """Each score times the softmax, over all queries, of its item's scores divided by a temperature.

    It looks at all queries at once and takes for granted that each item belongs to one of them: where several queries share an
    item it does harm. Queries are the rows: for the other direction transpose the scores first. The matrix is read twice.
    A score whose softmax is too small for float64 becomes 0 and ties with others: temperatures near 0 do that.
    Raises BadUsage for a temperature that is not above 0, BadScore for scores that are not finite.

    >>> import numpy as np
    >>> dual_softmax(np.array([[2.0, 1.0], [0.0, 1.0]]), temperature=1.0).whole().round(3).tolist()
    [[1.762, 0.5], [0.0, 0.5]]
    """
    check_positive("temperature", temperature)
    shape = check_matrix(scores)
    sums = log_sums(scores, 1.0 / temperature)

    def _read(start: int, stop: int) -> Floats:
        block = wide(scores, start, stop)
        prior = block * (1.0 / temperature)
        prior -= sums
        block *= np.exp(prior, out=prior)
        return block

    return Transformed(shape, _read)
