"""Answers to questions and the documents retrieved for them."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from rankwell.data.options import Doc
from rankwell.errors import BadUsage
from rankwell.task import Presented, Task, TaskInput
from rankwell.tasks.qa.evaluation import evaluate_qa
from rankwell.tasks.qa.options import QaOptions
from rankwell.tasks.qa.printing import show


@dataclass(frozen=True, kw_only=True)
class QaCommandOptions(QaOptions):
    """The options of the command."""

    hardest: Annotated[int, Doc("How many of the hardest questions to show.")] = 3


def _evaluate(*inputs: Any, options: QaCommandOptions, **keywords: Any) -> Presented:
    if options.hardest < 0:
        raise BadUsage(f"--hardest {options.hardest}; expected 0 or a positive integer.")
    result = evaluate_qa(*inputs, options=options, **keywords)
    return Presented(result, partial(show, hardest=options.hardest))


qa = Task(
    name="qa",
    about="""Judge the answers to questions and the documents retrieved for them, and show which \
of the two fails which question.

Give PREDICTIONS, --retrieved, or both. The table ends with who failed how many questions, and the \
hardest of them. docs/answers.md shows the forms of files, what counts as no answer, and grids \
(`rankwell qa grid --help`).""",
    options=QaCommandOptions,
    inputs=(
        TaskInput(
            "gold",
            "Questions with right answers: SQuAD and its kin, HF rows, Haystack labels, DPR, "
            "KILT, NQ-open, TriviaQA, RAGAS.",
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
    per_query="Also each question's values.",
    evaluation=_evaluate,
)
