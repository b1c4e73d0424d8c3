"""Conventions of retrieval for generation, and their own options."""

from typing import NamedTuple


class RagConvention(NamedTuple):
    """Options of a convention for retrieved chunks.

    of_chunks: further measures, reported if you name all chunks of the collection.
    """

    of_chunks: tuple[str, ...] = ()
