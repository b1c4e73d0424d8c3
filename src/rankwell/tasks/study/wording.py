"""Counts in the sentences of a study."""


def count_of(n: int, one: str, several: str = "") -> str:
    """A count with its words: `one` for 1, else `several`, by default the same with an s.

    >>> count_of(1, "item"), count_of(2, "item"), count_of(0, "item has", "items have")
    ('1 item', '2 items', '0 items have')
    """
    return f"{n} {one if n == 1 else several or one + 's'}"
