"""Print a table of image data sets."""

from dataclasses import replace
from typing import Annotated, Any

from rankwell import reporting
from rankwell.conventions import find_convention
from rankwell.data.findings import Finding
from rankwell.data.json_types import JsonTables
from rankwell.data.options import ConventionName
from rankwell.errors import BadUsage
from rankwell.reporting.options import FileOption, FormatOption, Output
from rankwell.store import write_text
from rankwell.task import printed_rows
from rankwell.tasks.images.findings import images_unmatched
from rankwell.tasks.images.images import NoMatch, named_place
from rankwell.tasks.images.options import ImageSetOptions
from rankwell.tasks.images.statistics import (
    ImageStatistics,
    image_statistics,
    published_instances,
    statistics_rows,
)


def stats(
    *images: str,
    convention: ConventionName = "rankwell",
    data: ImageSetOptions,
    format: Annotated[FormatOption, JsonTables(rows=ImageStatistics)] = "table",
    output: FileOption = None,
) -> Output:
    """Print a table of image data sets.

    Counts instances, references, queries and images per instance, before and after filtering.

      rankwell images stats museum.csv

    Parameters
    ----------
    images
        Data sets as PLACE or NAME=PLACE: a folder with references/INSTANCE/… and
        queries/INSTANCE/…, a table with image, instance, split, and perhaps camera, group and
        contentless, or a JSON with imlist, qimlist and gnd.
    convention
        Under thesis, the published columns (CLICIDE, GaRoFou) beside them.
    format
        Output format; json and jsonl have a row per data set with its numbers.
    output
        Folder for statistics.csv and statistics.json.
    """
    is_published = find_convention(convention, "images").name.startswith("thesis")
    if not images and not is_published:
        raise BadUsage(
            "name a data set of images: rankwell images stats NAME=PLACE; or -c thesis for those "
            "that it printed."
        )
    if data.query_images is not None and len(images) != 1:
        raise BadUsage("--query-images requires a single data set; run the command once for each.")
    columns, findings = dict[str, ImageStatistics](), list[Finding]()
    unmatched = dict[str, NoMatch]()
    for word in images:
        name, path = named_place(word)
        if name in columns:
            raise BadUsage(f"two data sets are called {name!r}; name them, as in paintings={path}.")
        try:
            table = data.read(path)
        except NoMatch as error:
            unmatched[name] = error
            table = replace(data, contentless_images=None).read(path)
        columns[name], filtered = image_statistics(table, name=name)
        findings += filtered.findings(name)
    for name, error in unmatched.items():
        if len(unmatched) == len(images):
            raise BadUsage(f"{name}: {error}") from error
        findings.append(images_unmatched(str(error), name))
    if is_published:
        datasets = published_instances().datasets
        columns |= {f"{name} (published)": column for name, column in datasets.items()}
    rows = statistics_rows(columns)
    numbers: list[dict[str, Any]] = [
        {"dataset": heading, **column._asdict()} for heading, column in columns.items()
    ]
    rules = {"contentless": "filter", "absent": "filter"} if images else {}
    json = printed_rows(numbers, "json", rules=rules, findings=findings)
    if format == "json":
        text, findings = json, []
    else:
        text = printed_rows(numbers if format == "jsonl" else rows, format, tables=[rows])
    if output is not None:
        write_text(output / "statistics.csv", reporting.render_rows(rows, "csv"))
        write_text(output / "statistics.json", json)
    wrote = (reporting.StatusNote(f"wrote {output}/"),) if output is not None else ()
    return Output(text, wrote, findings=tuple(findings))
