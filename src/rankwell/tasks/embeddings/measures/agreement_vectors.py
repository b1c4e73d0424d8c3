"""Figures of whole collections of vectors and their lists; `vectors.py` of the task computes
them.
"""

from functools import partial

from rankwell.data.registry import add_figure

_add = partial(add_figure, printed_by=("embeddings",))
_RADOVANOVIC = "Radovanović, Nanopoulos and Ivanović 2010, Hubs in space"
_CKA = """
>>> import numpy as np
>>> from rankwell.tasks.embeddings.vectors import Representation, linear_cka
>>> first = np.array([[0, 1], [1, 0], [1, 1], [2, 1], [0, 0]])
>>> second = np.array([[0.0], [1.0], [1.0], [2.0], [1.0]])
>>> round(linear_cka(Representation(first), Representation(second)).{name}, 4)
{value}
"""
_HUBS = """
>>> import numpy as np
>>> from rankwell.tasks.embeddings.vectors import hubness
>>> hubness(np.array([[0], [0], [1], [0]]), 4, k=1).{name}
{value}
"""

_add(
    "CKA",
    "linear centred kernel alignment of the vectors of the same items",
    source="Kornblith and others 2019",
    details="""
Linear centred kernel alignment, for how alike two spaces are, whatever their axes:

    CKA = |XᵀY|² / (|XᵀX| · |YᵀY|)
    X, Y: the centred vectors
    |…|: the Frobenius norm
"""
    + _CKA.format(name="linear", value="0.6325"),
)
_add(
    "CKA(kind='debiased')",
    "CKA from unbiased estimates of HSIC; 0 on average by chance",
    source="Nguyen, Raghu and Kornblith 2021",
    details="""
Debiased centred kernel alignment, for CKA with few items or many dimensions:

    CKA = HSIC(X, Y) / √(HSIC(X, X) · HSIC(Y, Y))
    HSIC: the unbiased estimate of the Hilbert-Schmidt independence criterion
"""
    + _CKA.format(name="debiased", value="0.3333"),
)
_add(
    "Hubness",
    "skewness of the number of queries that have an item among their first k",
    better="lower",
    source=_RADOVANOVIC,
    details="""
Hubness, for items that are neighbours of everything:

    Hubness = mean of (N - mean)³ / (standard deviation)³
    N: how often an item is among the first k
"""
    + _HUBS.format(name="skewness", value="0.8164965809"),
)
_add(
    "Hubness(kind='largest')",
    "number of queries that have the most frequent item among their first k",
    better="lower",
    source=_RADOVANOVIC,
    details="""
Largest hub, for the item that is a neighbour most often:

    Hubness = max of N
    N: how often an item is among the first k
"""
    + _HUBS.format(name="largest", value="3"),
)
_add(
    "Hubness(kind='never')",
    "share of the items that are among the first k of no query",
    better="lower",
    source=_RADOVANOVIC,
    details="""
Antihubs, for items that no query finds:

    Hubness = (items with N = 0) / (items)
    N: how often an item is among the first k
"""
    + _HUBS.format(name="never", value="0.5"),
)
_add(
    "Change",
    "relative change of a measure's mean from that of the first candidate, over queries "
    "that count in both",
    better="neither",
    details="""
Relative change, for how much a measure differs from the first candidate's:

    Change = (mean - mean of the first candidate) / mean of the first candidate

>>> import numpy as np
>>> from rankwell.stats.paired_bootstrap import relative_changes
>>> relative_changes([(np.array([0.5, 0.5]), np.array([1.0, 0.5]))], bootstrap=False)[0].value
0.5
""",
)
