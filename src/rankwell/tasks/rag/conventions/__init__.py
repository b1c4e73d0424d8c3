"""Conventions of retrieval for generation, and their own options."""

from typing import NamedTuple


class RagConvention(NamedTuple):
    """Options of a convention.

    of_chunks: the words that are reported as well where all chunks of the collection are given.
    """

    of_chunks: tuple[str, ...] = ()
