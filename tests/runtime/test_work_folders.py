"""Work folders: their files are whole, of this plan, and of unchanged inputs; all else is refused
or made again.
"""

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import rankwell
from rankwell.errors import BadInput, BadUsage
from rankwell.runtime import parts
from rankwell.runtime.parts.execution import compute_part
from rankwell.runtime.parts.plans import MOST_RECORD
from rankwell.store import Source, draft_names


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "base.npy", rng.normal(size=(90, 4)).astype(np.float32))
    np.save(tmp_path / "queries.npy", rng.normal(size=(5, 4)).astype(np.float32))
    return tmp_path


def search(files: Path, work: str = "work", **options) -> bytes:
    given = {"neighbours": 4, "shards": 3, "work": str(files / work), **options}
    found = rankwell.knn(queries=str(files / "queries.npy"), items=str(files / "base.npy"), **given)
    return found.positions.tobytes() + found.scores.tobytes()


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


PARTS = [f"part-0000{index}.{suffix}" for index in range(3) for suffix in ("json", "npy")]


def test_a_finished_folder_has_the_plan_the_parts_and_their_records_and_nothing_else(files: Path):
    search(files)

    records = [
        json.loads((files / "work" / name).read_text()) for name in PARTS if name.endswith("json")
    ]
    assert names(files / "work") == [*PARTS, "plan.json"]
    assert [record["part"] for record in records] == [0, 1, 2]
    assert [record["digest"] for record in records] == [
        Source(files / "work" / each["file"]).digest() for each in records
    ]
    assert all(
        (files / "work" / name).stat().st_size <= MOST_RECORD
        for name in PARTS
        if name.endswith("json")
    )


def test_parts_that_are_done_are_not_computed_again(files: Path):
    expected = search(files)
    (files / "work" / "part-00001.json").unlink()
    before = {name: (files / "work" / name).stat().st_ino for name in PARTS[::2] if "1" not in name}

    assert search(files) == expected
    assert {name: (files / "work" / name).stat().st_ino for name in before} == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"neighbours": 6}, r"neighbours was 4, is 6\. Name another work folder"),
        ({"metric": "dot"}, "metric was 'cosine', is 'dot'"),
        ({"shards": 4}, "it has 3 parts, this has 4"),
    ],
)
def test_a_folder_of_other_work_is_refused_with_what_differs(
    files: Path, options: dict[str, object], message: str
):
    search(files)

    with pytest.raises(BadUsage, match=message):
        search(files, **options)


def test_a_path_with_dots_names_the_same_input_and_a_long_path_is_shown_where_it_differs(
    files: Path,
):
    (files / ("a" * 60)).mkdir()
    shutil.copy(files / "base.npy", files / ("a" * 60) / "base.npy")
    (files / "base.npy").rename(files / ("a" * 60) / "other.npy")
    long = files / ("a" * 60)
    given = {"neighbours": 4, "shards": 3, "work": str(files / "work")}

    rankwell.knn(queries=str(files / "queries.npy"), items=str(long / "base.npy"), **given)
    rankwell.knn(
        queries=str(files / "queries.npy"), items=str(long / ".." / long.name / "base.npy"), **given
    )
    with pytest.raises(
        BadUsage, match=r"base was '…a{19}/base\.npy', is '…a{19}/other\.npy'\. Name"
    ):
        rankwell.knn(queries=str(files / "queries.npy"), items=str(long / "other.npy"), **given)


def test_a_work_folder_that_is_a_file_is_refused_and_the_file_stays(files: Path):
    before = (files / "base.npy").read_bytes()

    with pytest.raises(BadUsage, match=r"base\.npy is a file, not a folder; name another place"):
        search(files, "base.npy")

    assert (files / "base.npy").read_bytes() == before


def test_a_link_to_itself_is_not_a_work_folder(files: Path):
    (files / "loop").symlink_to(files / "loop")

    with pytest.raises(BadUsage, match=r"loop cannot be a work folder \(.*\); name another place"):
        search(files, "loop")


def test_a_plan_that_cannot_be_read_is_not_called_missing(
    files: Path, monkeypatch: pytest.MonkeyPatch
):
    search(files)

    def _refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", _refuse)
    with pytest.raises(
        BadInput, match=r"plan\.json cannot be opened \(Permission denied\); check who may read it"
    ):
        search(files)


def test_an_input_that_has_changed_since_the_plan_is_refused(files: Path):
    search(files)
    np.save(files / "base.npy", np.ones((91, 4), dtype=np.float32))

    with pytest.raises(BadUsage, match=r"base\.npy has changed \(1568 bytes then, 1584 now\)"):
        search(files)
    (files / "work" / "part-00001.npy").unlink()
    with pytest.raises(BadInput, match=r"base\.npy has changed since the plan was written"):
        compute_part(files / "work", 1)


def test_ids_that_appear_beside_the_base_later_are_another_input(files: Path):
    search(files)
    (files / "base.ids.txt").write_text("".join(f"{row}\n" for row in range(90)))

    with pytest.raises(BadUsage, match=r"base\.ids\.txt was not an input"):
        search(files)


def test_parts_that_read_other_bytes_of_one_input_are_refused(files: Path):
    search(files)
    record = json.loads((files / "work" / "part-00002.json").read_text())
    record["inputs"]["queries 0-5"] = "0" * 32
    (files / "work" / "part-00002.json").write_text(json.dumps(record))

    with pytest.raises(
        BadInput, match=r"queries\.npy, 0-5: parts 0 and 2 read different bytes of it"
    ):
        search(files)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"format": 2}', b"{"])
def test_a_damaged_plan_is_refused(files: Path, content: bytes):
    search(files)
    (files / "work" / "plan.json").write_bytes(content)

    with pytest.raises(BadInput, match=r"plan\.json"):
        search(files)


def test_a_plan_of_another_version_is_refused(files: Path):
    search(files)
    path = files / "work" / "plan.json"
    path.write_text(
        path.read_text().replace(f'"rankwell": "{rankwell.__version__}"', '"rankwell": "9.9"')
    )

    with pytest.raises(BadUsage, match=r"the plan is of rankwell 9\.9"):
        search(files)
    with pytest.raises(BadUsage, match=r"the plan is of rankwell 9\.9"):
        compute_part(files / "work", 0)


def test_a_place_that_refuses_no_second_put_gives_each_content_its_name(
    files: Path, monkeypatch: pytest.MonkeyPatch
):
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    expected = search(files, "plain")
    monkeypatch.setattr(parts.os, "link", no_links)

    assert search(files) == expected
    assert json.loads((files / "work" / "plan.json").read_text())["puts"] == "unique"
    assert all(
        len(name.split(".")) == 3 for name in names(files / "work") if name.startswith("part")
    )
    (files / "work" / names(files / "work")[0]).unlink()
    assert search(files) == expected


def test_two_digests_of_one_part_are_an_error(files: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        parts, "link_new", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "no links"))
    )
    search(files)
    folder = files / "work"
    record = next(folder.glob("part-00000.*.json"))
    lists = np.load(folder / json.loads(record.read_text())["file"])
    other = "part-00000.0123456789abcdef"
    np.save(folder / f"{other}.npy", lists + 1)
    changed = {"file": f"{other}.npy", "digest": Source(folder / f"{other}.npy").digest()}
    (folder / f"{other}.json").write_text(json.dumps({**json.loads(record.read_text()), **changed}))

    with pytest.raises(BadInput, match="are one part with two digests"):
        search(files)


@pytest.mark.skipif(os.name == "nt", reason="processes are found by number on POSIX")
def test_drafts_of_killed_processes_are_removed(files: Path):
    search(files)
    (files / "work" / "part-00001.json").unlink()
    dead = files / "work" / f"{draft_names('.draft-')}{2**22 + 1}-0"
    dead.write_bytes(b"half")

    search(files)

    assert not dead.exists()
