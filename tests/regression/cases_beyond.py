"""Command lines of measures beyond accuracy: by the catalogue, interactions, labels, vectors and
judgments.
"""

from pathlib import Path

from tasks.beyond import smallest

RUNS = "beyond beyond/mine.run beyond/popular.run"
ITEMS = (
    "--catalogue beyond/items.csv:id --item-categories beyond/items.csv:genres --item-groups "
    "beyond/items.csv:artist"
)
ALL = (
    f"{ITEMS} --interactions beyond/seen.txt --item-embeddings beyond/vectors.npy --judgments "
    "beyond/qrels.txt"
)
CASES = {
    "beyond/plain": "beyond beyond/mine.run",
    "beyond/all-folder": f"{RUNS} {ALL} -k 3 -o out --overwrite",
    "beyond/interactions": "beyond beyond/popular.run --interactions beyond/seen.txt -q",
    "beyond/named": f"{RUNS} {ALL} -m 'Gini(discount=log)@3 Entropy(form=nats)' -m "
    "ILD(by='embeddings')@3 "
    "--per-query -f json",
    "beyond/groups": f"{RUNS} {ITEMS} -m AWRF@3 -m EED(by='items')@3 --intervals none --seed 3 "
    "-f csv",
    "beyond/recbole": f"{RUNS} {ALL} -c recbole -k 3",
    "beyond/recbole-word": f"{RUNS} {ALL} --convention recbole --measure averagepopularity@2 "
    "--format md",
    "beyond/formats": f"{RUNS} {ALL} --run-format trec --qrels-format trec --duplicates first "
    "-k 2 --output out "
    "-f csv",
    "beyond/no-catalogue": "beyond beyond/mine.run -m ItemCoverage@3",
    "beyond/k-unused": "beyond beyond/mine.run -m Entropy@3 -k 3",
    "beyond/classical": "beyond beyond/mine.run -m nDCG@10",
    "beyond/labels-unnamed": "beyond beyond/mine.run --item-categories beyond/items.csv",
    "beyond/evaluate": "evaluate beyond/qrels.txt beyond/mine.run -m ILD@10",
    "beyond/not-in-the-catalogue": "beyond beyond/mine.run --interactions beyond/seen.txt",
}


def write(folder: Path) -> None:
    """The inputs of the smallest command."""
    (folder / "beyond").mkdir()
    smallest.write(folder / "beyond")
