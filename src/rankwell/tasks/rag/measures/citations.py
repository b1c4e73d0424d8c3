"""Citations of generated statements: whether what is cited entails them, and whether each citation
is needed.
"""

import numpy as np

from rankwell.data.registry import measure
from rankwell.data.tables import Floats
from rankwell.tasks.rag.passages import CitedStatements

_ALCE = (
    "Gao, Yen, Yu and Chen 2023, Enabling large language models to generate text with "
    "citations, section 4; ALCE 246c476"
)
_FURTHER = {"unjudged tail": "every further statement has to be supported as well"}


@measure("CitationR", source=_ALCE, aliases="citation_rec", exempt=_FURTHER)
def citation_recall(view: CitedStatements) -> Floats:
    """The share of an answer's statements that their citations together entail; a statement without
    citations is not entailed.

    Citation recall, for whether every statement of an answer is backed by its citations:

        CitationR = (statements entailed by all that they cite) / (statements)

    >>> from rankwell.tasks.rag.passages import CitedStatements, Statement
    >>> one = Statement("s1", frozenset("a"), {frozenset("a"): True})
    >>> citation_recall(
    ...     CitedStatements(("q",), ((one, Statement("s2", frozenset(), {})),))
    ... ).tolist()
    [0.5]
    """
    shares = [
        sum(statement.is_supported for statement in statements) / len(statements)
        if statements
        else 0.0
        for statements in view.statements
    ]
    return np.array(shares, dtype=np.float64)


@measure("CitationP", source=_ALCE, aliases="citation_prec")
def citation_precision(view: CitedStatements) -> Floats:
    """The share of an answer's citations that support their statements; 0 without citations.

    Citation precision, for whether the citations of an answer support it:

        CitationP = (citations that support their statement) / (citations)

    A citation supports its statement if all citations together entail the statement, and either
    this one entails it alone or the others do not.

    >>> from rankwell.tasks.rag.passages import CitedStatements, Statement
    >>> a, b, both = frozenset("a"), frozenset("b"), frozenset("ab")
    >>> citation_precision(
    ...     CitedStatements(("q",), ((Statement("s", both, {both: True, a: True, b: False}),),))
    ... ).tolist()
    [0.5]
    """
    values: list[float] = []
    for statements in view.statements:
        cited = sum(len(statement.cited) for statement in statements)
        values.append(sum(statement.precise for statement in statements) / cited if cited else 0.0)
    return np.array(values, dtype=np.float64)
