"""Recognise paintings and glass cabinets in bad photographs."""

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from PIL.Image import Image

from rankwell import reporting
from rankwell.comparison.bench.files import read_experiment
from rankwell.comparison.bench.results import BenchOptions
from rankwell.comparison.bench.systems import evaluate_systems
from rankwell.comparison.pages import write_report
from rankwell.errors import BadUsage
from rankwell.evaluation.options import Seed
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress, StatusNote, introduced
from rankwell.reporting.page import NAME
from rankwell.reporting.system_table import PERFORMANCE
from rankwell.store import write_bytes, write_text
from rankwell.tasks.images.commands.images_stats import stats
from rankwell.tasks.images.drawn_museum import furnish, nothing, paint, photograph
from rankwell.tasks.images.options import ImageSetOptions
from rankwell.tasks.images.task import ImageCommandOptions
from rankwell.tasks.images.task import images as images_task


class Collection(NamedTuple):
    """A data set of drawings.

    name: name of its folder, a plural that also names the exhibits.
    draw: function that draws the exhibit of a name.
    exhibits: number of exhibits that the museum photographs.
    absent: number of exhibits that visitors photograph and the museum does not.
    empty: number of pictures of nothing.
    """

    name: str
    draw: Callable[[str], Image]
    exhibits: int
    absent: int
    empty: int


class DemoSystem(NamedTuple):
    """A method to compare pictures.

    run: name in the results.
    encoder: name of the encoder of the pictures.
    transforms: transforms of the vectors, in order; empty for none.
    training: the user's statement on the time of training.
    """

    run: str
    encoder: str
    transforms: tuple[str, ...]
    training: str


COLLECTIONS = (Collection("paintings", paint, 24, 3, 6), Collection("cabinets", furnish, 16, 0, 0))
SYSTEMS = (
    DemoSystem("colours", "colour-histogram", (), "none"),
    DemoSystem("stamps", "small-grey", (), "none"),
    DemoSystem("both", "colours-and-shapes", (), "none"),
    DemoSystem(
        "both_whitened", "colours-and-shapes", ("whitening(dimensions=24)",), "within each search"
    ),
)

_BENCH = "bench.toml"
_TITLE = "Paintings in bad photographs, compared in four ways"


def images(
    *, output: FolderPath = Path("rankwell-demo-images"), seed: Seed = 0, progress: Progress = None
) -> Output:
    """Recognise paintings and glass cabinets in bad photographs.

    Draws all its data: data sets, tables, contact sheets.

      rankwell demo images

    Parameters
    ----------
    output
        Folder for the pictures, the results, the tables and the contact sheets.
    """
    with holding(output):
        folders = [
            make(collection, output / collection.name, seed=seed, progress=progress)
            for collection in COLLECTIONS
        ]
        results = {
            (folder, system): output / "results" / f"{folder.name}-{system.run}"
            for folder in folders
            for system in SYSTEMS
        }
        printed: dict[tuple[Path, DemoSystem], Output] = {}
        for (folder, system), place in results.items():
            printed[folder, system] = images_task.command()(
                str(folder),
                options=ImageCommandOptions(
                    encoder=f"{system.run}={system.encoder}",
                    cache=output / "cache",
                    transforms=system.transforms,
                    seed=seed,
                ),
                output=place,
                progress=progress,
            )
        numbers = stats(*map(str, folders), data=ImageSetOptions())
        places = [place.relative_to(output).as_posix() for place in results.values()]
        with keeping():
            write_text(output / _BENCH, _bench_file(places, seed))
        system_table = evaluate_systems(
            read_experiment(output / _BENCH), output / "table", BenchOptions(), "table"
        )
        first = [str(place) for (folder, _), place in results.items() if folder is folders[0]]
        write_report(first, output / NAME, title=_TITLE, seed=seed)
    # What the systems took is in the table of the folder.
    scores = system_table.text.partition(PERFORMANCE)[0].rstrip() + "\n"
    if reporting.shows_details():
        scores = f"{system_table.text}\n{numbers.text}"
    sentence = printed[folders[0], SYSTEMS[2]].text.partition("\n")[0]
    return introduced(
        "Paintings and glass cabinets of a museum, drawn and badly photographed: which one is it? "
        "Four ways to compare pictures, none of which knows anything about art.",
        Output(
            text=f"{folders[0].name.capitalize()}: {sentence}\n{scores}",
            messages=(*numbers.messages, *system_table.messages),
            findings=(*numbers.findings, *system_table.findings),
        ),
        output,
        StatusNote(
            f"wrote {output}/: the pictures, the results with contact sheets of the worst queries, "
            f"{_BENCH}, the table of systems"
        ),
    )


def _bench_file(results: Sequence[str], seed: int) -> str:
    """The bench of the results, with what their user states about the systems."""
    lines = ["[table]", f"results = {json.dumps(results)}", "costs = true", "pages = true", ""]
    lines += ["[comparison]", f"seed = {seed}"]
    for system in SYSTEMS:
        title = system.run.replace("_", " ")
        lines += ["", "[[system]]", f'name = "{system.run}"', f'title = "{title}"']
        lines += [f'training = {{ time = "{system.training}" }}']
    return "\n".join([*lines, ""])


@keeping()
def make(collection: Collection, folder: Path, *, seed: int = 0, progress: Progress = None) -> Path:
    """Draws and photographs a collection into a folder; the same seed, the same pictures. Raises
    BadUsage for other pictures.
    """
    total, written = collection.exhibits + collection.absent, set[Path]()

    def _write(image: Image, side: str, name: str, copy: int) -> None:
        path = folder / side / name / f"{copy + 1}.jpg"
        written.add(path)
        stream = io.BytesIO()
        image.save(stream, "JPEG", quality=88)
        write_bytes(path, stream.getvalue())

    for number in range(total):
        name = f"{collection.name.removesuffix('s')}-{number + 1:02}"
        random, exhibit = Random(f"{seed} {name}"), collection.draw(name)  # noqa: S311 - pictures, not secrets
        if progress is not None:
            progress(f"drawing {collection.name}", number, total)
        if number < collection.exhibits:
            for copy in range(random.choice((1, 2, 2, 3, 5))):
                _write(photograph(exhibit, random, badness=0.4), "references", name, copy)
        for copy in range(random.choice((1, 1, 2))):
            _write(photograph(exhibit, random, badness=1.2), "queries", name, copy)
    random = Random(f"{seed} {collection.name}")  # noqa: S311 - pictures, not secrets
    for copy in range(collection.empty):
        _write(nothing(random), "references", "contentless", copy)
    if stray := sorted({*folder.rglob("*.jpg")} - written):
        raise BadUsage(
            f"{stray[0]} is not a picture of this seed; remove it, or name another folder."
        )
    return folder
