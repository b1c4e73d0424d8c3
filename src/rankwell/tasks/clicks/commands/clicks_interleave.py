"""Interleave two runs into one list for each query."""

from rankwell.errors import BadUsage
from rankwell.evaluation.judged import name_runs
from rankwell.reporting.options import FilePath, InputPlace, Output, StatusNote
from rankwell.store import write_text
from rankwell.tasks.clicks.preference import InterleavingOptions, interleave_files


def interleave(*runs: InputPlace, output: FilePath, options: InterleavingOptions) -> Output:
    """Interleave two runs into one list for each query.

    Keeps what is needed to credit clicks to either run.

    Show the lists to users, log their clicks, and give both to `rankwell clicks credit`.
    docs/guide/clicks.md explains it.

      rankwell clicks interleave bm25.run dense.run -o lists.jsonl

    Parameters
    ----------
    runs
        Two files of rankings, as for `rankwell evaluate`.
    output
        File to write, a JSON object per list: its name, query, items, and a mark of each item.
    """
    files = name_runs(list(runs))
    if len(files) != 2:
        raise BadUsage(
            f"{len(files) or 'no'} runs given; expected two: rankwell clicks interleave "
            "A.run B.run -o lists.jsonl"
        )
    lists, findings = interleave_files(files, options)
    write_text(output, "".join(interleaved.line() for interleaved in lists))
    wrote = StatusNote(f"wrote {output} ({len(lists)} lists)")
    return Output(messages=(wrote,), findings=tuple(findings))
