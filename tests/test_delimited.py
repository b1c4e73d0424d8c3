import pytest

from rankwell.documents import delimited_rows
from rankwell.errors import BadLine


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_between_tabs_each_line_is_a_row_and_marks_are_characters(end: str):
    lines = ["a\tb", '"x\t1', "", 'y"\t2', '\t""']

    found = delimited_rows(end.join(lines), "t", "\t")

    assert found == [(number, line.split("\t")) for number, line in enumerate(lines, 1) if line]


def test_between_commas_a_cell_in_quotation_marks_may_have_lines():
    found = delimited_rows('a,b\n"x\n""y""",1\n\nz,"2"\n', "t", ",")

    assert found == [(1, ["a", "b"]), (3, ['x\n"y"', "1"]), (5, ["z", "2"])]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n"x,1\ny,2\n', 2),
        ('a,b\nx,1\n"y,2', 3),
        ('a,b\n"x,1\ny,2\n"z",3\n', 2),
        ('a,b\nx,"1\ny,2" 3\n', 2),
    ],
)
def test_a_mark_that_takes_in_lines_by_mistake_is_refused(text: str, line: int):
    with pytest.raises(BadLine, match=f"^t:{line}: .* has a quote that is not closed on its line"):
        delimited_rows(text, "t", ",")
