"""Compare two small embedding models with a larger one."""

from dataclasses import replace
from pathlib import Path

from rankwell.comparison.pages import write_report
from rankwell.evaluation.options import Seed
from rankwell.io.matrices import write_ids
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress, introduced
from rankwell.reporting.page import NAME
from rankwell.store import write_npy
from rankwell.tasks.embeddings.task import EmbeddingCommandOptions
from rankwell.tasks.embeddings.task import embeddings as comparison
from rankwell.vectors.encoders.tfidf_svd import TfidfSvd
from rankwell.vectors.media import python_docs

REFERENCE, SMALL = 256, (32, 64)
_TITLE = "How much of a neighbourhood survives fewer axes"


def embeddings(
    *,
    output: FolderPath = Path("rankwell-demo-embeddings"),
    samples: int = 500,
    seed: Seed = 0,
    progress: Progress = None,
) -> Output:
    """Compare two small embedding models with a larger one.

    Shows the share of its neighbours that they keep, on generated data.

      rankwell demo embeddings

    Parameters
    ----------
    output
        Folder for the embeddings and the results.
    samples
        Number of functions to use as queries; their neighbours are found among all functions.
    """
    with holding(output):
        if progress is not None:
            progress("making the models", 0, 1)
        entries = python_docs.functions()
        reference, *small = make_models(entries, output / "models")
        if progress is not None:
            progress("making the models", 1, 1)
        results = output / "results"
        options = EmbeddingCommandOptions(reference=str(reference), samples=samples, seed=seed)
        compared = comparison.command()(
            *map(str, small), options=options, output=results, progress=progress
        )
        write_report([results], results / NAME, title=_TITLE, seed=seed)
    return introduced(
        f"{len(entries):,} functions of Python's standard library, by the {REFERENCE} strongest "
        f"axes of their words ({reference.stem}). How many neighbours remain with {SMALL[0]} "
        f"axes, and with {SMALL[1]}?",
        compared,
        results,
    )


@keeping()
def make_models(entries: list[python_docs.Entry], folder: Path) -> list[Path]:
    """Writes the embeddings of all entries by every model, the reference's first, each with its ids
    beside it.
    """
    texts = [f"{entry.title}\n\n{entry.text}" for entry in entries]
    largest = TfidfSvd(REFERENCE).fit(texts)
    paths: list[Path] = []
    for dimensions in (REFERENCE, *SMALL):
        # Fewer axes of the same corpus are the first of more.
        axes = None if largest.axes is None else largest.axes[:, :dimensions]
        paths.append(folder / f"svd_{dimensions}.npy")
        model = replace(largest, dimensions=dimensions, axes=axes)
        write_npy(paths[-1], model.encode(texts))
        write_ids(paths[-1], [entry.id for entry in entries])
    return paths
