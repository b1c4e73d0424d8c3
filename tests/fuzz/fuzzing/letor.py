"""Fuzzers of LETOR files: judgments, and runs by the only feature."""

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused
from fuzzing.mutations import text_file
from fuzzing.tables import NUMBER, Table, add, content, drawn, number_of, read

_SPACES = " \t\r\n\v\f"


def _write(rng: Random, folder: Path) -> Path:
    """A small file, with ids of items or without."""
    named = rng.random() < 0.7
    lines: list[str] = []
    for query, scored in drawn(rng, whole=True).items():
        for item, grade in scored.items():
            comment = f" # docid = {item} inc = 1" if named else ""
            lines.append(f"{grade:g} qid:{query} 3:{rng.choice((0.5, 2, -1, 1e-5))!r}{comment}\n")
    path = folder / "input.letor"
    path.write_text("".join(lines), encoding="utf-8", newline="")
    return path


def _plain(path: Path, *, by_feature: bool) -> Table:
    """The table, read character by character as the form says."""
    table: Table = {}
    kinds, features, rows = set[bool](), set[str](), list[tuple[str, str, str, dict[str, str]]]()
    text = content(path).decode("utf-8", "surrogateescape")
    for line in text.split("\n"):
        body, _, comment = line.partition("#")
        fields = [each for each in re.split(f"[{_SPACES}]+", body) if each]
        if not fields:
            if line.strip(_SPACES) and "#" not in line:
                raise Refused(line)
            continue
        if len(fields) < 2 or not fields[1].startswith("qid:") or fields[1] == "qid:":
            raise Refused(line)
        own: dict[str, str] = {}
        for each in fields[2:]:
            name, _, value = each.partition(":")
            if not re.fullmatch("[0-9]+", name) or not re.fullmatch("[-+._0-9A-Za-z]+", value):
                raise Refused(each)
            if by_feature and name in own:
                raise Refused(name)
            own[name] = value
        behind = re.split(f"(?:^|[{_SPACES}#])docid[ \t]*=[ \t]*", comment)[1:]
        item = next(filter(None, (re.split(f"[{_SPACES}]", each)[0] for each in behind)), "")
        if "docid" in comment and not item:
            raise Refused(comment)
        kinds.add(bool(item))
        features |= own.keys()
        rows.append((fields[1][4:], item, fields[0], own))
    if not rows or len(kinds) > 1 or (by_feature and len(features) != 1):
        raise Refused("no rows, items in two ways, or several features")
    places: dict[str, int] = {}
    for query, item, grade, own in rows:
        if not re.fullmatch(NUMBER, grade):
            raise Refused(grade)
        number = number_of(own.get(next(iter(features)), "0") if by_feature else grade)
        number_of(grade)
        add(table, query, item or str(places.get(query, 0)), number)
        places[query] = places.get(query, 0) + 1
    return table


def _bound(by_feature: bool) -> Callable[[Path], Table]:
    return lambda path: _plain(path, by_feature=by_feature)


for _holds in ("run", "judgments"):
    FUZZERS[f"{FORMATS}: letor {_holds}"] = Fuzzer(
        _write, text_file, read(_holds, "letor"), _bound(_holds == "run")
    )
