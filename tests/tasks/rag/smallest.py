"""The smallest command of the task and its inputs."""

from pathlib import Path

COMMAND = "rag gold.jsonl bm25.jsonl"
GOLD = """{"id": "q1", "question": "When does the museum open?", "passages": [{"document": "guide", "start": 0, "end": 34}]}
{"id": "q2", "question": "How much is a ticket?", "passages": [{"document": "guide", "start": 35, "end": 58}]}
{"id": "q3", "question": "Where is the entrance?", "passages": [{"document": "guide", "start": 59, "end": 92}]}
"""  # noqa: E501
BM25 = """{"id": "q1", "chunks": [{"document": "guide", "start": 0, "end": 40}, {"document": "guide", "start": 30, "end": 70}]}
{"id": "q2", "chunks": [{"document": "guide", "start": 60, "end": 100}, {"document": "guide", "start": 30, "end": 70}]}
{"id": "q3", "chunks": [{"document": "guide", "start": 0, "end": 40}]}
"""  # noqa: E501
SENTENCES = """{"id": "q1", "chunks": [{"document": "guide", "start": 0, "end": 34}]}
{"id": "q2", "chunks": [{"document": "guide", "start": 35, "end": 58}, {"document": "guide", "start": 0, "end": 34}]}
"""  # noqa: E501
GUIDE = (
    "The museum opens at ten every day. A ticket costs 12 euro. The entrance is beside the "
    "river. Dogs stay out."
)
CHUNKS = "".join(
    f'{{"document": "guide", "start": {start}, "end": {start + 40}}}\n' for start in (0, 30, 60)
)
CONTEXTS = """{"user_input": "When?", "retrieved_contexts": ["It opens at ten every day.", "Dogs stay out."],
 "reference_contexts": ["The museum opens at ten every day."]}
{"user_input": "How much?", "retrieved_contexts": ["The entrance is beside the river.", "Tickets are twelve euro."],
 "reference_contexts": ["A ticket costs 12 euro."]}
""".replace(",\n ", ", ")  # noqa: E501
SUPPORTS = """{"id": "q1", "statement": "The museum opens at ten.", "citations": ["1", "2"], "entailed": true}
{"id": "q1", "statement": "The museum opens at ten.", "citations": ["1"], "entailed": true}
{"id": "q1", "statement": "The museum opens at ten.", "citations": ["2"], "entailed": false}
{"id": "q1", "statement": "It is old.", "citations": [], "entailed": false}
{"id": "q2", "statement": "A ticket costs 12 euro.", "citations": ["3"], "entailed": true}
"""  # noqa: E501


def write(folder: Path) -> None:
    """Writes the inputs."""
    files = {
        "gold": GOLD,
        "bm25": BM25,
        "sentences": SENTENCES,
        "chunks": CHUNKS,
        "contexts": CONTEXTS,
        "supports": SUPPORTS,
    }
    for name, text in files.items():
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "documents.jsonl").write_text(
        f'{{"id": "guide", "text": "{GUIDE}"}}\n', encoding="utf-8"
    )
