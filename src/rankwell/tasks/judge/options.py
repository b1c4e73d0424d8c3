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
            "Measure to estimate: P, SDCG or RBP with a cut-off, from sampled items; RR with a "
            "cut-off, by judging from the top; any other measure, from whole queries, with --by."
        ),
    ] = "SDCG@10"
    estimate: Annotated[
        Purpose, Doc("What to spend judgments on: differences between runs, or also their means.")
    ] = "differences"
    by: Annotated[
        list[str] | None,
        Option(takes_all=True),
        Doc("`queries N`: sample N whole queries and judge them completely."),
    ] = None
    depth: Annotated[
        int | None,
        Doc(
            "Number of top ranks of each run to pool. [default: the cut-off of the measure]",
            is_common=True,
        ),
    ] = None
    queries: QueryTexts = None
    documents: DocumentTexts = None
    thumbnails: Pictures = None
    guideline: Annotated[
        str | None, Input(), Doc("File of instructions for judges. [default: made from the grades]")
    ] = None
    grades: Annotated[str, Doc("Grades and their names, from the lowest.")] = DEFAULT_GRADES
    batch_size: Annotated[
        int | None,
        Doc(
            "Number of items in a batch. [default: three per query, but at least 100 and at most "
            "500]",
            "Method",
        ),
    ] = None
    looks: Annotated[
        int,
        Doc(
            "Number of planned estimates of the differences; intervals and verdicts are corrected "
            "for it."
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
            "Run to add to an existing study; repeat it for more. Its items are judged in a "
            "separate round.",
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
        Doc("Measure to estimate; with sampled items, it must be linear. [default: the study's]"),
    ] = None
    estimate: Annotated[
        Purpose | None,
        Doc(
            "What to print: differences between runs, or also their means, for which the study "
            "must have been pooled. [default: what it was pooled for]"
        ),
    ] = None
    grade_by: Annotated[
        str,
        Doc(
            "Which grade of several judges counts: the median (the lower of two), that of the "
            "first judge by name, or a named judge's."
        ),
    ] = "median"
    mix_guidelines: Annotated[
        bool, Doc("Use judgments made under different guidelines together.")
    ] = False
    model: Annotated[
        str | None,
        Doc(
            "Use this model's grades as predictions, with human grades as truth; see `rankwell "
            "judge llm`."
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
            "Share of the items answered by other judges to show to this judge as well.",
            is_common=True,
        ),
    ] = 0.0
    repeat: Annotated[
        float, Doc("Share of this judge's own items to show again, at least half a batch later.")
    ] = 0.0
    qrels: Annotated[
        str | None,
        Input(),
        Doc(
            "File of known judgments of pooled items; one is mixed in for every 20 items. "
            "Estimates do not use the answers."
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
        str | None,
        Doc("Address of a server with the chat completions API, up to /v1.", is_common=True),
    ] = None
    model: Annotated[
        str | None,
        Doc(
            "Name of the model on that server, or, without a server, ./FILE.py:FUNCTION, which "
            "returns a grade or a reply for the texts of a query and a document. Replies are kept "
            "under this name; NAME=./FILE.py:FUNCTION sets another.",
            is_common=True,
        ),
    ] = None
    key: Annotated[
        str | None,
        Doc(
            "API key of the server, as an environment variable: '${NAME}'. It is never written or "
            "shown.",
            is_common=True,
        ),
    ] = None
    prompt: Annotated[
        str | None,
        Input(),
        Doc(
            "File of the prompt, with the placeholders {query} and {document}. [default: a "
            "built-in prompt]"
        ),
    ] = None
    option: Annotated[
        Sequence[str] | None,
        Option(kind=list[str]),
        Doc(
            "Request parameter, NAME=VALUE; repeat it for more. By default temperature=0 and "
            "max_tokens=512, which max_completion_tokens=N replaces; NAME= leaves one out."
        ),
    ] = None
    max_characters: Annotated[int, Doc("Maximum number of characters of a document to send.")] = (
        20_000
    )
    request_timeout: Annotated[float, Doc("Seconds to wait for an answer.", "Scaling")] = 120.0
    retries: Annotated[
        int,
        Doc(
            "Number of retries of an item after a time-out, status 429 or a server error, with "
            "growing delays.",
            "Scaling",
        ),
    ] = 5
    clients: Annotated[
        int,
        Doc(
            "Number of items that the model grades at once; a function is then called from "
            "several threads.",
            "Scaling",
        ),
    ] = 1
    max_requests: Annotated[
        int | None, Doc("Ask about at most this number of items; 0 only compares.", "Scaling")
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
