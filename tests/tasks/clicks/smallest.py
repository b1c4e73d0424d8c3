"""The smallest command of the task and its inputs."""

from pathlib import Path

COMMAND = "clicks log.csv --policy mine"
SHOWN = [("q1", "abc"), ("q2", "bac"), ("q3", "cab"), ("q4", "abd"), ("q5", "dba"), ("q6", "acb")]
CLICKS = {("q1", "a"), ("q2", "a"), ("q3", "b"), ("q3", "c"), ("q5", "b"), ("q6", "a")}
LOGGING = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}
MINE = {"a": 0.5, "b": 0.3, "c": 0.1, "d": 0.1}
MODEL = {"a": 0.5, "b": 0.25, "c": 0.25, "d": 0.125, "e": 0.5}
A = [
    ("q1", "abcde"),
    ("q2", "bcade"),
    ("q3", "cabde"),
    ("q4", "abcde"),
    ("q5", "edcba"),
    ("q6", "abc"),
]
B = [
    ("q1", "badec"),
    ("q2", "bcade"),
    ("q3", "acbed"),
    ("q4", "cdabe"),
    ("q5", "abcde"),
    ("q6", "cbd"),
]


def log() -> str:
    """The log: a row for each item that was shown."""
    rows = [(query, item, place) for query, items in SHOWN for place, item in enumerate(items, 1)]
    expected = sum(MINE[item] * MODEL[item] for item in MINE)
    lines = [
        f"{query},{item},{place},{int((query, item) in CLICKS)},{LOGGING[item]},{MINE[item]},{MODEL[item]},{expected}\n"  # noqa: E501
        for query, item, place in rows
    ]
    return "query,item,position,click,propensity,mine,q,v_mine\n" + "".join(lines)


def run(lists: list[tuple[str, str]]) -> str:
    """A TREC run."""
    rows = ((query, item, rank) for query, items in lists for rank, item in enumerate(items, 1))
    return "".join(f"{query} Q0 {item} {rank} {10 - rank} tag\n" for query, item, rank in rows)


def write(folder: Path) -> None:
    """Writes the inputs."""
    files = {
        "log.csv": log(),
        "policy.csv": "item,probability\n"
        + "".join(f"{item},{value}\n" for item, value in MINE.items()),
        "other.tsv": "item\tprobability\na\t0.25\nb\t0.25\nc\t0.25\ne\t0.25\n",
        "model.csv": "item,estimate\n"
        + "".join(f"{item},{value}\n" for item, value in MODEL.items()),
        "a.run": run(A),
        "b.run": run(B),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
