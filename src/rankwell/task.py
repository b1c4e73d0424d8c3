"""The declaration of a task: what its command and its Python function follow from."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from rankwell import reporting
from rankwell.conventions import Convention, Measures, check_views, choose_measures, find_convention
from rankwell.data.catalogue import command_function
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import queries_missing, queries_unknown
from rankwell.data.json_types import JsonTables, ScoreObject, ValueObject
from rankwell.data.options import Doc, Input, PartOptions, PartOutcome, refusal
from rankwell.data.registry import measure_names
from rankwell.data.tables import sort_ids
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.evaluation.results import (
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_UNKNOWN,
    ResultsBuilder,
)
from rankwell.reporting import (
    FOR_PEOPLE,
    OUTPUTS,
    Answer,
    Document,
    Format,
    Row,
    Rules,
    TableStyle,
    render_rows,
)
from rankwell.reporting.options import (
    FolderOption,
    FormatOption,
    Output,
    PerQueryOption,
    Progress,
    present,
)
from rankwell.reporting.outputs.answers import answer_text
from rankwell.reporting.outputs.markup import sentences
from rankwell.results import Results
from rankwell.store import Source


class Noun(NamedTuple):
    """The word for the queries of a task.

    singular, plural: the word for one query, and for several.
    """

    singular: str
    plural: str


class TaskInput(NamedTuple):
    """A file that stands by itself on the command line, or data in Python.

    name: the name of the argument in Python, and in capitals on the command line.
    text: a phrase that says what it holds, for the help of both.
    many: whether it takes any number of files.
    missing: the message where a required file is missing; "" for an optional one.
    usage: the word for it in that message; its name by default.
    perhaps: whether the argument may be something other than a file.
    """

    name: str
    text: str
    many: bool = False
    missing: str = ""
    usage: str = ""
    perhaps: bool = False


class Views(NamedTuple):
    """The inputs of a task, joined.

    runs: run -> the view that measures read.
    queries: queries with a right answer, in order, the same for all runs.
    ids_of_runs: run -> ids of the queries in its file.
    sources: the files, for the manifest.
    shared: further data of the task for findings, rules and tables.
    """

    runs: Mapping[str, Any]
    queries: Sequence[str]
    ids_of_runs: Mapping[str, Collection[str]]
    sources: Mapping[str, Source]
    shared: Any = None


class Presented(NamedTuple):
    """Results that a task prints and writes itself.

    result: the value that the Python function returns.
    present: prints and writes the results; takes them with `format`, `per_query`, `output` and the
        `style` of tables for papers.
    """

    result: Results
    present: Callable[..., Output]

    def finished(self) -> Results:
        """The results."""
        return self.result


Outcome = Results | PartOutcome | Presented


@dataclass(frozen=True, kw_only=True)
class Task:
    """A kind of evaluation: its command and its Python function, with help.

    name: the words of the command.
    about: a line for lists of commands, then paragraphs for the help of the command and of the
        Python function.
    command_lines: one or two command lines that show its use.
    options: a frozen dataclass, of `PartOptions` where the work may be done in parts.
    inputs: the files that stand by themselves, in order.
    files: the files that `--output` writes.
    charts: whether `--output` also writes charts.
    per_query: whether single queries have values.
    evaluation: computes the results, or the outcome of work in parts, from the inputs and
        `options`, `details` (whether single queries and items are kept for a page) and `progress`.
    next_step: returns the command to type after one that wrote nothing, from the words of its
        inputs and its options; "" for none.
    prints: computes and words the output itself, in place of `evaluation`, from the inputs,
        `options`, and those of `per_query`, `format`, `output` and `progress` that it takes.
    output: the annotation of `--output` where it names no folder of results.
    json_tables: the types of the rows that it prints as JSON, by the name of the table.
    growing: files in the folder of results from which unfinished work resumes; the evaluation then
        also takes a `folder`.
    together: evaluates all cells that a bench has on one data set.
    """

    name: str
    about: str
    options: type[Any]
    inputs: tuple[TaskInput, ...] = ()
    files: str = ""
    command_lines: str = ""
    charts: bool = True
    per_query: bool = True
    evaluation: Callable[..., Outcome] | None = None
    next_step: Callable[..., str] | None = None
    prints: Callable[..., Output] | None = None
    output: Any = None
    json_tables: Mapping[str, type] = field(default_factory=lambda: {"rows": ScoreObject})
    growing: tuple[str, ...] = ()
    together: Callable[..., Iterator[str]] | None = None

    def evaluate(
        self,
        *inputs: Any,
        options: Any,
        details: bool = False,
        progress: Progress = None,
        **folder: Any,
    ) -> Outcome:
        """The results. details: whether single queries and items are kept for a page."""
        if self.evaluation is None:
            raise NotImplementedError
        return self.evaluation(
            *inputs, options=options, details=details, progress=progress, **folder
        )

    def command(self) -> "TaskCommand":
        """The command: the inputs, the options, how to print, and where to write."""
        return TaskCommand(self)

    def inputs_of(self, words: Sequence[str]) -> list[Any]:
        """The words of a command line as inputs. Raises BadUsage where a file is missing."""
        single = [declared for declared in self.inputs if not declared.many]
        inputs: list[Any] = [*words[: len(single)], *[None] * (len(single) - len(words))]
        if len(single) < len(self.inputs):
            inputs.append(list(words[len(single) :]))
        for declared, value in zip(self.inputs, inputs, strict=True):
            if declared.missing and not value:
                names = [
                    file.usage or f"{file.name.upper()}{'...' * file.many}" for file in self.inputs
                ]
                raise BadUsage(f"{declared.missing}: rankwell {self.name} {' '.join(names)}")
        return inputs


class TaskCommand:
    """The command of a task, with its signature; other processes know it by its name."""

    def __init__(self, task: Task) -> None:
        self.task, self.together = task, task.together
        lines = "\n".join(f"  {line}" for line in task.command_lines.split("\n") if line)
        self.__doc__ = f"{task.about}\n\n{lines}".rstrip()
        parameters: list[Parameter] = []
        for declared in task.inputs:
            is_optional = not (declared.missing or declared.many)
            parameters.append(
                Parameter(
                    declared.name,
                    Parameter.VAR_POSITIONAL if declared.many else Parameter.POSITIONAL_ONLY,
                    default=None if is_optional else Parameter.empty,
                    annotation=Annotated[
                        str | None if is_optional else str,
                        # A bench evaluates what has marked inputs and a folder of results.
                        *([] if task.output else [Input(declared.perhaps)]),
                        Doc(declared.text),
                    ],
                )
            )
        folder = Annotated[FolderOption, Doc(f"Folder for the results. It gets {task.files}.")]
        tables = JsonTables(task.json_tables)
        if task.per_query:
            tables["per_query"] = ValueObject
        printing = [
            _keyword("per_query", PerQueryOption, False),
            _keyword("format", Annotated[FormatOption, tables], "table"),
            _keyword("style", TableStyle),
            _keyword("output", task.output or folder, None),
            _keyword("progress", Progress, None),
        ]
        accepted = set(signature(task.prints or self._evaluate).parameters)
        accepted -= set() if task.per_query else {"per_query"}
        parameters.append(_keyword("options", task.options))
        parameters += [parameter for parameter in printing if parameter.name in accepted]
        _declare(self, parameters, Output)

    def __reduce__(self) -> tuple[Any, ...]:
        return command_function, (tuple(self.task.name.split()),)

    def __call__(self, *words: str, **named: Any) -> Output:
        """Computes, writes and prints."""
        if self.task.prints is not None:
            return self.task.prints(*self.task.inputs_of(words), **named)
        return self._evaluate(*words, **named)

    def _evaluate(
        self,
        *words: str,
        options: Any,
        per_query: bool = False,
        format: Format = "table",
        style: TableStyle | None = None,
        output: Path | None = None,
        progress: Progress = None,
    ) -> Output:
        task, refused, messages = self.task, tuple[str, ...](), tuple[str, ...]()
        if output is not None:
            from rankwell.reporting.drafts import refuse_unclaimed

            check = partial(refuse_unclaimed, output, task.growing)
            if isinstance(options, PartOptions):
                refused = refusal(options, check)
            else:
                check()
        details = output is not None
        folder = {"folder": output} if task.growing else {}
        outcome = task.evaluate(
            *task.inputs_of(words), options=options, details=details, progress=progress, **folder
        )
        if isinstance(outcome, Presented):
            return outcome.present(
                outcome.result, format=format, per_query=per_query, output=output, style=style
            )
        if isinstance(outcome, PartOutcome):
            if outcome.result is None:
                return Output(outcome.text, (*refused, *outcome.messages), outcome.exit_code)
            messages, outcome = outcome.messages, outcome.result
        printed = present(
            outcome,
            format=format,
            per_query=per_query,
            output=output,
            charts=task.charts,
            style=style,
        )
        printed = printed._replace(messages=(*messages, *printed.messages))
        if task.next_step is None or output is not None or format != "table":
            return printed
        return printed._replace(next_step=task.next_step(words, options))


def printed_rows(
    rows: Sequence[Row],
    format: Format,
    *,
    tables: Iterable[Sequence[Row] | str] | None = None,
    rules: Rules | None = None,
    findings: Sequence[Finding] = (),
    answer: Answer | None = None,
) -> str:
    """The text of rows with any columns. tables: what people read instead: tables, and sentences
    above and below them; those without rows are left out. answer: what a terminal shows of it
    without details. findings: as in JSON.
    """
    terminal = reporting.terminal_of()
    if answer is not None and format == "table" and not terminal.details:
        return answer_text(Document((), rules=rules or {}, terminal=terminal, answer=answer))
    if tables is None or format not in FOR_PEOPLE:
        return OUTPUTS[format](
            Document(rows, None, rules or {}, findings, summary=False, terminal=terminal)
        )
    return "\n".join(
        sentences(table, format)
        if isinstance(table, str)
        else render_rows(table, format, terminal=terminal)
        for table in tables
        if table
    )


def _none(*_: Any) -> tuple[()]:
    return ()


@dataclass(frozen=True, kw_only=True)
class MeasuringTask(Task):
    """A task whose figures are measures of a view of each run.

    noun: the word for its queries.
    truth: the words for what counted queries have, such as `gold passages`.
    view: the class of the views, which decides the measures that are accepted.
    views: reads and joins the inputs.
    default_measures: the measures where the user names none; None for those of the convention.
    count: counts the queries of a run and adds findings on them, where not all queries of the task
        count.
    run_findings: (run, view, measures) -> findings on a run.
    findings: findings on all runs.
    rules: further choices that decided a number.
    tables: the columns of `queries`, and with details also those of `details` and `items`, which a
        page needs.
    """

    noun: Noun
    truth: str
    view: type[Any]
    views: Callable[..., Views]
    default_measures: Callable[[Views, Any, Convention], Sequence[str] | None]
    count: Callable[[Views, str, ResultsBuilder], None] | None = None
    run_findings: Callable[[str, Any, Measures], Iterable[Finding]] = _none
    findings: Callable[[Views, Measures], Iterable[Finding]] = _none
    rules: Callable[[Measures], Rules] = lambda _: {}
    tables: Callable[[Views, bool], Mapping[str, Any]] = lambda *_: {}

    def evaluate(
        self, *inputs: Any, options: Any, details: bool = False, progress: Progress = None
    ) -> Results:
        """The values of the measures for every run."""
        options.check_intervals()
        task = self.name.partition(" ")[0]
        convention = find_convention(options.convention, task)
        views = self.views(*inputs, options)
        names = measure_names(options.measures)
        if names is None:
            names = self.default_measures(views, options, convention)
        measures = choose_measures(names, convention)
        check_views((labelled.measure for labelled in measures), self.view)
        builder = ResultsBuilder(convention)
        for number, (run, view) in enumerate(views.runs.items(), 1):
            (self.count or self._count_listed)(views, run, builder)
            builder.measure(run, measures, view)
            builder.findings += self.run_findings(run, view, measures)
            if progress is not None:
                progress("evaluated", number, len(views.runs))
        builder.findings += self.findings(views, measures)
        return builder.results(
            Results,
            rules={**builder.rules(measures, options), **self.rules(measures)},
            measures=measures,
            findings=builder.findings,
            sources=views.sources,
            intervals=options.intervals,
            seed=options.seed,
            task=task,
            **self.tables(views, details),
        )

    def _count_listed(self, views: Views, run: str, builder: ResultsBuilder) -> None:
        """Counts and reports the queries that a run lacks, and those that are unknown.

        Raises NothingToEvaluate where it has none of the queries.
        """
        queries, ids_of_run = views.queries, views.ids_of_runs[run]
        unknown = sort_ids(set(ids_of_run) - set(queries))
        missing = [query for query in queries if query not in ids_of_run]
        if len(missing) == len(queries):
            raise NothingToEvaluate(
                f"{run}: none of its {len(ids_of_run)} {self.noun.plural} is one of the "
                f"{len(queries)} with {self.truth} ({next(iter(ids_of_run))!r}, {queries[0]!r}); "
                "are ids written in two ways?"
            )
        builder.counts[run] = {
            QUERIES_COUNTED: len(queries),
            QUERIES_MISSING: len(missing),
            QUERIES_UNKNOWN: len(unknown),
        }
        if missing:
            builder.findings.append(queries_missing(run, missing, self.noun))
        if unknown:
            builder.findings.append(queries_unknown(run, unknown, self.noun, self.truth))


def _keyword(name: str, hint: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _declare(function: Any, parameters: Sequence[Parameter], returns: Any) -> None:
    """Gives a function a signature."""
    vars(function)["__signature__"] = Signature(parameters)
    hints = {parameter.name: parameter.annotation for parameter in parameters}
    function.__annotations__ = hints | {"return": returns}
