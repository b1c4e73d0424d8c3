"""Conventions of retrieval for generation, and their own options."""

from typing import NamedTuple


class RagConvention(NamedTuple):
    """Options of a convention for retrieved chunks.

    of_chunks: words of further measures, reported where all chunks of the collection are given.
    """

    of_chunks: tuple[str, ...] = ()
