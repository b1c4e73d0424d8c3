"""Parts of one encoding by different machines: refused unless a mixture is accepted, and then said
and recorded.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rankwell
from buckets import Bucket
from commanding import with_fields
from rankwell.cli.commands.encode import encode
from rankwell.cli.commands.worker import worker
from rankwell.errors import BadInput, BadUsage
from rankwell.runtime.parts import encode as encoding
from rankwell.runtime.parts.execution import compute_part
from rankwell.runtime.parts.plans import WorkFolder
from rankwell.vectors.encoders import tfidf_svd

run, show = with_fields(encode), with_fields(worker)
MODEL = {"encoder": "tfidf-svd:6", "batch_size": 1}
OLD = {"device": "cpu", "processor": "x86_64 AVX2", "versions": "numpy 2.1.0"}
NEW = {**OLD, "processor": "x86_64 AVX512"}


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """250 texts: 8 chunks of 32, the last one shorter; 3 parts have 64, 96 and 90."""
    chance = random.Random(3)
    rows = (
        {"_id": f"t{row}", "text": " ".join(chance.choices([f"word{n}" for n in range(60)], k=9))}
        for row in range(250)
    )
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "texts.jsonl"


@contextmanager
def machine(traits: dict[str, str], noise: float = 0.0) -> Generator[None]:
    """A block in which this is a machine of these traits, whose vectors have a relative error."""
    whole = tfidf_svd.TfidfSvd.encode
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_machine", lambda _: traits)
        patch.setattr(
            tfidf_svd.TfidfSvd,
            "encode",
            lambda self, some: whole(self, some) * np.float32(1 + noise),
        )
        yield


def options_of(texts: Path, **further: object) -> dict[str, object]:
    return {
        "fit": str(texts),
        "shards": 3,
        "work": str(texts.parent / "w"),
        "executor": "array",
        **MODEL,
        **further,
    }


def computed(
    texts: Path, machines: dict[int, dict[str, str]], noise: float = 1e-6
) -> dict[str, object]:
    """The options of a command whose parts some machines have computed, all but the old one with an
    error.
    """
    options = options_of(texts)
    run(str(texts), output=texts.parent / "v.npy", **options)
    for index, traits in machines.items():
        with machine(traits, 0.0 if traits == OLD else noise):
            compute_part(texts.parent / "w", index)
    return options


def manifest_of(file: Path) -> dict[str, object]:
    return json.loads(file.with_suffix(".manifest.json").read_text())


def outputs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("v*"))}


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("processor", "x86_64 AVX512"),
        ("device", "cuda:0 NVIDIA H100 80GB HBM3"),
        ("versions", "numpy 2.2.0"),
    ],
)
def test_a_mixture_is_refused_with_both_machines_and_merged_where_it_is_accepted(
    texts: Path, name: str, other: str
):
    options, output = (
        computed(texts, {0: OLD, 1: {**OLD, name: other}, 2: OLD}),
        texts.parent / "v.npy",
    )
    before = {path.name: path.stat().st_ino for path in (texts.parent / "w").glob("part-*")}

    differing = (
        rf"part 0 was made with the {name} {OLD[name]}, part 1 with the {name} {other}.*\(--mixed\)"
    )
    with pytest.raises(BadInput, match=differing):
        run(str(texts), output=output, **options)
    assert not output.exists()
    notes = run(str(texts), output=output, mixed=True, **options).messages

    said = (
        f"2 parts were made with the {name} {OLD[name]}, 1 part with the {name} {other}; no one "
        "machine can make it again"
    )
    assert f"{output} is mixed: {said}" in notes
    assert manifest_of(output)["mixed"] == [
        {**OLD, "parts": 2, "rows": "0-63,160-249"},
        {**OLD, name: other, "parts": 1, "rows": "64-159"},
    ]
    assert not {"device", "versions"} & manifest_of(output)["encoder"].keys()
    run(str(texts), output=texts.parent / "one.npy", fit=str(texts), **MODEL)
    vectors, one = np.load(output), np.load(texts.parent / "one.npy")
    assert [row for row in range(250) if (vectors[row] != one[row]).any()] == list(range(64, 160))
    assert {path.name: path.stat().st_ino for path in (texts.parent / "w").glob("part-*")} == before


def test_parts_of_one_machine_have_the_same_bytes_with_and_without_the_option_and_nothing_is_said(
    texts: Path,
):
    options = computed(texts, dict.fromkeys(range(3), NEW))
    (texts.parent / "a").mkdir()

    run(str(texts), output=texts.parent / "a/v.npy", **options)
    notes = run(str(texts), output=texts.parent / "b/v.npy", mixed=True, **options).messages

    assert outputs(texts.parent / "b") == outputs(texts.parent / "a")
    assert "mixed" not in " ".join(notes)


def test_another_model_is_refused_where_a_mixture_is_accepted(texts: Path):
    options = computed(texts, {0: OLD, 1: NEW, 2: OLD})
    record = json.loads((texts.parent / "w/part-00002.json").read_text())
    record["alike"]["model"] = "another"
    (texts.parent / "w/part-00002.json").write_text(json.dumps(record))

    with pytest.raises(
        BadInput, match=r"part 0 was made with the model .*, part 2 with another\. Remove one"
    ):
        run(str(texts), output=texts.parent / "v.npy", mixed=True, **options)


def test_vectors_that_differ_by_more_than_rounding_are_refused_where_a_mixture_is_accepted(
    texts: Path,
):
    options = computed(texts, {0: OLD, 1: NEW, 2: OLD}, noise=-2.0)

    with pytest.raises(
        BadInput,
        match=r"vectors of text 0 \(from 0\) by the machines of parts 0 and 1 have a cosine of "
        r"-1\.0000",
    ):
        run(str(texts), output=texts.parent / "v.npy", mixed=True, **options)


def test_the_status_and_the_list_of_missing_parts_name_the_mixture(texts: Path):
    options = computed(texts, {0: OLD, 2: NEW})

    lines = show(str(texts.parent / "w"), status=True).text.splitlines()
    without, given = (
        run(str(texts), output=texts.parent / "v.npy", mixed=mixed, **options)
        for mixed in (False, True)
    )

    assert lines[-3:] == [
        "machine  0: the processor x86_64 AVX2",
        "machine  2: the processor x86_64 AVX512",
        "mixed    by 2 kinds of machine; merging them needs --mixed",
    ]
    assert without.messages[0].startswith(
        "1 part was made with the processor x86_64 AVX2, 1 part with"
    )
    assert without.messages[0].endswith("merging them needs --mixed")
    assert [len(each.messages) for each in (without, given)] == [2, 1]
    assert without.text == given.text


def test_a_damaged_part_that_another_machine_makes_again_is_part_of_a_mixture(texts: Path):
    options = {**computed(texts, dict.fromkeys(range(3), OLD)), "executor": "here"}
    (texts.parent / "w/part-00002.arrays").write_bytes(b"damaged")

    with machine(NEW), pytest.raises(BadInput, match="part 2 with the processor x86_64 AVX512"):
        run(str(texts), output=texts.parent / "v.npy", **options)
    run(str(texts), output=texts.parent / "v.npy", mixed=True, **options)

    assert [each["rows"] for each in manifest_of(texts.parent / "v.npy")["mixed"]] == [
        "0-159",
        "160-249",
    ]


@pytest.mark.parametrize("puts", ["refused", "unique"])
def test_of_a_part_that_two_machines_have_made_one_is_kept(
    texts: Path, puts: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("rankwell.runtime.parts.plans.probe", lambda _: puts)
    options = computed(texts, {0: OLD, 2: OLD})
    keep = WorkFolder.keep

    def _overtaken(*given: object):
        """Another machine takes the part over, and is done first."""
        monkeypatch.setattr(WorkFolder, "keep", keep)
        with machine(NEW, 1e-6):
            compute_part(texts.parent / "w", 1)
        return keep(*given)

    monkeypatch.setattr(WorkFolder, "keep", _overtaken)
    with machine(OLD):
        compute_part(texts.parent / "w", 1)
    compute_part(texts.parent / "w", 1)
    run(str(texts), output=texts.parent / "v.npy", mixed=True, **options)

    run(str(texts), output=texts.parent / "one.npy", fit=str(texts), **MODEL)
    moved = (np.load(texts.parent / "v.npy") != np.load(texts.parent / "one.npy")).any(axis=1)
    recorded = manifest_of(texts.parent / "v.npy").get("mixed", [{}])[-1].get("rows")
    assert recorded == ("64-159" if moved.any() else None)


def test_a_file_of_a_mixture_is_what_the_same_command_has_made(texts: Path):
    options, output = computed(texts, {0: OLD, 1: NEW, 2: OLD}), texts.parent / "v.npy"
    run(str(texts), output=output, mixed=True, **options)
    before = outputs(texts.parent)

    notes = run(str(texts), output=output, mixed=True, **options).messages
    with pytest.raises(
        BadUsage,
        match=r"v\.npy is there, and its vectors are of several kinds of machine; --mixed to ",
    ):
        run(str(texts), output=output, **options)
    with pytest.raises(BadUsage, match="was made from other texts or in another way"):
        run(str(texts), output=output, **{**options, "encoder": "tfidf-svd:5", "mixed": True})

    assert "nothing to do" in notes[-1]
    assert (
        "vectors by several kinds of machine, which v.manifest.json lists; no one machine can "
        "make it again" in notes[-2]
    )
    assert outputs(texts.parent) == before


def test_a_file_of_other_versions_is_accepted_with_a_mixture_alone(texts: Path):
    output, options = texts.parent / "v.npy", {"fit": str(texts), **MODEL}
    run(str(texts), output=output, **options)
    manifest = manifest_of(output)
    manifest["encoder"]["versions"] = {"numpy": "1.0"}
    output.with_suffix(".manifest.json").write_text(json.dumps(manifest))

    with pytest.raises(BadUsage, match="in another way"):
        run(str(texts), output=output, **options)
    assert (
        "nothing to do"
        in run(
            str(texts), output=output, mixed=True, work=str(texts.parent / "w"), **options
        ).messages[-1]
    )


def test_the_function_warns_of_a_mixture_and_names_its_argument(texts: Path):
    computed(texts, {0: OLD, 1: NEW, 2: OLD})
    given = {"fit": str(texts), "work": str(texts.parent / "w"), **MODEL}

    with pytest.raises(BadInput, match=r"or accept both \(pass mixed=True\)"):
        rankwell.encode(texts, texts.parent / "v.npy", **given)
    with pytest.warns(
        UserWarning, match=r"v\.npy has vectors by several kinds of machine, which v\.manifest"
    ) as warned:
        found = rankwell.encode(texts, texts.parent / "v.npy", mixed=True, **given)

    assert warned[0].filename == __file__
    assert found.vectors.shape == (250, 6)


def test_a_mixture_needs_parts(texts: Path):
    with pytest.raises(
        BadUsage, match="--mixed: one process is one machine; name the --work folder"
    ):
        run(str(texts), output=texts.parent / "v.npy", fit=str(texts), mixed=True, **MODEL)


@pytest.mark.parametrize("traits", [["cpu"], "cpu", 3])
def test_a_record_whose_machine_is_not_one_is_damaged(texts: Path, traits: object):
    options = computed(texts, dict.fromkeys(range(3), OLD))
    record = json.loads((texts.parent / "w/part-00001.json").read_text())
    (texts.parent / "w/part-00001.json").write_text(json.dumps({**record, "machine": traits}))

    notes = run(str(texts), output=texts.parent / "v.npy", **options).messages

    assert notes[0] == "part 1 is damaged: part-00001.json is damaged"


def test_a_gpu_is_recorded_by_its_name(monkeypatch: pytest.MonkeyPatch):
    cuda = SimpleNamespace(get_device_name={"cuda:0": "NVIDIA H100"}.__getitem__)
    monkeypatch.setitem(encoding.sys.modules, "torch", SimpleNamespace(cuda=cuda))

    found = encoding._machine({"device": "cuda:0", "versions": {"torch": "2.8", "numpy": "2.1"}})

    assert found["device"] == "cuda:0 NVIDIA H100"
    assert found["versions"] == "numpy 2.1 torch 2.8"
    assert encoding._machine({})["device"] == "cpu"


def test_traits_too_long_for_a_record_differ_where_their_ends_differ():
    many = {f"package{number:02}": "1.0.0" for number in range(20)}
    one, other = (
        encoding._machine({"versions": {**many, "zlib": end}})["versions"] for end in ("1", "2")
    )

    assert one != other
    assert len(one) == len(other) == 120


def test_a_process_without_an_instruction_set_is_another_machine(texts: Path):
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if not found:
        pytest.skip("NumPy uses only its baseline here")
    run(str(texts), output=texts.parent / "v.npy", **options_of(texts))
    command = [sys.executable, "-m", "rankwell", "worker", str(texts.parent / "w"), "1"]

    for index in (0, 2):
        compute_part(texts.parent / "w", index)
    subprocess.run(command, env={**os.environ, "NPY_DISABLE_CPU_FEATURES": found[-1]}, check=True)

    with pytest.raises(
        BadInput,
        match=rf"part 0 was made with the processor .*{found[-1]}.*, part 1 with the processor ",
    ):
        run(str(texts), output=texts.parent / "v.npy", **options_of(texts))


def test_a_mixture_in_a_bucket_is_named_and_merged(texts: Path, s3: Bucket):
    work, output = "s3://bucket/w", texts.parent / "v.npy"
    options = options_of(texts, work=work)
    run(str(texts), output=output, **options)
    for index in range(3):
        with machine(NEW if index == 1 else OLD):
            compute_part(work, index)

    s3.reads.clear()
    lines = show(work, status=True).text.splitlines()
    assert not [path for path, _, _ in s3.reads if path.endswith(".arrays")]
    with pytest.raises(
        BadInput,
        match="part 0 was made with the processor x86_64 AVX2, part 1 with the processor x86_64 "
        "AVX512",
    ):
        run(str(texts), output=output, **options)
    run(str(texts), output=output, mixed=True, **options)

    assert lines[-3:-1] == [
        "machine  0,2: the processor x86_64 AVX2",
        "machine  1: the processor x86_64 AVX512",
    ]
    assert [each["rows"] for each in manifest_of(output)["mixed"]] == ["0-63,160-249", "64-159"]
