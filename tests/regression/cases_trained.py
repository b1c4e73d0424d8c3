"""Command lines of fusion methods that learn."""

from pathlib import Path
from random import Random

from regression.worlds import ITEMS, trec


def write(folder: Path) -> None:
    """Runs of two queries that the judgments do not have."""
    (folder / "new").mkdir()
    for place, name in enumerate("abc"):
        random = Random(50 + place)
        run = {
            query: {item: random.randrange(40) / 8 for item in random.sample(ITEMS, 12)}
            for query in ("n1", "n2")
        }
        (folder / f"new/{name}.run").write_text(trec(run, name), encoding="utf-8")


def _fuse() -> dict[str, str]:
    base = "fuse new/a.run new/b.run new/c.run -o out/fused.csv"
    training = "--train-judgments qrels.txt --train-runs a.run b.run c.run"
    tune = "fuse a.run b.run c.run -o out/tuned.run --tune qrels.txt --folds 3 --step 0.5 -f csv"
    methods = (
        "bayesfuse",
        "mapfuse",
        "posfuse",
        "segfuse",
        "segfuse(ends=True)",
        "slidefuse",
        "probfuse(segments=3)",
    )
    cases = {
        f"trained-{method.split('(')[0]}{'-p' * ('(' in method)}": (
            f"{base} --method '{method}' {training}"
        )
        for method in methods
    }
    cases["trained-judged"] = (
        f"{base} --method 'probfuse(segments=3,judged=True,rel=2)' {training} --qrels-format trec"
    )
    cases["trained-by-nothing"] = f"{base} --method mapfuse"
    cases["trained-on-itself"] = (
        f"fuse a.run b.run c.run -o out/fused.csv --method mapfuse {training}"
    )
    cases["tune-trained"] = f"{tune} --method 'rrf mapfuse segfuse probfuse(segments=3)'"
    return {f"fuse/{name}": lines for name, lines in cases.items()}


CASES = _fuse()
