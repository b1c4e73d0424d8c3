"""Findings of data sets of photographs."""

from rankwell.data.findings import finding


@finding("warning")
def images_on_both_sides(problem: str) -> str:
    """A query and a reference are the same file: it finds itself."""
    return problem


@finding("info")
def images_left_out(counts: str, file: str = "") -> str:
    """Images take no part, as they show nothing, or an instance that the other side lacks."""
    return counts


@finding("warning")
def images_unmatched(problem: str, run: str = "") -> str:
    """Images of one input are not among those of another one."""
    return problem


@finding("warning")
def images_unreadable(number: str, problem: str) -> str:
    """Images could not be read or encoded, and take no part."""
    return f"{number} could not be read or encoded; first {problem}"
