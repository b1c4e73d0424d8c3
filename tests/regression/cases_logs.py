"""Command lines of logged data: estimates by columns and tables, click figures, interleaving and
credit.
"""

from pathlib import Path

import rankwell as rw
from tasks.logs import smallest

LOG = "logs logs/log.csv"
TABLES = "--policy mine=logs/policy.csv --policy other=logs/other.tsv --model logs/model.csv"
LISTS = "interleave logs/a.run logs/b.run -o out.jsonl"
CREDIT = "interleave credit logs/lists.jsonl logs/clicks.csv"
CASES = {
    "logs/clicks": f"{LOG} --by-position",
    "logs/column": f"{LOG} --policy mine",
    "logs/model": f"{LOG} --policy new=mine --model q --expected new=v_mine --column "
    "reward=click -q "
    "--intervals t",
    "logs/tables-folder": f"{LOG} {TABLES} -o out --overwrite",
    "logs/named": f"{LOG} {TABLES} -m IPS(clip=2) -m 'snipw DR(clip=2)' --seed 3 --per-query "
    "-f json",
    "logs/queries": f"{LOG} --policy mine --value-of query --measure SNIPS --format csv "
    "--output out",
    "logs/no-policy": f"{LOG} -m IPS",
    "logs/no-column": f"{LOG} --policy yours",
    "logs/no-expectation": f"{LOG} --policy mine --model q -m DR",
    "logs/interleave": f"{LISTS} -k 3 --seed 2",
    "logs/interleave-balanced": f"{LISTS} --method balanced -k 3 --lists 2 --overwrite",
    "logs/interleave-probabilistic": f"{LISTS} --method probabilistic --tau 2 -k 3 "
    "--run-format trec",
    "logs/interleave-optimised": "interleave logs/a.run logs/b.run --output out.jsonl --method "
    "optimised --credit linear "
    "-k 3 --duplicates first",
    "logs/interleave-one": "interleave logs/a.run -o out.jsonl",
    "logs/credit": CREDIT,
    "logs/credit-folder": f"{CREDIT} --test t --intervals t --level 0.9 --resamples 100 --seed "
    "1 -o out --overwrite "
    "-q",
    "logs/credit-json": f"{CREDIT} --no-cluster --per-query --format json --output out",
    "logs/credit-wrong": "interleave credit logs/lists.jsonl logs/log.csv",
}


def write(folder: Path) -> None:
    """The inputs of the smallest command, lists and clicks on them."""
    place = folder / "logs"
    place.mkdir()
    smallest.write(place)
    lists = rw.interleave(place / "a.run", place / "b.run", k=3, names=("a", "b"))
    (place / "lists.jsonl").write_text("".join(each.line() for each in lists), encoding="utf-8")
    rows = [f"{each.name},{each.items[place % 3]}\n" for place, each in enumerate(lists)]
    (place / "clicks.csv").write_text("query,item\n" + "".join(rows), encoding="utf-8")
