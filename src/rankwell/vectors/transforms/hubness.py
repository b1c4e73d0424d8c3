"""Against hubs, items that are similar to everything: dual softmax and querybank normalisation."""

import numpy as np

from rankwell.data.tables import Bools, Floats
from rankwell.errors import BadInput
from rankwell.vectors.transforms import (
    Matrix,
    Transformed,
    blocks,
    check_finite,
    check_matrix,
    check_whole,
    log_sums,
    transform,
    wide,
)


@transform(
    "dual-softmax",
    transductive="queries",
    source="Cheng and others 2021, Improving video-text retrieval by multi-stream corpus alignment "
    "and dual softmax loss (CAMoE)",
)
def dual_softmax(scores: Matrix, *, temperature: float) -> Transformed:
    """Each score times the softmax, over all queries, of its item's scores divided by a
    temperature.

    It looks at all queries at once and takes for granted that each item belongs to one of them:
    where several queries share an item it does harm. Queries are the rows: for the other direction
    transpose the scores first. The matrix is read twice.
    A score whose softmax is too small for float64 becomes 0 and ties with others: temperatures near
    0 do that.
    Raises BadUsage for a temperature that is not above 0, BadScore for scores that are not finite.

    >>> import numpy as np
    >>> dual_softmax(np.array([[2.0, 1.0], [0.0, 1.0]]), temperature=1.0).whole().round(3).tolist()
    [[1.762, 0.5], [0.0, 0.5]]
    """
    check_finite("temperature", temperature, "above 0")
    shape = check_matrix(scores)
    sums = log_sums(scores, 1.0 / temperature)

    def _read(start: int, stop: int) -> Floats:
        block = wide(scores, start, stop)
        prior = block * (1.0 / temperature)
        prior -= sums
        block *= np.exp(prior, out=prior)
        return block

    return Transformed(shape, _read)


@transform(
    "querybank",
    transductive="gallery",
    source="Bogolin and others 2022, Cross modal retrieval with querybank normalisation",
)
def querybank(
    scores: Matrix, bank: Matrix, *, beta: float = 20.0, k: int = 1, dynamic: bool = True
) -> Transformed:
    """Each score is divided by what a bank of other queries gives the item: exp(beta · score) over
    their sum of such terms.

    bank: (bank queries, gallery) scores of queries from training data; what is found with test
    queries in it is transductive over queries. dynamic: only queries whose first item is among the
    first `k` items of some query of the bank are changed, and others keep their scores (the dynamic
    inverted softmax); False changes all (the inverted softmax).
    Changed rows hold the logarithm of that quotient: the same order, and nothing overflows. Changed
    and unchanged rows are not on one scale, so ranks are meant within a query only. Among equal
    scores the lower position in the gallery comes first. Raises BadUsage for beta or k out of
    range, BadInput for a bank with another gallery, BadScore for scores that are not finite.

    >>> import numpy as np
    >>> scores, bank = np.array([[0.5, 0.4], [0.1, 0.9]]), np.array([[0.9, 0.1], [0.8, 0.2]])
    >>> querybank(scores, bank).whole().round(2).tolist()
    [[-8.13, 3.87], [0.1, 0.9]]
    """
    check_finite("beta", beta, "above 0")
    k = check_whole("k", k)
    shape, bank_shape = check_matrix(scores), check_matrix(bank, "bank")
    if bank_shape[1] != shape[1]:
        raise BadInput(
            f"the bank has {bank_shape[1]} columns and the scores {shape[1]}; both have one for "
            "each item of one gallery."
        )
    sums = log_sums(bank, beta, "bank")
    hubs = _activated(bank, k) if dynamic else np.ones(shape[1], dtype=np.bool_)

    def _read(start: int, stop: int) -> Floats:
        block = wide(scores, start, stop)
        changed = hubs[block.argmax(axis=1)]
        block[changed] = block[changed] * beta - sums
        return block

    return Transformed(shape, _read)


def _activated(bank: Matrix, k: int) -> Bools:
    """Whether each item is among the first `k` of any query of the bank."""
    is_activated = np.zeros(bank.shape[1], dtype=np.bool_)
    for _, block in blocks(bank, "bank"):
        if k == 1:
            is_activated[block.argmax(axis=1)] = True
        else:
            is_activated[np.argsort(-block, axis=1, kind="stable")[:, :k].ravel()] = True
    return is_activated
