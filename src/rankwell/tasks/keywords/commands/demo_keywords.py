"""Search annotated driving clips by clips and by texts."""

import csv
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from rankwell import reporting
from rankwell.comparison.pages import write_report
from rankwell.data.findings import Finding
from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.evaluation.options import Seed
from rankwell.io.formats import read_texts
from rankwell.io.matrices import write_ids
from rankwell.reporting.drafts import drafting, holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress, StatusNote, introduced, present
from rankwell.reporting.outputs.answers import score_answer
from rankwell.reporting.page import NAME
from rankwell.store import write_bytes, write_npy
from rankwell.tasks.keywords.drawn_scenes import Scene, draw_clip
from rankwell.tasks.keywords.evaluation import ClipResults, evaluate_keywords
from rankwell.tasks.keywords.formats import read_annotations, read_schema
from rankwell.tasks.keywords.mapping import KeywordMapper
from rankwell.tasks.keywords.presentation import draw_sheets, with_pictures
from rankwell.vectors.encoders.simple_pictures import colours_and_shapes, edges
from rankwell.vectors.media.images import Thumbnails, locate, read_picture

GROUPS = ("pv_object_type", "pv_actor_behavior")
_DATA = files("rankwell.tasks.keywords") / "data"
AHEAD = (0.28, 0.3, 0.72, 0.85)
"""The part of a picture with other road users: left, top, right and bottom as shares of it."""
_SHEETS = 6
_TITLE = "Clips of roads by what is ahead, and by the whole picture"
_SHOWN = ("nDCG@5", "P@5", "R@5")
_KEYWORDS = 4


class DemoClips(NamedTuple):
    """The files of the demonstration.

    clips: folder of the GIFs, one per clip.
    annotations: table of the clips with their keywords.
    schema: the declared keywords.
    embeddings: vectors of the clips by two systems, each with a file of ids beside it.
    captions: a sentence per clip.
    queries: the text queries with their keywords.
    """

    clips: Path
    annotations: Path
    schema: Path
    embeddings: tuple[Path, ...]
    captions: Path
    queries: Path


class Captions(SqliteFts):
    """BM25 over a sentence for each clip."""


def keywords(
    *,
    output: FolderPath = Path("rankwell-demo-keywords"),
    seed: Seed = 0,
    progress: Progress = None,
) -> Output:
    """Search annotated driving clips by clips and by texts.

    Draws the clips, and runs the whole evaluation with its pictures.

      rankwell demo keywords

    Parameters
    ----------
    output
        Folder for the clips, the tables and the contact sheets.
    """
    with holding(output):
        demo = prepare(output, progress=progress)
        picture_files = locate(read_annotations(demo.annotations).clips, demo.clips)
        pictures = Thumbnails(picture_files)
        results = {
            path.stem: evaluate_keywords(
                demo.annotations,
                path,
                schema=demo.schema,
                keyword_groups=GROUPS,
                details=True,
                seed=seed,
            )
            for path in demo.embeddings
        }
        by_clip = list(results.values())
        by_text = search_texts(demo, seed=seed)
        found = [
            finding
            for name, result in {**results, "texts": by_text}.items()
            for finding in _write(result, output / name, pictures)
        ]
        write_report([output / name for name in results], output / NAME, title=_TITLE, seed=seed)
    return introduced(
        f"{len(picture_files)} drawn clips of roads, each searched with every other: by the "
        "colours and shapes of the whole picture, and by the edges of what is ahead.",
        Output(text=_text(by_clip, by_text), findings=tuple(dict.fromkeys(found))),
        output,
        StatusNote(f"wrote {output}/: the clips, all tables, contact sheets of the worst queries"),
    )


def _text(by_clip: Sequence[ClipResults], by_text: ClipResults) -> str:
    """The scores of the systems, the keywords that the last lacks most often, and the scores of
    texts; with details all columns, by group and of texts as well.
    """
    rows = [row for result in by_clip for row in result.summary if row["measure"] in _SHOWN]
    groups = [row for result in by_clip for row in result.by_group if row["measure"] == "P@5"]
    first, last = by_clip[0], by_clip[-1]
    missing = [f"{row['keyword']} {row['missing']:.0%}" for row in last.by_keyword[:_KEYWORDS]]
    texts = ", ".join(
        f"{row['run']} {row['mean']:.3f}" for row in by_text.summary if row["measure"] == "nDCG@5"
    )
    answer = score_answer(first, rows)._replace(
        legend=[
            f"What the first five of {last.summary[0]['run']} lack: {', '.join(missing)}.",
            f"Searched by {len(by_text.values[0].queries)} texts, nDCG@5: {texts}.",
        ]
    )
    tables = {"by_group": groups, "by_text": by_text.summary}
    terminal = reporting.terminal_of()
    return reporting.render(
        rows, None, first.describe(), (), terminal=terminal, tables=tables, answer=answer
    )


@keeping()
def prepare(folder: Path, *, progress: Progress = None) -> DemoClips:
    """Draws the clips, computes their vectors from the files' middle frames, and writes everything
    into a folder.
    """
    paths = {
        "annotations": folder / "unified_annotation.csv",
        "schema": folder / "clip_schema.json",
        "captions": folder / "clip_captions.tsv",
        "queries": folder / "clip_queries.csv",
    }
    for field, path in paths.items():
        name = "clips.csv" if field == "annotations" else path.name
        write_bytes(path, (_DATA / name).read_bytes())
    scenes = read_scenes()
    for done, scene in enumerate(scenes):
        if progress is not None:
            progress("drawing", done, len(scenes))
        write_bytes(folder / "clips" / scene.id, draw_clip(scene))
    images = [read_picture(folder / "clips" / scene.id) for scene in scenes]
    vectors_of = {
        "colours_and_shapes": colours_and_shapes(images),
        "edges_ahead": edges(images, part=AHEAD),
    }
    for name, vectors in vectors_of.items():
        write_npy(folder / f"{name}.npy", vectors)
        write_ids(folder / f"{name}.npy", [scene.id for scene in scenes])
    return DemoClips(
        clips=folder / "clips",
        embeddings=tuple(folder / f"{name}.npy" for name in vectors_of),
        **paths,
    )


def read_scenes() -> list[Scene]:
    """The clips that ship with the package, each with its labels in the order in which they are
    written.
    """
    text = (_DATA / "clips.csv").read_text(encoding="utf-8")
    return [
        Scene(
            row.pop("slice_id"),
            {group: [label.strip() for label in cell.split(",")] for group, cell in row.items()},
        )
        for row in csv.DictReader(text.splitlines())
    ]


def search_texts(demo: DemoClips, *, seed: int) -> ClipResults:
    """The results of the text queries by their labels, and by the keywords that their words are
    mapped to.
    """
    mapper = KeywordMapper(read_schema(demo.schema).vocabulary)
    with Captions(list(read_texts(demo.captions).texts.items())) as engine:
        return evaluate_keywords(
            demo.annotations,
            queries=demo.queries,
            map_text=lambda text: mapper.map_text(text).query_keywords,
            engine=engine,
            schema=demo.schema,
            details=True,
            seed=seed,
        )


def _write(result: ClipResults, folder: Path, pictures: Thumbnails) -> tuple[Finding, ...]:
    """Writes a result with small pictures, and contact sheets of its first run's worst queries;
    returns its findings.
    """
    score = "similarity" if result.rules["mode"] == "video" else "BM25"
    with drafting(folder, result.sources.values()) as draft:
        sheets = draw_sheets(result, draft / "sheets", pictures, _SHEETS, score)
        return present(with_pictures(result, pictures), output=folder, others=sheets).findings
