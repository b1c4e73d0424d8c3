"""Findings of data sets of photographs."""

from rankwell.data.findings import finding


@finding("warning")
def images_on_both_sides(problem: str) -> str:
    """A query and a reference are the same file, so the query finds itself."""
    return problem


@finding("info")
def images_left_out(counts: str, file: str = "") -> str:
    """Some images are left out: they show nothing, or an object that the other side lacks."""
    return counts


@finding("warning")
def images_unmatched(problem: str, run: str = "") -> str:
    """Some images of one input are missing from another."""
    return problem


@finding("warning")
def images_unreadable(number: str, problem: str) -> str:
    """Some images could not be read or encoded. They are left out.

    Open the first of them in a viewer, and save or fetch it again.
    """
    return f"{number} could not be read or encoded; first {problem}"
