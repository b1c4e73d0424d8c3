"""Marks of cells for displays."""


class Heading(str):
    """The name of a column that tables show as it is, such as the name of a measure."""

    __slots__ = ()
