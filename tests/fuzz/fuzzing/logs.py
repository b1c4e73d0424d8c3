"""Fuzzers of logged data: logs of what was shown, tables of policies, interleaved lists, and clicks
on them.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import text_file
from fuzzing.tables import cell_id, cell_number, cells, content, load_json, place_of, text_table

LISTS = {"q1": ("a", "b", "é"), "q2": ("b", "7"), "q3": ("c",)}
"""The interleaved lists that were shown, by name: those of the fuzzer of clicks."""
MARKS = {
    "balanced": "ranks",
    "team-draft": "teams",
    "probabilistic": "probabilities",
    "optimised": "credits",
}
_QUERY = (
    "query",
    "queryid",
    "qid",
    "round",
    "roundid",
    "slate",
    "slateid",
    "session",
    "sessionid",
    "impression",
    "impressionid",
)
_ITEM = ("item", "itemid", "action", "arm", "docno", "docid", "doc")
_POSITION = ("position", "slot", "rank")
_REWARD = ("reward", "click", "clicks", "clicked")
_PROBABILITY = ("propensity", "propensityscore", "pscore", "probability", "prob")
_READ = (*_QUERY, *_ITEM, *_POSITION, *_REWARD, *_PROBABILITY, "mine", "list", "listid")


def _table(
    names: Sequence[str], row: Callable[[Random, int], list[Any]]
) -> Callable[[Random, Path], Path]:
    """Writes a table of a few rows as CSV, TSV or JSON lines."""

    def _written(rng: Random, folder: Path) -> Path:
        form = rng.choice(("csv", "tsv", "jsonl"))
        path = folder / f"input.{form}"
        text = text_table(
            rng, names, [row(rng, number) for number in range(rng.randint(1, 5))], form
        )
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return _written


def _log_row(rng: Random, number: int) -> list[Any]:
    chances = [rng.choice((0.5, 0.25, 1)), rng.choice((0, 0.5, 1))]
    return [
        f"q{number // 2}",
        rng.choice(("a", "é", 7)),
        rng.randint(1, 3),
        rng.randint(0, 1),
        *chances,
    ]


def _click_row(rng: Random, _: int) -> list[Any]:
    name = rng.choice([*LISTS])
    return [name, rng.choice(LISTS[name]), rng.randint(0, 1)]


def _read_cells(path: Path) -> tuple[list[str], list[list[Any]], str]:
    form = path.suffix[1:]
    names, rows = cells(path, form, _READ)
    if form == "csv":
        # A blank behind a delimiter is none of the next cell.
        names = [name.lstrip(" ") for name in names]
        rows = [[cell.lstrip(" ") for cell in row] for row in rows]
    if not rows:
        raise Refused("no rows")
    return names, rows, form


def _number(value: Any, form: str, least: float, most: float, *, above: bool = False) -> float:
    number = cell_number(value, form)
    if not (least < number if above else least <= number) or number > most:
        raise Refused(f"{number} is out of range")
    return number


def _plain_log(path: Path) -> Any:
    names, rows, form = _read_cells(path)
    words = (_QUERY, _ITEM, _POSITION, _REWARD, _PROBABILITY[:3], ("mine",))
    query, item, position, reward, propensity, mine = (place_of(names, each) for each in words)
    if names[mine] != "mine":
        raise Undecided("another column, or a file")
    return sorted(
        (
            *(cell_id(row[place]) for place in (query, item, position)),
            _number(row[reward], form, -math.inf, math.inf),
            _number(row[propensity], form, 1e-300, 1, above=True),
            _number(row[mine], form, 0, 1),
        )
        for row in rows
    )


def _plain_policy(path: Path) -> Any:
    names, rows, form = _read_cells(path)
    plain = [re.sub(r"[\s_-]", "", name.lower()) for name in names]
    if {*plain} & {*_QUERY, *_POSITION}:
        raise Undecided("by query or position")
    item, value = place_of(names, _ITEM), place_of(names, _PROBABILITY)
    found: dict[str, float] = {}
    for row in rows:
        name, number = cell_id(row[item]), _number(row[value], form, 0, 1)
        if name in found:
            raise Refused(f"{name} twice")
        found[name] = number
    return found


def _plain_clicks(path: Path) -> Any:
    names, rows, form = _read_cells(path)
    plain = [re.sub(r"[\s_-]", "", name.lower()) for name in names]
    if {*plain} & {"impression", "impressionid"} or not {*plain} & {*_REWARD}:
        raise Undecided("impressions, or clicks alone")
    words = (("list", "listid", "query", "queryid", "qid"), _ITEM, _REWARD)
    name, item, reward = (place_of(names, each) for each in words)
    found: dict[str, set[int]] = {}
    for row in rows:
        listed, each, clicked = (
            cell_id(row[name]),
            cell_id(row[item]),
            cell_number(row[reward], form),
        )
        if listed not in LISTS or each not in LISTS[listed] or clicked not in (0, 1):
            raise Refused(f"{listed} {each} {clicked}")
        found.setdefault(listed, set()).update([LISTS[listed].index(each)] if clicked else [])
    return {listed: sorted(places) for listed, places in sorted(found.items())}


def _write_lists(rng: Random, folder: Path) -> Path:
    method = rng.choice([*MARKS])
    lines = list[str]()
    for number in range(rng.randint(1, 4)):
        items = rng.sample(["a", "b", "é", "7", "x y"], rng.randint(1, 4))
        marks = {
            "balanced": [[place + 1, rng.choice((None, 1, 2))] for place in range(len(items))],
            "team-draft": [rng.randint(0, 1) for _ in items],
            "probabilistic": [rng.choice((0, 0.5, 1.0)) for _ in items],
            "optimised": [rng.choice((-1, 0.5, 2)) for _ in items],
        }[method]
        value = {
            "list": f"q{number}#1",
            "query": f"q{number}",
            "method": method,
            "runs": ["one", "two"],
            "items": items,
        }
        lines.append(
            json.dumps(value | {MARKS[method]: marks}, ensure_ascii=rng.random() < 0.5) + "\n"
        )
    path = folder / "lists.jsonl"
    path.write_text("".join(lines), encoding="utf-8", newline="")
    return path


def _texts(value: Any) -> tuple[str, ...]:
    if (
        not isinstance(value, list)
        or not all(isinstance(each, str) for each in value)
        or len({*value}) < len(value)
    ):
        raise Refused("no different texts")
    return tuple(map(_text, value))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Refused("no text")
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise Refused("half a character") from error
    return value


def _mark(value: Any, method: str) -> Any:
    if method == "balanced":
        good = isinstance(value, list) and len(value) == 2 and value != [None, None]
        if not good or not all(each is None or (type(each) is int and each > 0) for each in value):
            raise Refused(value)
        return tuple(value)
    if type(value) not in (int, float) or (type(value) is float and not math.isfinite(value)):
        raise Refused(value)
    least, most = {
        "team-draft": (0, 1),
        "probabilistic": (0, 1),
        "optimised": (-math.inf, math.inf),
    }[method]
    if not least <= value <= most or (method == "team-draft" and value not in (0, 1)):
        raise Refused(value)
    return value


def _plain_lists(path: Path) -> Any:
    found: dict[str, Any] = {}
    kinds = set[Any]()
    for line in content(path).split(b"\n"):
        if not line.strip():
            continue
        value = load_json(line.decode("utf-8", "surrogateescape"))
        if not isinstance(value, dict) or value.get("method") not in [*MARKS]:
            raise Refused("no list")
        name, query, method = _text(value.get("list")), _text(value.get("query")), value["method"]
        runs, items, marks = (
            _texts(value.get("runs")),
            _texts(value.get("items")),
            value.get(MARKS[method]),
        )
        if (
            len(runs) != 2
            or name in found
            or not isinstance(marks, list)
            or len(marks) != len(items)
        ):
            raise Refused("no two runs, a list twice, or no marks")
        found[name] = (query, items, tuple(_mark(each, method) for each in marks))
        kinds.add((runs, method))
    if len(kinds) != 1:
        raise Refused("no lists, or of several calls")
    return kinds.pop(), found


def _read_log(path: Path) -> Any:
    from rankwell.tasks.clicks.inputs import read_log
    from rankwell.tasks.clicks.options import ClickOptions

    log = read_log(path, ClickOptions(), {"mine": "mine"}, {})
    has_queries = "query" in log.columns
    if log.items is None or log.positions is None or log.propensities is None or not has_queries:
        return "columns are missing"
    numbers = (log.rewards, log.propensities, log.others["mine"])
    columns = (log.queries, log.items, log.positions, *((each + 0.0).tolist() for each in numbers))
    return sorted(zip(*columns, strict=True))


def _read_policy(path: Path) -> Any:
    from rankwell.tasks.clicks.inputs import PROBABILITY, read_entries

    values = read_entries(path, "probability", PROBABILITY, "the policy").values
    return {item: value + 0.0 for (_, item, _), value in values.items()}


def _read_lists(path: Path) -> Any:
    from rankwell.tasks.clicks.preference import read_lists

    found = read_lists(path)
    first = next(iter(found.values()))
    return (first.runs, first.method), {
        name: (each.query, each.items, each.marks) for name, each in found.items()
    }


def _read_clicks(path: Path) -> Any:
    from rankwell.tasks.clicks.preference import InterleavedList, read_impressions

    known = {
        name: InterleavedList(name, name, "team-draft", ("one", "two"), items, (0,) * len(items))
        for name, items in LISTS.items()
    }
    return {each.name: sorted(each.clicks) for each in read_impressions(path, known)[0]}


_LOG = _table(("query", "item", "position", "click", "propensity", "mine"), _log_row)
_POLICY = _table(
    ("item", "probability"), lambda rng, number: [f"d{number}", rng.choice((0, 0.5, 1, 0.125))]
)
_CLICKS = _table(("list", "item", "click"), _click_row)
FUZZERS["logs: log"] = Fuzzer(_LOG, text_file, _read_log, _plain_log)
FUZZERS["logs: policy"] = Fuzzer(_POLICY, text_file, _read_policy, _plain_policy)
FUZZERS["logs: interleaved lists"] = Fuzzer(_write_lists, text_file, _read_lists, _plain_lists)
FUZZERS["logs: clicks"] = Fuzzer(_CLICKS, text_file, _read_clicks, _plain_clicks)
