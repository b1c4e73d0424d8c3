"""Interleave two runs: a list for each query that mixes both, with what is needed to credit clicks
to either.
"""

from rankwell.errors import BadUsage
from rankwell.evaluation.judged import name_runs
from rankwell.io.files import read_ranking
from rankwell.report.options import Aside, FilePath, InputPlace, Output
from rankwell.store import write_text
from rankwell.tasks.logs.interleaving import InterleavingOptions, interleave_rankings


def interleave(*runs: InputPlace, output: FilePath, options: InterleavingOptions) -> Output:
    """Interleave two runs: a list for each query that mixes both, with what is needed to credit
    clicks to either.

    Show the lists to users, log their clicks, and give both to `rankwell interleave credit`.
    docs/logs.md explains it.

    Parameters
    ----------
    runs
        Two files of rankings, as for `rankwell evaluate`.
    output
        File to write, a JSON object per list: its name, query, items, and a mark of each item.
    """
    named = name_runs(list(runs))
    if len(named) != 2:
        raise BadUsage(
            f"{len(named) or 'no'} runs given; expected two: rankwell interleave A.run B.run "
            "-o lists.jsonl"
        )
    notes: list[str] = []
    rankings = {
        name: read_ranking(
            place,
            format=options.run_format,
            duplicates=options.duplicates,
            columns=options.columns,
            notes=notes,
        )
        for name, place in named.items()
    }
    lists, own = interleave_rankings(rankings, options)
    write_text(output, "".join(each.line() for each in lists))
    return Output(notes=(*notes, *own, Aside(f"wrote {output} ({len(lists)} lists)")))
