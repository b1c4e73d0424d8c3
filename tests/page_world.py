"""Data of pages for the tests of the page: small, known in every place, and one full of what must
not be run.
"""

import json
from pathlib import Path
from typing import Any

from rankwell.reporting.page.document import render_page

RUNS = ["first_sentences", "whole_docs"]
MEASURES = ["nDCG@10", "AP"]
ITEMS = 30
HOSTILE = [
    "</script><script>window.ran = 1</script>",
    '<img src="x" onerror="window.ran = 1">',
    "مرحبا بالعالم",
    "👩\u200d👩\u200d👧 and 🌍",
    "__proto__",
    "x" * 400,
    "a\u2028b",
]


def world(n: int = 40, runs: list[str] = RUNS, listed: int = 40) -> dict[str, Any]:
    """A page of n queries; the first `listed` have lists."""
    several = len(runs) > 1
    return {
        "schema": 1,
        "tool": "rankwell 0",
        "title": " and ".join(runs),
        "protocol": "runs",
        "verdicts": [
            f"{runs[1]} is better than {runs[0]}: +0.100 nDCG@10 (95% CI 0.050 to 0.150, "
            "p = 0.0200)."
        ]
        if several
        else [],
        "findings": [{"name": "reading-choice", "level": "info", "message": "a note"}],
        "rules": [["ties", "id-desc"]],
        "inputs": [["judgments", "sha256:00"]],
        "runs": runs,
        "measures": [
            {
                "name": name,
                "label": name,
                "unit": "share",
                "better": "higher",
                "of": None,
                "definition": f"what {name} is",
            }
            for name in MEASURES
        ],
        "summary": [
            {
                "run": run,
                "measure": measure,
                "mean": 0.5,
                "low": 0.4,
                "high": 0.6,
                "sd": 0.2,
                "n": n,
            }
            for run in range(len(runs))
            for measure in range(len(MEASURES))
        ],
        "differences": [_difference()] if several else [],
        "groups": [
            {"name": "type", "value": "odd", "n": n // 2, "verdict": "not decisive", "small": True}
        ],
        "charts": [{"id": "c", "title": "A chart", "note": "says a thing", "spec": _chart()}],
        "queries": _queries(n, runs),
        "items": {
            "id": [f"d{item}" for item in range(ITEMS)],
            "text": [f"document of the Númber {item}" for item in range(ITEMS)],
            "thumbnail": [None] * ITEMS,
        },
        "shown": {
            "queries": min(n, listed),
            "of": n,
            "results": 20,
            "rule": "The first ones have lists.",
        },
        "lists": {
            str(query): [_list(query, run) for run in range(len(runs))]
            for query in range(min(n, listed))
        },
    }


def hostile_world() -> dict[str, Any]:
    """The same with texts that would run, or disturb the page, if they were taken for more than
    texts.
    """
    data = world(runs=["<b>run</b>", HOSTILE[0]])
    queries, items = data["queries"], data["items"]
    for place, text in enumerate(HOSTILE):
        for ids, texts in ((queries["id"], queries["text"]), (items["id"], items["text"])):
            ids[place], texts[place] = text, f"{text} number"
    items["thumbnail"][:3] = [
        "javascript:window.ran = 1",
        "https://example.org/x.png",
        f"data:text/html,{HOSTILE[0]}",
    ]
    data["verdicts"] = [f"{HOSTILE[0]} is better, {HOSTILE[1]}"]
    queries["flags"][HOSTILE[1]] = [[0], [0]]
    queries["attributes"][HOSTILE[0]] = [HOSTILE[1]] * len(queries["id"])
    return data


def written(folder: Path, data: dict[str, Any], *, parted: bool = False) -> Path:
    """The page of such data, as rankwell writes it."""
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")
    path = folder / "report.html"
    path.write_text(render_page(text, data["title"], parted=parted), encoding="utf-8")
    return path


def _queries(n: int, runs: list[str]) -> dict[str, Any]:
    """Values that spread over 0 to 1; the first and the last run are equal in every fifth query by
    the first measure.
    """
    values = [
        [
            [((7 * query + 13 * run + measure) % 101) / 100 for query in range(n)]
            for run in range(len(runs))
        ]
        for measure in (0, 1)
    ]
    for query in range(0, n, 5):
        values[0][-1][query] = values[0][0][query]
    return {
        "id": [f"q{query:04}" for query in range(n)],
        "text": [f"find the number {query}" for query in range(n)],
        "attributes": {"type": ["odd" if query % 2 else "even" for query in range(n)]},
        "flags": {"no relevant": [[1, 2]] * len(runs), "tie at rank 5": [[2, 3]] * len(runs)},
        "values": values,
        "relevant": [[2] * n for _ in runs],
        "first": [[3 if query % 3 else None for query in range(n)] for _ in runs],
    }


def _list(query: int, run: int) -> list[list[Any]]:
    """Six results in the three states in turn, of which runs share some, and a relevant item that
    is not retrieved.
    """
    states = ("nonrelevant", "unjudged", "relevant")
    results = [
        [
            (query + step * (run + 1)) % (ITEMS - 3),
            step + 1,
            9.5 - step,
            1.0 if step == 2 else None,
            states[step % 3],
            None,
        ]
        for step in range(6)
    ]
    return [*results, [ITEMS - 1 - run, None, None, 2.0, "relevant", None]]


def _difference() -> dict[str, Any]:
    interval = {"difference": 0.1, "low": 0.05, "high": 0.15, "p": 0.01, "adjusted_p": 0.02}
    interval["decisive"] = True
    return {"a": 0, "b": 1, "measure": 0, **interval, "better": 9, "worse": 5, "equal": 3}


def _chart() -> dict[str, Any]:
    """Bars with a computed field: an expression, which the page must draw without eval."""
    return {
        "data": {"values": [{"x": 1, "y": 2}, {"x": 2, "y": 3}]},
        "transform": [{"calculate": "datum.y * 2", "as": "z"}],
        "mark": "bar",
        "width": "container",
        "height": 80,
        "encoding": {
            "x": {"field": "x", "type": "ordinal"},
            "y": {"field": "z", "type": "quantitative"},
            "color": {"value": "#1f6fb2"},
        },
    }
