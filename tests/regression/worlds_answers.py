"""Drawn questions, answers and retrieved documents in the forms that `rankwell qa` reads, and
a grid over a small system.
"""

import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

NAMES = ["Paris", "Lyon", "the Seine", "1990", "Café de Flore", "l'Ouganda", "A+", "north wind"]
ASKED = 16


class Question(NamedTuple):
    """The document that holds the answers, the question, and each right answer with its start."""

    document: str
    text: str
    answers: list[tuple[str, int]]


Questions = dict[str, Question]


def build(folder: Path) -> None:
    """Writes answers/."""
    folder = folder / "answers"
    folder.mkdir()
    documents = _documents()
    questions = _questions(documents)
    _gold(folder, documents, questions)
    _predictions(folder, questions)
    _retrieved(folder, documents, questions)
    _grid(folder)


def _documents() -> dict[str, str]:
    random = Random(61)
    found = {}
    for place in range(8):
        words = [NAMES[place], *random.sample(NAMES, 3)]
        found[f"T{place // 2}#{place % 2}"] = (
            f"It was {words[0]} in those days. Some say {words[1]}, others {words[2]} or "
            f"{words[3]}."
        )
    return found


def _questions(documents: dict[str, str]) -> Questions:
    """The questions by their ids; every fifth has no answer."""
    random = Random(62)
    found = {}
    for place in range(ASKED):
        document = random.choice(list(documents))
        text = documents[document]
        here = [name for name in NAMES if name in text]
        answers = [] if place % 5 == 4 else random.sample(here, min(len(here), 1 + place % 2))
        asked = f"What is said of {random.choice(NAMES)}?"
        found[f"q{place:02}"] = Question(
            document, asked, [(each, text.index(each)) for each in answers]
        )
    return found


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _write_lines(path: Path, rows: list[object]) -> None:
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )


def _gold(folder: Path, documents: dict[str, str], questions: Questions) -> None:
    articles: dict[str, list[dict[str, Any]]] = {}
    for name, text in documents.items():
        qas = [
            {
                "id": key,
                "question": each.text,
                "is_impossible": not each.answers,
                "answers": [
                    {"text": answer, "answer_start": start} for answer, start in each.answers
                ],
            }
            for key, each in questions.items()
            if each.document == name
        ]
        articles.setdefault(name.split("#")[0], []).append({"context": text, "qas": qas})
    data: list[dict[str, Any]] = [
        {"title": title, "paragraphs": paragraphs} for title, paragraphs in articles.items()
    ]
    _write(folder / "gold.json", {"version": "v2.0", "data": data})
    answered = {name: each for name, each in questions.items() if each.answers}
    kept = [
        {
            "title": a["title"],
            "paragraphs": [
                {**p, "qas": [q for q in p["qas"] if q["answers"]]} for p in a["paragraphs"]
            ],
        }
        for a in data
    ]
    _write(folder / "answerable.json", {"version": "1.1", "data": kept})
    _write_lines(
        folder / "rows.jsonl",
        [
            {
                "id": name,
                "title": each.document.split("#")[0],
                "context": documents[each.document],
                "question": each.text,
                "answers": {
                    "text": [answer for answer, _ in each.answers],
                    "answer_start": [start for _, start in each.answers],
                },
            }
            for name, each in questions.items()
        ],
    )
    _write(
        folder / "nq_given.json",
        {str(place): each.answers[0][0] for place, each in enumerate(answered.values())},
    )
    _write_lines(
        folder / "nq.jsonl",
        [
            {"question": f"{each.text} {name}", "answer": [a for a, _ in each.answers]}
            for name, each in answered.items()
        ],
    )
    _write(
        folder / "trivia.json",
        {
            "Domain": "Wikipedia",
            "VerifiedEval": False,
            "Version": 1.0,
            "Data": [
                {
                    "QuestionId": name,
                    "Question": each.text,
                    "EntityPages": [],
                    "Answer": {
                        "Value": each.answers[0][0],
                        "Aliases": [a for a, _ in each.answers],
                        "NormalizedAliases": [a.lower() for a, _ in each.answers],
                        "NormalizedValue": each.answers[0][0].lower(),
                        "Type": "FreeForm",
                    },
                }
                for name, each in answered.items()
            ],
        },
    )
    _write_lines(
        folder / "kilt.jsonl",
        [
            {
                "id": name,
                "input": each.text,
                "output": [
                    {
                        "answer": answer,
                        "provenance": [{"wikipedia_id": each.document, "title": "t"}],
                    }
                    for answer, _ in each.answers
                ],
            }
            for name, each in answered.items()
        ],
    )


def _predictions(folder: Path, questions: Questions) -> None:
    random = Random(63)
    ranked, isolated = [], []
    for name, each in questions.items():
        if name == "q07":
            continue
        for rank in range(1, 1 + random.randint(1, 4)):
            if random.random() < 0.2:
                ranked.append(
                    {
                        "id": name,
                        "rank": rank,
                        "text": None,
                        "no_answer": random.randrange(9) / 8,
                        "score": 1 / 2**rank,
                    }
                )
                continue
            text, start = random.choice([*each.answers, (random.choice(NAMES), 7)])
            if random.random() < 0.4:
                text = text + " indeed"
            ranked.append(
                {
                    "id": name,
                    "rank": rank,
                    "text": text,
                    "document": each.document,
                    "start": start,
                    "end": start + len(text),
                    "score": 1 / 2**rank,
                }
            )
        best = each.answers[0] if each.answers and random.random() < 0.8 else None
        isolated.append(
            {
                "id": name,
                "rank": 1,
                "text": best and best[0],
                "document": each.document if best else None,
                "start": best and best[1],
                "end": best[1] + len(best[0]) if best else None,
            }
        )
    _write_lines(folder / "ranked.jsonl", [*ranked, {"id": "q98", "rank": 1, "text": "extra"}])
    _write_lines(folder / "isolated.jsonl", isolated)
    _write_lines(
        folder / "kilt_given.jsonl",
        [
            {
                "id": name,
                "output": [
                    {
                        "answer": random.choice(NAMES),
                        "provenance": [
                            {"wikipedia_id": f"T{place % 4}#{place % 2}"}
                            for place in random.sample(range(8), 4)
                        ],
                    }
                ],
            }
            for name, each in questions.items()
            if each.answers
        ],
    )
    texts = {
        name: (
            random.choice([*(answer for answer, _ in each.answers), "the north"])
            if random.random() < 0.8
            else ""
        )
        for name, each in questions.items()
    }
    _write(
        folder / "texts.json",
        {name: text for name, text in texts.items() if name not in ("q07", "q09")},
    )
    _write(
        folder / "better.json",
        {
            name: (each.answers[0][0].upper() if each.answers else "")
            for name, each in questions.items()
        },
    )
    _write(
        folder / "nbest.json",
        {
            name: [
                {"text": text, "probability": 0.5},
                {"text": "Lyon", "probability": 0.25},
                {"text": "", "probability": 0.125},
            ]
            for name, text in texts.items()
        },
    )
    _write(folder / "na.json", {name: Random(name).randrange(9) / 8 for name in questions})


def _retrieved(folder: Path, documents: dict[str, str], questions: Questions) -> None:
    random = Random(64)
    lines, passages, doubled = [], [], []
    for name, each in questions.items():
        if name == "q11":
            continue
        found = random.sample(list(documents), 5)
        lines += [
            f"{name} Q0 {document} {rank} {random.randrange(8) / 4} x\n"
            for rank, document in enumerate(found, 1)
        ]
        passages.append(
            {
                "id": name,
                "question": each.text,
                "answers": [answer for answer, _ in each.answers],
                "ctxs": [
                    {
                        "id": document,
                        "title": document,
                        "text": documents[document],
                        "score": str(9 - rank),
                    }
                    for rank, document in enumerate(found)
                ],
            }
        )
        doubled += [
            f"{name} Q0 {document} {rank} {10 - rank} x\n"
            for rank, document in enumerate([*found, found[0]], 1)
        ]
    (folder / "found.run").write_text("".join(lines))
    (folder / "doubled.run").write_text("".join(doubled))
    _write(folder / "dpr.json", passages)
    for name, text in CONVENTIONS.items():
        base, _, rules = text.partition(" ")
        rules = rules.replace("; ", "\n")
        (folder / f"{name}.toml").write_text(f'base = "{base}"\n[tasks.qa]\n{rules}\n')
    (folder / "corpus.tsv").write_text(
        "id\ttext\n" + "".join(f"{name}\t{text}\n" for name, text in documents.items())
    )


def _grid(folder: Path) -> None:
    for name, text in GRIDS.items():
        (folder / name).write_text(text)
    (folder / "goldens_system.py").write_text(SYSTEM)


CONVENTIONS = {
    "na-threshold": "squad2 na_threshold = 0.5",
    "na-official": 'squad2 na_ties = "official"',
    "share": "piaf context_share = 0.3",
    "similarity": 'piaf context_similarity = "words"; context_threshold = 0.4',
    "hi": 'mlqa language = "hi"',
    "extra": 'piaf extra = "error"',
    "zero-haystack-v1": 'haystack-v1 missing = "zero"',
    **{
        f"empty-{base}": f'{base} missing = "empty"'
        for base in (
            "dpr",
            "french",
            "haystack-finder",
            "haystack-v1",
            "kilt",
            "mlqa",
            "nq-open",
            "piaf",
            "piaf-article",
            "squad1",
            "squad2",
            "triviaqa",
        )
    },
    "error-squad2": 'squad2 missing = "error"',
    "skip-piaf": 'piaf missing = "skip"',
    "skip-squad2": 'squad2 missing = "skip"',
    **{
        name: f'squad2 normalizer = "{name}"'
        for name in [
            "squad",
            "english",
            "french",
            "mlqa-de",
            "none",
            "nq-open",
            "strip",
            "triviaqa",
        ]
    },
}
"""Conventions of the user's own: name -> base and rules."""

GRIDS = {
    "grid.toml": """\
[chart]
measures = ["reader_top1_f1"]

[[dataset]]
name = "questions"
command = "qa"
gold = "gold.json"

[dataset.vary]
convention = "piaf-article"
k = [1]
depth = 3

[[system]]
name = "mine"
call = "goldens_system:run"

[system.parameters]
top = [1, 2]
""",
    "files.toml": """\
[chart]
measures = ["exact"]

[[dataset]]
name = "questions"
command = "qa"
gold = "gold.json"

[dataset.vary]
convention = "squad2"
intervals = "t"

[[system]]
name = "file"
predictions = "{model}.json"
retrieved = "found.run"

[system.parameters]
model = ["texts", "better"]
""",
}
"""Grids of systems."""


SYSTEM = '''\
"""A small system: the first sentence of the document that shares most words."""


def run(questions, *, top=1):
    found, answers = {}, {}
    for name, text in zip(questions.ids, questions.texts):
        words = set(text.lower().split())
        scores = {document: float(len(words & set(context.lower().split()))) for document, context in questions.contexts.items()}
        best = sorted(scores, key=lambda document: (-scores[document], document))[:top]
        found[name] = {document: scores[document] for document in best}
        answers[name] = [questions.contexts[document].split(".")[0] for document in best]
    return found, answers
'''
