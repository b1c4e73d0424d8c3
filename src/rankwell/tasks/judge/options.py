"""The options of a study: how its pool is made, and how it is estimated."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from rankwell.data.options import (
    Doc,
    DocumentTexts,
    Input,
    JudgmentColumns,
    Option,
    Pictures,
    QueryTexts,
    RunColumns,
)
from rankwell.data.tables import without_none
from rankwell.errors import BadUsage, shown
from rankwell.evaluation.options import Level, Seed
from rankwell.reporting.options import InputOption
from rankwell.stats import check_level

Purpose = Literal["differences", "means"]
Design = Literal["items", "queries", "reading"]
DEFAULT_GRADES = "0=not relevant,1=related,2=relevant,3=perfectly relevant"


def _refuse_outside(options: Any, *names: str, least: int = 1, most: float = math.inf) -> None:
    """Raises BadUsage for a number below the least, which is 0 or 1, or above the most."""
    for name in names:
        value = getattr(options, name)
        if value is not None and not least <= value <= most:
            expected = "a positive integer" if least else "an integer from 0"
            if value > most:
                expected = f"{most} at most"
            raise BadUsage(f"--{name.replace('_', '-')} is {value}; expected {expected}.")


@dataclass(frozen=True, kw_only=True)
class PoolOptions:
    """The choices of a pool. Raises BadUsage for numbers out of range."""

    measure: Annotated[
        str,
        Option(("--measure", "-m")),
        Doc(
            "What is estimated: P, SDCG or RBP with a cut-off from sampled items; RR with "
            "a cut-off by reading down; any other measure from whole queries, with --by."
        ),
    ] = "SDCG@10"
    estimate: Annotated[
        Purpose, Doc("What judgments are spent on: differences between runs, or also their means.")
    ] = "differences"
    by: Annotated[
        list[str] | None,
        Option(takes_all=True),
        Doc("`queries N`: whole queries are drawn, N of them, and judged completely."),
    ] = None
    depth: Annotated[
        int | None,
        Doc(
            "First ranks of each run that are pooled. [default: the cut-off of the measure]",
            is_common=True,
        ),
    ] = None
    queries: QueryTexts = None
    documents: DocumentTexts = None
    thumbnails: Pictures = None
    guideline: Annotated[
        str | None,
        Input(),
        Doc("File of the instructions for judges. [default: made of the grades]"),
    ] = None
    grades: Annotated[str, Doc("Grades and their names, from the lowest.")] = DEFAULT_GRADES
    batch_size: Annotated[
        int | None,
        Doc("Items in a batch. [default: three per query, but at least 100 and at most 500]"),
    ] = None
    looks: Annotated[
        int,
        Doc(
            "Estimates of differences that are planned; intervals and verdicts are "
            "corrected for so many."
        ),
    ] = 5
    pairs_planned: Annotated[
        int | None,
        Doc(
            "Pairs of runs to correct for; by default those of the first estimate. Runs "
            "that are added later need it."
        ),
    ] = None
    level: Level = 0.95
    seed: Seed = 0
    columns: RunColumns = None
    add: Annotated[
        list[str] | None,
        Input(),
        Doc(
            "A run to add to a study that exists; repeat it for more. Its items are judged in a "
            "round of their own.",
            is_common=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        check_level(self.level)
        _refuse_outside(self, "depth", "batch_size", "pairs_planned")
        _refuse_outside(self, "looks", most=1000)
        self.drawn  # noqa: B018 - raises BadUsage

    @property
    def drawn(self) -> int | None:
        """The number of queries to draw, None where items are. Raises BadUsage for another form of
        --by.
        """
        if self.by is None:
            return None
        kind, n = self.by if len(self.by) == 2 else ("", "")
        if kind != "queries" or not n.isdecimal() or int(n) < 2:
            raise BadUsage(
                f"--by {' '.join(self.by)}: expected `--by queries N` with at least 2 queries."
            )
        return int(n)


@dataclass(frozen=True, kw_only=True)
class EstimateOptions:
    """The choices of an estimate."""

    measure: Annotated[
        str | None,
        Option(("--measure", "-m")),
        Doc("Another measure than the study's; of sampled items only those that are linear."),
    ] = None
    estimate: Annotated[
        Purpose | None,
        Doc("Whether means of runs are printed, too; the study must have been pooled for them."),
    ] = None
    grade_by: Annotated[
        str,
        Doc(
            "Which grade of several judges counts: their median (of two the lower), the "
            "first judge's by name, or a named judge's."
        ),
    ] = "median"
    mix_guidelines: Annotated[
        bool, Doc("Use judgments that were made under several guidelines.")
    ] = False
    model: Annotated[
        str | None,
        Doc(
            "Use the grades of this model as predictions, with those of people as truth; "
            "see `rankwell judge llm`."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """The choices of a plan."""

    difference: Annotated[
        float, Doc("Size of the difference to find with 80 % power.", is_common=True)
    ] = 0.05


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """The choices of a comparison of judges."""

    qrels: Annotated[
        InputOption, Doc("Judgments with known grades; each judge is compared with them.")
    ] = None
    qrels_columns: JudgmentColumns = None
    level: Level = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """The choices of a judge's session. Raises BadUsage for shares out of range."""

    double: Annotated[
        float,
        Doc(
            "Share of the items that other judges have answered to show to this judge as well.",
            is_common=True,
        ),
    ] = 0.0
    repeat: Annotated[
        float, Doc("Share of this judge's own items to show again, half a batch later at least.")
    ] = 0.0
    qrels: Annotated[
        str | None,
        Input(),
        Doc(
            "File of judgments of pooled items that are known: one for every 20 items is "
            "mixed in. Estimates do not use the answers."
        ),
    ] = None
    qrels_columns: JudgmentColumns = None

    def __post_init__(self) -> None:
        for name in ("double", "repeat"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise BadUsage(f"--{name} is {value:g}; expected a share from 0 to 1.")


def known_grades(text: str) -> dict[float, str]:
    """The names of grades by their numbers, in ascending order. Raises BadUsage for a scale that is
    not one.
    """
    names: dict[float, str] = {}
    for part in text.split(","):
        number, equals, name = part.strip().partition("=")
        try:
            grade = float(number)
        except ValueError:
            grade = -1.0
        if not equals or not name.strip() or not 0 <= grade < 1000 or grade in names:
            raise BadUsage(
                f"--grades {text!r}: {part.strip()!r} is not a new grade with its name; write "
                "0=not relevant,1=relevant."
            )
        names[grade] = name.strip()
    if len(names) < 2 or min(names) != 0:
        raise BadUsage(f"--grades {text!r}: expected at least two grades, the lowest of them 0.")
    return dict(sorted(names.items()))


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The choices of asking a model. Raises BadUsage for numbers out of range."""

    url: Annotated[
        str | None, Doc("Address of a server with chat completions, up to /v1.", is_common=True)
    ] = None
    model: Annotated[
        str | None,
        Doc(
            "Name of the model on that server, or ./FILE.py:FUNCTION without one: of the texts of "
            "query and document, it returns a grade or a reply. Replies are kept under this name; "
            "NAME=./FILE.py:FUNCTION gives another.",
            is_common=True,
        ),
    ] = None
    key: Annotated[
        str | None,
        Doc(
            "Key of the server, as a variable of the environment: '${NAME}'. It is never "
            "written or shown.",
            is_common=True,
        ),
    ] = None
    prompt: Annotated[
        str | None,
        Input(),
        Doc("File of the prompt, with the places {query} and {document}. [default: our own]"),
    ] = None
    option: Annotated[
        Sequence[str] | None,
        Option(kind=list[str]),
        Doc(
            "A parameter of the request, NAME=VALUE; repeat it for more. By default "
            "temperature=0 and max_tokens=512, in whose place max_completion_tokens=N is "
            "sent where it is given; NAME= leaves one out."
        ),
    ] = None
    max_characters: Annotated[int, Doc("Characters of a document that are sent.")] = 20_000
    request_timeout: Annotated[float, Doc("Seconds to wait for an answer.", "Scaling")] = 120.0
    retries: Annotated[
        int,
        Doc(
            "Number of times that an item is asked for again after a time-out, 429 or an error of "
            "the server, later each time.",
            "Scaling",
        ),
    ] = 5
    clients: Annotated[
        int,
        Doc(
            "Items that the model grades at the same time; a function is then called by "
            "several threads.",
            "Scaling",
        ),
    ] = 1
    max_requests: Annotated[
        int | None, Doc("Ask for at most this number of items; 0 only compares.", "Scaling")
    ] = None

    def __post_init__(self) -> None:
        self.sent_parameters  # noqa: B018 - raises BadUsage
        _refuse_outside(self, "max_requests", "retries", least=0)
        _refuse_outside(self, "max_characters")
        _refuse_outside(self, "clients", most=256)
        if not self.request_timeout > 0:
            raise BadUsage(
                f"--request-timeout {self.request_timeout:g}: expected a positive number."
            )

    @property
    def sent_parameters(self) -> dict[str, Any]:
        """The parameters of a request: values are JSON where they can be, else texts. Raises
        BadUsage.
        """
        parameters: dict[str, Any] = {}
        for text in self.option or ():
            name, equals, value = text.partition("=")
            if not equals or name in ("", "model", "messages", "max_characters", *parameters):
                raise BadUsage(
                    f"--option {shown(text)}: expected NAME=VALUE, a NAME once, and none "
                    "of model, messages, max_characters."
                )
            try:
                parameters[name] = json.loads(value) if value else None
                json.dumps(parameters[name], allow_nan=False)
            except json.JSONDecodeError:
                parameters[name] = value
            except ValueError as error:
                raise BadUsage(
                    f"--option {shown(text)}: {value} is not a number in JSON; give a "
                    "finite number."
                ) from error
        defaults = {} if parameters.get("max_completion_tokens") else {"max_tokens": 512}
        return without_none({"temperature": 0.0} | defaults | parameters)
