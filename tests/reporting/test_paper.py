"""Tables for papers in HTML and Markdown: what LaTeX has, they have."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import rankwell as rw
from rankwell.task import printed_rows
from regression.running import in_process

HOSTILE = '<b onclick="x">|`$x_1$`&amp;</b>'
MEASURES = ["nDCG@10", "AP", "RR"]


def evaluated(*names: str) -> rw.Results:
    """The results of runs, each better than those before it."""
    random = np.random.default_rng(5)
    qrels = {f"q{query}": {f"d{item}": 1 for item in range(3)} for query in range(40)}
    runs = {
        name: {
            query: {f"d{item}": float(random.normal(place * (item < 3), 1.5)) for item in range(20)}
            for query in qrels
        }
        for place, name in enumerate(names)
    }
    return rw.evaluate(qrels, runs, MEASURES)


class Table(HTMLParser):
    """The cells as they are seen, with their marks; the tags, their attributes, and all comments.

    Everything that is opened is closed.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self.attributes: dict[str, list[str | None]] = {}
        self.caption, self.paragraphs, self.comments = "", list[str](), list[str]()
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
        elif tag == "p":
            self.paragraphs.append("")
        elif tag in ("strong", "u", "sup"):
            self.rows[-1][-1] += f"<{tag}>"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "span" in self.open:  # It is not seen.
            return
        if "caption" in self.open:
            self.caption += data
        elif "p" in self.open:
            self.paragraphs[-1] += data
        elif {"th", "td"} & {*self.open}:
            self.rows[-1][-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def test_html_has_what_latex_has():
    result = evaluated("low", "middle", "high")
    style = {"caption": "Two & <one>", "label": "tab:mine", "digits": 2, "underline_second": True}

    html, latex = Table(result.to_html(**style)), result.to_latex(**style)

    assert html.caption == "Two & <one>"
    assert html.attributes["id"] == ["tab:mine"]
    assert html.rows[0] == [" ", "system", *MEASURES]
    tags = {r"\textbf": "<strong>", r"\underline": "<u>", r"\textsuperscript": "<sup>"}
    body = re.sub(r"\\phantom\{\w+\}", "", latex.split("\\midrule\n")[1]).split("\\bottomrule")[0]
    for command, tag in tags.items():
        body = body.replace(command, tag)
    lines = [re.sub(r"[{}\s]", "", line).split("&") for line in body.splitlines()]
    assert html.rows[1:] == [[cell.removesuffix(r"\\") for cell in line] for line in lines]
    assert all(re.match(r"<strong>0\.\d\d<sup>a", cell) for cell in html.rows[3][2:])
    assert html.rows[2][2].startswith("<u>0.")
    assert html.rows[3][2].endswith("<sup>ab")
    assert html.paragraphs[0] == "Best in bold, second best underlined."
    assert html.paragraphs[1].startswith("Superscripts: ")
    assert html.paragraphs[2].startswith("Test: randomisation")
    assert html.paragraphs[3] == "Scores over 40 queries."
    assert "Scores over 40 queries.\\par" in latex
    assert html.comments[0].startswith(" rules: 40 queries counted")


def test_markdown_has_what_latex_has():
    result = evaluated("low", "middle", "high")

    text = result.to_markdown(caption="Two & one", digits=2, underline_second=True)

    caption, table, *legend, rules = text.rstrip("\n").split("\n\n")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert caption == "**Two & one**"
    assert rows[0] == ["", "system", *MEASURES]
    assert all(re.fullmatch(r"0\.\d\d", cell) for cell in rows[2][2:])
    assert all(re.fullmatch(r"<u>0\.\d\d</u>(<sup>a</sup>)?", cell) for cell in rows[3][2:])
    assert all(re.fullmatch(r"\*\*0\.\d\d\*\*<sup>ab?</sup>", cell) for cell in rows[4][2:])
    assert legend[0] == "Best in bold, second best underlined."
    assert [line.partition(":")[0] for line in legend[1:-1]] == ["Superscripts", "Test"]
    assert legend[-1] == "Scores over 40 queries."
    assert rules.startswith("<!-- rules: 40 queries counted")


def test_the_second_best_is_underlined_on_request_alone():
    result = evaluated("low", "high")

    assert "<u>" not in result.to_html() + result.to_markdown()


def test_figures_end_at_one_place_in_html_and_begin_at_one_in_markdown():
    result = evaluated("low", "high")
    numbers = re.findall(r"<td style=.text-align:right[^>]*>(.*?)</td>", result.to_html())

    assert len(numbers) == 2 * len(MEASURES)
    assert all(re.search(r"<sup>\D*a\D*</sup>$", number) for number in numbers)
    assert set(result.to_markdown().splitlines()[3]) == {"|", "-", " "}
    assert result.summary.to_markdown().splitlines()[1].count("-: |") == 4


def test_names_are_text_in_every_table():
    result = evaluated(HOSTILE, "other")
    texts = [
        result.to_html(caption=HOSTILE, label=HOSTILE),
        result.to_html("per_query"),
        result.compare().to_html(),
        result.summary.to_html(),
    ]

    for text in texts:
        table = Table(text)
        assert not {"b"} & {*table.tags}
        assert {*table.attributes} <= {"style", "scope", "id"}
        assert any(HOSTILE in cell for row in table.rows for cell in row)
    assert Table(texts[0]).caption == HOSTILE
    assert Table(texts[0]).attributes["id"] == [HOSTILE]
    assert "\\<b" in result.to_markdown(caption=HOSTILE)
    assert "--><" not in texts[0].partition("<!--")[2]


def test_the_rules_cannot_leave_their_comment():
    result = rw.evaluate({"q": {"a": 1}}, {"r": {"q": {"a": 1.0}}}, "RR")
    object.__setattr__(result, "rules", {**result.rules, "convention": "x --><script>"})

    for text in (result.to_html(), result.to_markdown()):
        assert text.count("-->") == 1
        assert "<script" not in text


def test_other_tables_are_tables_without_a_caption():
    result = evaluated("a", "b")

    assert Table(result.to_html("per_query")).rows[0] == ["run", "query", *MEASURES]
    assert "caption" not in Table(result.to_html("per_query")).tags
    assert result.to_markdown("per_query").startswith("| run | query")
    for write in (result.to_html, result.to_markdown):
        with pytest.raises(rw.UnknownName, match="no table 'nothing'"):
            write("nothing")


def test_commands_print_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    result = evaluated("low", "high")
    random = np.random.default_rng(5)
    lines = [f"q{query} 0 d{item} 1" for query in range(40) for item in range(3)]
    Path("qrels").write_text("\n".join(lines) + "\n")
    for place, name in enumerate(("low", "high")):
        Path(f"{name}.run").write_text(
            "".join(
                f"q{query} Q0 d{item} 0 {random.normal(place * (item < 3), 1.5)!r} {name}\n"
                for query in range(40)
                for item in range(20)
            )
        )
    asked = ["qrels", "low.run", "high.run", "-m", ",".join(MEASURES)]
    style = ["--caption", "Mine", "--label", "tab:mine", "--digits", "2", "--underline-second"]
    wanted = result.to_html(caption="Mine", label="tab:mine", digits=2, underline_second=True)

    evaluate = in_process(["evaluate", *asked, "-f", "html", *style])[1]
    compare = in_process(["compare", *asked, "-f", "html", *style])[1]

    assert evaluate.partition("<!--")[0] == wanted.partition("<!--")[0]
    assert wanted.partition("<!--")[0].partition("<p")[0] in compare
    verdict = Table(compare).paragraphs[0]
    assert verdict.startswith("high is better than low: +")
    assert Table(compare).tags.count("table") >= 2


def test_sentences_between_tables_are_markup_of_the_format():
    tables = [f"first {HOSTILE}\nsecond\n", [{"n": 1}]]

    html = printed_rows([], "html", tables=tables)
    latex = printed_rows([], "latex", tables=tables)

    assert Table(html).paragraphs == [f"first {HOSTILE}", "second"]
    assert latex.splitlines()[:2] == [f"% first {HOSTILE}", "% second"]
    assert printed_rows([], "md", tables=tables).startswith(r"first \<b")
