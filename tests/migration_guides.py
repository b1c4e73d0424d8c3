"""The guides to migration: a script of another tool and rankwell's, on the same files, and the
table of their figures.

A tab of a page in `docs/switch/` has two marked blocks. That after `<!-- theirs -->` leaves
its figures in `scores`, by rankwell's labels; that after `<!-- ours -->` leaves `result`, and where
the files are vectors `relevant` and `run`. `tests/peers/migrations.py` runs the first in
an environment of its own and records `golden/migrations.json`; `test_migrations.py` runs the
second.
"""

import contextlib
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import rankwell as rw
from migration_files import CASES, Case, renamed

ROOT = Path(__file__).resolve().parent.parent
SWITCH = ROOT / "docs" / "switch"
GOLDEN = Path(__file__).resolve().parent / "golden" / "migrations.json"
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "trec_eval": (),
    "pytrec_eval": ("pytrec-eval-terrier==0.5.11",),
    "ir_measures": ("ir-measures==0.4.3", "pytrec-eval-terrier==0.5.11"),
    "ranx": ("ranx==0.3.21",),
    "BEIR": ("torch==2.13.0", "beir==2.2.0", "pytrec-eval-terrier==0.5.11"),
    "MTEB": ("torch==2.13.0", "mteb==2.26.24", "pytrec-eval-terrier==0.5.11"),
    "sentence-transformers": ("torch==2.13.0", "sentence-transformers==6.2.0"),
    "Haystack": ("haystack-ai==3.4.1",),
}
"""Tool -> the pinned packages of its environment; trec_eval is a program."""
CLOSE = 1e-9
PRINTED = {"trec_eval": 4, "BEIR": 5, "MTEB": 5}
"""Tools that round, with the decimals to which all figures are rounded before they are compared."""
ONLY_PLAIN = {"sentence-transformers"}
"""Tools whose files are texts and vectors, so that there is one case."""
Scores = dict[str, float]


class Row(NamedTuple):
    """A figure: theirs (or the error with which their script stops), rankwell's by the page's
    script, and by its own rules.
    """

    case: str
    label: str
    theirs: float | str
    ours: float
    plain: float


def cases_of(tool: str) -> dict[str, Case]:
    """The pairs of files that the tool's script is run on."""
    return {name: case for name, case in CASES.items() if name == "plain" or tool not in ONLY_PLAIN}


def page_of(tool: str) -> Path:
    """The page with the tool's tab."""
    [page] = [
        page
        for page in SWITCH.glob("*.md")
        if f"\n/// tab | {tool}\n" in page.read_text(encoding="utf-8")
    ]
    return page


def tab_of(tool: str) -> str:
    """The tool's tab."""
    text = page_of(tool).read_text(encoding="utf-8")
    return text.partition(f"\n/// tab | {tool}\n")[2].partition("\n///\n")[0]


def script_of(tool: str, side: str) -> str:
    """The marked block of a tab; side: `theirs` or `ours`."""
    found = re.search(
        rf"^<!-- {side} -->\n(?:<!-- [^\n]* -->\n)*\n*```\w+\n(.*?)^```", tab_of(tool), re.M | re.S
    )
    assert found is not None, (tool, side)
    return found[1]


def recorded() -> dict[str, Any]:
    """What `tests/peers/migrations.py` recorded: `about`, and `scores` by tool and case."""
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def rows_of(tool: str, scores: Mapping[str, Scores | str]) -> list[Row]:
    """Every figure of every case, computed in the current folder, which holds the files."""
    rows, script = list[Row](), script_of(tool, "ours")
    for case, theirs in scores.items():
        room: dict[str, Any] = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(renamed(script, CASES[case]), page_of(tool).name, "exec"), room)
        ours = {row.label: row for row in room["result"].summary}
        # Under its own rules rankwell's IPrec is that without a rounding.
        names = {
            row.measure: row.measure.replace("(rounding='floor')", "") for row in ours.values()
        }
        files = (
            (room["relevant"], room["run"])
            if tool in ONLY_PLAIN
            else (f"{CASES[case].qrels}.txt", f"{CASES[case].run}.run")
        )
        own = rw.evaluate(*files, [*names.values()], intervals="none")
        plain: dict[str, Any] = {row.measure: row.mean for row in own.summary}
        for label, row in ours.items():
            value = theirs if isinstance(theirs, str) else _rounded(tool, theirs[label])
            rows.append(
                Row(
                    case,
                    label,
                    value,
                    _rounded(tool, row.mean),
                    _rounded(tool, plain[names[row.measure]]),
                )
            )
    return rows


def differs(one: float | str, other: float | str) -> bool:
    """Whether two figures differ by more than 1e-9; an error differs from every figure."""
    return isinstance(one, str) or isinstance(other, str) or abs(one - other) > CLOSE


def table_of(tool: str, version: str, rows: list[Row], why: Mapping[str, str]) -> str:
    """The table of a guide: figures that differ between the three, with their reasons."""
    names = ", ".join(f"`{row.label}`" for row in rows if row.case == "plain")
    files = "" if tool in ONLY_PLAIN else f" in {len(CASES)} pairs of files with 240 queries"
    different = [
        row for row in rows if differs(row.theirs, row.ours) or differs(row.theirs, row.plain)
    ]
    same = len(rows) - len(different)
    if not different:
        return f"We compared {len(rows)} figures of {version}{files}: {names}. All are equal.\n"
    rest = f"{same} agree in all three columns below. The rest:"
    if not same:
        rest = "Each differs in at least one column:"
    digits = PRINTED.get(tool, 4)
    lines = [
        f"We compared {len(rows)} figures of {version}{files}: {names}. {rest}",
        "",
        f"| files | measure | {tool} | rankwell, script above | rankwell, no convention | reason |",
        "|---|---|---:|---:|---:|---|",
    ]
    for row in different:
        ours = "the same" if not differs(row.theirs, row.ours) else _shown(row.ours, digits)
        plain = "the same" if not differs(row.theirs, row.plain) else _shown(row.plain, digits)
        reason = next(
            (why[name] for name in (f"{row.case}/{row.label}", row.label, row.case) if name in why),
            "",
        )
        title = (
            CASES[row.case].title
            if tool not in ONLY_PLAIN
            else "vectors of small integers, of which many products tie"
        )
        lines.append(
            f"| {title} | `{row.label}` | {_shown(row.theirs, digits)} | {ours} | {plain} "
            f"| {reason} |"
        )
    return "\n".join([*lines, ""])


def reasons_of(tool: str) -> dict[str, str]:
    """The reasons of a tool's differences, its lines `<!-- reason NAME: text -->`; NAME is a case,
    a measure, or CASE/MEASURE.
    """
    return dict(re.findall(r"^<!-- reason (\S+): (.*?) -->$", tab_of(tool), re.M))


FIGURES = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)", re.DOTALL)
"""What `table_of` writes on a page."""


def _rounded(tool: str, value: float) -> float:
    return round(value, PRINTED[tool]) if tool in PRINTED else value


def _shown(value: float | str, digits: int) -> str:
    return value if isinstance(value, str) else f"{value:.{digits}f}"
