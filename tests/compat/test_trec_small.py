"""trec_eval's measures in plain Python, for small files, against `rankwell.measures` over the same
random worlds.
"""

import random
import struct

import pytest

from rankwell.compat import trec_small, trec_views
from rankwell.compat.trec_inputs import parse, read_ahead
from rankwell.compat.trec_measures import MEASURES, plan
from rankwell.core import startup
from rankwell.core.kernels import native

pytestmark = pytest.mark.skipif(
    native.library is None,
    reason="there is no compiled kernel, without which NumPy reads the files",
)

LEVELS = ["", "-l 0", "-l 2", "-M 3", "-J", "-c", "-c -J -M 4 -l 2"]
KNOWN = [trec.name for trec in MEASURES if trec.name in trec_small._FORMS]
# On some processors NumPy has a logarithm of its own, which differs from the C library's in the
# last bit.
BY_LOGARITHM = ("ndcg", "gm_")


def world(seed, folder):
    """Files with ties, odd grades, a long list, and queries without results, without judgments,
    without anything relevant.
    """
    draw = random.Random(seed)
    judged, run = list[str](), list[str]()
    for query in range(12):
        items = [f"d{number}" for number in range(30)]
        for item in draw.sample(items, draw.choice([1, 3, 12, 25])):
            grade = draw.choice(
                ["-2", "-1", "-0.5", "0", "0.5", "1", "1.9", "2", "7", "11"]
                if query % 5
                else ["0", "-1"]
            )
            judged.append(f"q{query} 0 {item} {grade}\n")
        for item in [] if query % 4 == 3 else draw.sample(items, draw.choice([1, 5, 30])):
            run.append(f"q{query} Q0 {item} 0 {draw.choice([0.5, 1, 1.00000001, 2.5, -3])} tag\n")
    run.append("unknown Q0 d1 0 1 tag\n")
    run += [f"long Q0 d{place} 0 {-place} tag\n" for place in range(1200)]
    judged += [f"long 0 d{place} 1\n" for place in (3, 1003, 1100)]
    (folder / "qrels").write_text("".join(judged))
    (folder / "run").write_text("".join(run))


@pytest.mark.parametrize("version", ["--v10", "--v9"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(6))
def test_every_value_is_that_of_the_measure_of_rankwell(seed, level, version, tmp_path):
    world(seed, tmp_path)
    marked = [word for name in KNOWN for word in ("-m", name)]
    marked += [
        "-m",
        "P.1,2,3,29,31",
        "-m",
        "iprec_at_recall.0.05,0.34,0.5,1.2",
        "-m",
        "ndcg_cut.1,2,3",
        "-m",
        "success.2",
    ]
    options = parse(
        [version, *level.split(), *marked, str(tmp_path / "qrels"), str(tmp_path / "run")]
    )
    lines, ahead = plan(options), read_ahead(options)
    assert trec_small.fits(lines, ahead.judged)

    small = trec_small.evaluate(lines, options, ahead.judged, ahead.scan.rows())
    views = trec_views.evaluate(lines, options, None)

    assert (small.queries, small.present, small.positives) == (
        views.queries,
        views.present,
        views.positives,
    )
    assert any(value != 0 for row in small.values for value in row)
    for line, plain, vectorised in zip(lines, small.values, views.values, strict=True):
        if line.trec.name.startswith(BY_LOGARITHM):
            assert list(plain) == pytest.approx(list(vectorised), rel=1e-15, abs=0), line.name
        else:
            assert bits(plain) == bits(vectorised), line.name


def bits(values):
    return struct.pack(f"{len(values)}d", *values)


def test_what_the_official_lines_of_trec_eval_need_is_known():
    assert {line.trec.name for line in plan(parse(["qrels", "run"]))} <= set(KNOWN)
    assert set(trec_small._FORMS) == set(KNOWN)


@pytest.mark.parametrize("marked", ["-m infAP", "-m map -m relstring", "-m ndcg.1=3,2=9"])
def test_what_it_does_not_know_is_left_to_rankwells_measures(marked, tmp_path):
    world(0, tmp_path)
    options = parse([*marked.split(), str(tmp_path / "qrels"), str(tmp_path / "run")])

    assert not trec_small.fits(plan(options), read_ahead(options).judged)


def test_many_judged_items_and_many_values_are_left_to_numpy(tmp_path, monkeypatch):
    world(0, tmp_path)
    options = parse(["-m", "P.5,10", str(tmp_path / "qrels"), str(tmp_path / "run")])
    lines, judged = plan(options), read_ahead(options).judged
    size = len(judged.items) + 2 * len(judged.queries)

    for most, fits in ((size, True), (size - 1, False)):
        monkeypatch.setattr(startup, "is_small", most.__ge__)
        assert trec_small.fits(lines, judged) == fits
