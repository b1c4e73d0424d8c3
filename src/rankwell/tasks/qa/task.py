"""Answers to questions and the documents retrieved for them."""

from rankwell.data.json_types import AnyObject, ScoreObject
from rankwell.task import Task, TaskInput
from rankwell.tasks.qa.evaluation import presented
from rankwell.tasks.qa.json_types import FailureObject
from rankwell.tasks.qa.options import QaOptions

qa = Task(
    name="qa",
    about="""Evaluate question answering: the answers and the retrieval.

To reproduce PIAF: -c piaf. SQuAD: -c squad1, squad2. Haystack: -c haystack-v1, haystack-finder. \
MLQA: -c mlqa. Natural Questions: -c nq-open. TriviaQA: -c triviaqa. DPR: -c dpr. KILT: -c kilt.

Shows whether the retriever or the reader fails each question.

Give PREDICTIONS, --retrieved, or both. The table ends with how many questions each failed, and \
the hardest questions. docs/guide/question-answering.md shows the file formats, what counts as no \
answer, and benches that run systems over parameters.""",
    command_lines="""
rankwell qa questions.json answers.json
rankwell qa questions.json answers.jsonl --retrieved bm25.run -o results
""",
    options=QaOptions,
    inputs=(
        TaskInput(
            "gold",
            "Questions with right answers: SQuAD and similar, rows of a Hugging Face data set, "
            "Haystack labels, DPR, KILT, NQ-open, TriviaQA, RAGAS.",
            missing="name a file of questions",
        ),
        TaskInput(
            "predictions",
            "A reader's answers: {id: text}, n-best JSON, ranked answers with positions (JSON "
            "lines), Haystack's evaluation CSV, …",
        ),
    ),
    files="the tables, per_query.parquet, details.parquet (answers with what they share), "
    "queries.parquet, items.parquet (documents) and charts",
    evaluation=presented,
    json_tables={"rows": ScoreObject, "failures": FailureObject, "hardest": AnyObject},
)
