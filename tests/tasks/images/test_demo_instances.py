"""`rankwell demo images`: a drawn museum, bad photographs of it, the tables and the contact
sheets.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from PIL import Image

from rankwell import cli
from rankwell.data.options import overwriting
from rankwell.errors import BadUsage
from rankwell.tasks.images.commands.demo_images import COLLECTIONS, SYSTEMS, make
from rankwell.tasks.images.drawn_museum import HEIGHT, WIDTH, furnish, nothing, paint, photograph
from rankwell.vectors.media.images import read_picture


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The folder that the demo leaves, what it prints, and its notes."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    done = subprocess.run(
        [sys.executable, "-m", "rankwell", "demo", "images", "--verbose", "-o", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return folder, done.stdout, done.stderr


def test_the_demo_ends_with_the_tables_and_contact_sheets(demo: tuple[Path, str, str]) -> None:
    folder, out, _ = demo

    assert re.search(r"^statistic +paintings +cabinets$", out, re.M)
    for system in SYSTEMS:
        assert re.search(
            rf"^[a-d] +{system.run.replace('_', ' ')} +\d+\.\d\d\w* +\[.*\].* +\d+\.\d\d\w* +\[",
            out,
            re.M,
        )
    assert {path.suffix for path in (folder / "table").iterdir()} == {
        ".csv",
        ".html",
        ".json",
        ".md",
        ".tex",
    }
    sheets = sorted(folder.glob("results/*/sheets/*.png"))
    assert len(sheets) == 10 * len(COLLECTIONS) * len(SYSTEMS)
    assert {read_picture(path).width for path in sheets} == {2400}


def test_the_statistics_count_what_was_drawn(demo: tuple[Path, str, str]) -> None:
    folder, out, notes = demo
    drawn = {each.name: each for each in COLLECTIONS}

    for name, collection in drawn.items():
        shown = {path.parent.name for path in (folder / name / "references").rglob("*.jpg")} - {
            "contentless"
        }
        asked = {path.parent.name for path in (folder / name / "queries").rglob("*.jpg")}
        assert len(shown) == collection.exhibits
        assert len(asked - shown) == collection.absent
        assert (
            len(list((folder / name / "references" / "contentless").glob("*"))) == collection.empty
        )
    instances = re.search(r"^#Instances +(\d+) +(\d+)$", out, re.M)
    assert instances is not None
    assert [int(each) for each in instances.groups()] == [each.exhibits for each in COLLECTIONS]
    assert f"left out {drawn['paintings'].empty} references without content" in notes
    assert "queries of absent instances" in notes


def test_commands_over_its_files_print_what_the_demo_printed(
    demo: tuple[Path, str, str], monkeypatch, capsys
) -> None:
    folder, out, _ = demo
    last, results = SYSTEMS[-1], folder / "results"
    evaluated = ["images", str(folder / "paintings"), "--encoder", f"{last.run}={last.encoder}"]
    evaluated += ["--transform", last.transforms[0], "-o", str(results / f"paintings-{last.run}")]
    tabled = ["bench", str(folder / "bench.toml"), "-o", str(folder / "table")]
    assert (folder / "report.html").is_file()
    again = folder / "again"

    for words in ([*evaluated[:-1], str(again)], [*tabled[:-1], str(folder / "table again")]):
        monkeypatch.setattr(sys, "argv", ["rankwell", *words])
        assert cli.main() == 0

    first = Path(evaluated[-1])
    assert (again / "summary.csv").read_bytes() == (first / "summary.csv").read_bytes()
    printed = capsys.readouterr().out
    for line in out.splitlines():
        if re.match(r"[a-d]  ", line):
            assert line[3:].split()[0] in printed


def test_every_system_finds_more_than_chance(demo: tuple[Path, str, str]) -> None:
    for path in demo[0].glob("results/*/summary.json"):
        [row] = [row for row in json.loads(path.read_text())["rows"] if row["label"] == "P@1"]
        assert row["mean"] > row["chance"]


def test_the_same_seed_draws_the_same_museum(tmp_path: Path) -> None:
    small = COLLECTIONS[0]._replace(exhibits=2, absent=1, empty=1)

    one, two, other = (
        make(small, tmp_path / name, seed=seed)
        for name, seed in (("one", 1), ("two", 1), ("other", 2))
    )

    files = sorted(path.relative_to(one) for path in one.rglob("*.jpg"))
    assert files == sorted(path.relative_to(two) for path in two.rglob("*.jpg"))
    assert all((one / path).read_bytes() == (two / path).read_bytes() for path in files)
    query = next(path for path in files if path.parts[0] == "queries")
    assert (one / query).read_bytes() != (other / query).read_bytes()


def test_pictures_of_another_seed_are_not_mixed_with_these(tmp_path: Path) -> None:
    small = COLLECTIONS[0]._replace(exhibits=2, absent=1, empty=1)
    make(small, tmp_path, seed=1)
    stray = tmp_path / "references" / "painting-01" / "9.jpg"

    with pytest.raises(BadUsage, match=r"1\.jpg exists with different content"):
        make(small, tmp_path, seed=2)
    stray.write_bytes(b"")
    with pytest.raises(BadUsage, match=r"9\.jpg is not a picture of this seed"), overwriting(True):
        make(small, tmp_path, seed=1)


@pytest.mark.parametrize("draw", [paint, furnish])
def test_an_exhibit_is_the_same_by_name_and_another_by_another(draw) -> None:
    one, same, other = draw("x-1"), draw("x-1"), draw("x-2")

    assert one.size == (WIDTH, HEIGHT)
    assert one.tobytes() == same.tobytes() != other.tobytes()


def test_a_photograph_that_is_not_bad_is_the_picture_itself_and_bad_ones_are_further_from_it() -> (
    None
):
    picture = paint("x-1")
    plain = np.asarray(picture.resize((320, 240), Image.Resampling.BICUBIC), dtype=float)

    def off(badness: float) -> float:
        shots = [photograph(picture, Random(seed), badness=badness) for seed in range(6)]
        return float(
            np.mean([np.abs(np.asarray(shot, dtype=float) - plain).mean() for shot in shots])
        )

    assert off(0.0) < 3
    assert off(0.0) < off(0.3) < off(1.0)


def test_pictures_of_nothing_are_even() -> None:
    edges = [
        np.abs(
            np.diff(np.asarray(nothing(Random(seed)).convert("L").reduce(8), dtype=float))
        ).mean()
        for seed in range(12)
    ]
    painted = [
        np.abs(np.diff(np.asarray(paint(f"x-{seed}").convert("L").reduce(8), dtype=float))).mean()
        for seed in range(12)
    ]

    assert np.median(edges) < np.median(painted) / 2
