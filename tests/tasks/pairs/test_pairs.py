"""Pairs: two columns of numbers, two models on sampled pairs, and one model on given pairs."""

import csv
import itertools
import json
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest
from scipy import stats
from scipy.spatial import distance

from rankwell import cli
from rankwell._native.similarity import SIMILARITIES, pair_similarities
from rankwell.data.matrices import Embeddings, Pairs, ScoredPairs, sample_pairs
from rankwell.errors import BadInput, BadScore
from rankwell.io.records import read_numbers
from rankwell.tasks.pairs.task import ModelPairs, PairOptions, measure_pairs, resamples_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two columns that go together, as text, and two models' embeddings of 60 items."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 6, 80).astype(float)
    similar = gold / 5 + 0.2 * rng.normal(size=80)
    (tmp_path / "gold.txt").write_text("".join(f"{value}\n" for value in gold.tolist()))
    np.save(tmp_path / "sim.npy", similar)
    with (tmp_path / "pairs.csv").open("w") as stream:
        rows = zip(gold.tolist(), similar.tolist(), itertools.cycle("ab"), strict=False)
        csv.writer(stream).writerows([("gold", "sim", "genre"), *rows])
    base = rng.normal(size=(60, 8))
    np.save(tmp_path / "teacher.npy", (base @ rng.normal(size=(8, 32))).astype(np.float32))
    np.save(
        tmp_path / "student.npy",
        (base @ rng.normal(size=(8, 12)) + rng.normal(size=(60, 12))).astype(np.float32),
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def call(*arguments: str, code: int = 0):
        monkeypatch.setattr("sys.argv", ["rankwell", "pairs", *arguments])
        assert cli.main() == code
        out, err = capsys.readouterr()
        return (json.loads(out) if "json" in arguments else out), err

    return call


def by_name(found):
    return {(row["run"], row["measure"], row.get("group")): row for row in found["rows"]}


def compared(targets, similarities, run="model"):
    names = [str(row) for row in range(len(targets))]
    return ModelPairs(
        run, None, ScoredPairs(names, np.array(targets, float), np.array(similarities, float))
    )


def test_two_columns_give_the_figures_of_scipy(folder, run):
    gold, similar = np.loadtxt("gold.txt"), np.load("sim.npy")

    found, _ = run("gold.txt", "sim.npy", "--format", "json")

    rows = {row["measure"]: row for row in found["rows"]}
    for name, theirs in (
        ("Spearman", stats.spearmanr),
        ("Pearson", stats.pearsonr),
        ("Kendall", stats.kendalltau),
    ):
        expected = theirs(gold, similar)
        assert rows[name]["mean"] == pytest.approx(expected.statistic, rel=1e-12)
        assert rows[name]["p"] == pytest.approx(expected.pvalue, rel=1e-9)
        assert rows[name]["ci_low"] < rows[name]["mean"] < rows[name]["ci_high"]
    assert rows["MAE"]["mean"] == pytest.approx(np.abs(gold - similar).mean(), rel=1e-12)
    assert rows["MAE"]["sd"] == pytest.approx(np.abs(gold - similar).std(ddof=1), rel=1e-12)
    assert rows["MSE"]["mean"] == pytest.approx(((gold - similar) ** 2).mean(), rel=1e-12)
    line = np.polynomial.Polynomial.fit(similar, gold, 1)
    assert rows["MAE(fit='affine')"]["mean"] == pytest.approx(
        np.abs(gold - line(similar)).mean(), rel=1e-10
    )
    columns = ["run", "measure", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit", "p"]
    assert all(
        list(row) == columns and row["n"] == 80 and row["run"] == "sim" for row in found["rows"]
    )


def test_every_form_of_a_column_gives_the_same_numbers(folder, run):
    duckdb.sql(
        "COPY (SELECT * FROM 'pairs.csv') TO 'pairs.parquet'; COPY (SELECT * FROM "
        "'pairs.csv') TO 'pairs.jsonl'"
    )
    (folder / "gold.json").write_text(json.dumps(np.loadtxt("gold.txt").tolist()))
    expected = np.loadtxt("gold.txt")

    assert read_numbers("gold.txt").tolist() == expected.tolist()
    assert read_numbers("gold.json").tolist() == expected.tolist()
    for place in ("pairs.csv", "pairs.parquet", "pairs.jsonl"):
        assert read_numbers(place, column="gold").tolist() == expected.tolist()
    assert read_numbers("sim.npy") == pytest.approx(
        read_numbers("pairs.csv", column="sim"), rel=1e-15
    )
    found, _ = run(
        "pairs.csv:gold", "pairs.parquet:sim", "sim.npy", "--format", "json", "--intervals", "none"
    )
    assert {row["run"] for row in found["rows"]} == {"pairs:sim", "sim"}


def test_a_table_of_one_column_is_read_by_its_name_or_without_it(tmp_path):
    place = tmp_path / "one.csv"
    place.write_text("score\n1\n2.5\n")

    assert read_numbers(place).tolist() == [1.0, 2.5]
    assert read_numbers(place, column="score").tolist() == [1.0, 2.5]


def test_words_where_numbers_belong_are_refused_with_a_hint(tmp_path):
    (tmp_path / "words.txt").write_text("many words, no number\nand more\n")

    with pytest.raises(BadInput, match=r"words.txt"):
        read_numbers(tmp_path / "words.txt")


def test_t_intervals_are_fishers_and_students(folder, run):
    gold, similar = np.loadtxt("gold.txt"), np.load("sim.npy")

    found, _ = run("gold.txt", "sim.npy", "--intervals", "t", "--format", "json")

    rows = {row["measure"]: row for row in found["rows"]}
    assert (rows["Pearson"]["ci_low"], rows["Pearson"]["ci_high"]) == pytest.approx(
        tuple(stats.pearsonr(gold, similar).confidence_interval())
    )
    errors = np.abs(gold - similar)
    low, high = stats.ttest_1samp(errors, 0).confidence_interval()
    assert (rows["MAE"]["ci_low"], rows["MAE"]["ci_high"]) == pytest.approx((low, high))
    assert rows["MAE(fit='affine')"]["ci_low"] is None
    messages = {each["name"]: each["message"] for each in found["findings"]}
    assert "not for: sim, the error after calibration" in messages["no-t-interval"]


def test_a_constant_column_gives_null_and_a_note_and_never_a_number():
    found = measure_pairs(compared(np.arange(20), [0.5] * 20), PairOptions())

    rows = {row["measure"]: row for row in found.rows}
    for name in ("Spearman", "Pearson", "Kendall", "MAE(fit='affine')"):
        assert (rows[name]["mean"], rows[name]["p"], rows[name]["ci_low"]) == (None, None, None)
    assert rows["MAE"]["mean"] == pytest.approx(np.abs(np.arange(20) - 0.5).mean())
    assert found.findings == [
        "model: all similarities are 0.5: a constant has no correlation, and no line to "
        "calibrate by"
    ]


def test_few_pairs_have_no_interval_and_two_no_correlation():
    nine, two = (
        measure_pairs(compared(np.arange(n), np.arange(n) ** 2), PairOptions()) for n in (9, 2)
    )

    assert [row["mean"] is None for row in nine.rows] == [False] * 6
    assert {row["ci_low"] for row in nine.rows} == {None}
    assert [row["mean"] is None for row in two.rows] == [True, True, True, False, False, False]
    assert two.findings == [
        "model: no correlation below 3 pairs (here 2)",
        "no interval below 10 pairs (here 2): model",
        "model: calibrated by 1 · similarity +0",
    ]


def test_shifting_and_stretching_the_similarities_changes_the_raw_error_only():
    rng = np.random.default_rng(3)
    target = rng.normal(size=50)
    similar = target + 0.3 * rng.normal(size=50)

    one, other = (
        {
            row["measure"]: row["mean"]
            for row in measure_pairs(compared(target, column), PairOptions(intervals="none")).rows
        }
        for column in (similar, 7 * similar - 3)
    )

    for name in ("Spearman", "Pearson", "Kendall", "MAE(fit='affine')"):
        assert one[name] == pytest.approx(other[name], rel=1e-12)
    assert one["MAE"] < 0.5 < other["MAE"]


def test_groups_are_ranges_of_the_target_or_the_names_in_a_column(folder, run):
    gold = np.loadtxt("gold.txt")
    similar = np.load("sim.npy")

    ranges, _ = run(
        "gold.txt", "sim.npy", "--group", "2", "--intervals", "none", "--format", "json"
    )
    named, _ = run(
        "gold.txt",
        "sim.npy",
        "--group",
        "pairs.csv:genre",
        "--intervals",
        "none",
        "--format",
        "json",
    )

    groups = {row["group"]: row["n"] for row in ranges["rows"]}
    assert next(iter(groups)) == "all"
    assert sum(groups.values()) == 2 * groups["all"] == 160
    low = gold < np.median(gold)
    expected = stats.spearmanr(gold[low], similar[low]).statistic
    assert by_name(ranges)["sim", "Spearman", list(groups)[1]]["mean"] == pytest.approx(
        expected, rel=1e-12
    )
    expected = stats.spearmanr(gold[::2], similar[::2]).statistic
    assert by_name(named)["sim", "Spearman", "a"]["mean"] == pytest.approx(expected, rel=1e-12)


def test_equal_targets_stay_in_one_group(folder, run):
    (folder / "two.txt").write_text("0\n" * 60 + "1\n" * 20)

    found, _ = run("two.txt", "sim.npy", "--group", "4", "--intervals", "none", "--format", "json")

    assert {row["group"]: row["n"] for row in found["rows"] if row["measure"] == "MAE"} == {
        "all": 80,
        "0 to 0": 60,
        "1 to 1": 20,
    }
    assert any(
        "group 0 to 0" in note and "constant" in note
        for note in [each["message"] for each in found["findings"]]
    )


@pytest.mark.parametrize("items", [2, 3, 4, 5, 8, 9])
def test_all_pairs_are_every_pair_once(items):
    for size in (items * (items - 1) // 2, 1000):
        found = sample_pairs(items, size, seed=0)
        pairs = {
            frozenset(pair) for pair in zip(found.left.tolist(), found.right.tolist(), strict=True)
        }
        assert pairs == {frozenset(pair) for pair in itertools.combinations(range(items), 2)}
        assert len(found) == len(pairs)


@pytest.mark.parametrize("size", [1, 5, 20, 30, 44])
def test_sampled_pairs_are_different_and_equally_probable(size):
    seen = np.zeros((10, 10))
    for seed in range(1500):
        found = sample_pairs(10, size, seed=seed)
        assert (
            len(
                {
                    frozenset(pair)
                    for pair in zip(found.left.tolist(), found.right.tolist(), strict=True)
                }
            )
            == size
        )
        assert (found.left != found.right).all()
        np.add.at(
            seen, (np.minimum(found.left, found.right), np.maximum(found.left, found.right)), 1
        )
    counts, expected = seen[np.triu_indices(10, 1)], 1500 * size / 45
    # Counts of pairs drawn without replacement vary less than those of a multinomial, by (1 - size
    # / 45).
    assert (
        stats.chi2.sf(((counts - expected) ** 2).sum() / expected / (1 - size / 45) * 44 / 45, 44)
        > 1e-4
    )


def test_a_sample_is_named_by_its_seed_alone():
    one, two = sample_pairs(1000, 50, seed=3), sample_pairs(1000, 50, seed=4)

    # Fixed once: NumPy never changes what RandomState gives.
    assert one.left[:5].tolist() == [530, 296, 49, 227, 56]
    assert one.right[:5].tolist() == [602, 495, 127, 680, 105]
    assert one.left.tolist() != two.left.tolist()
    assert sample_pairs(1000, 20, seed=3).left.tolist() != one.left[20:40].tolist()


def test_two_models_are_compared_on_the_same_sampled_pairs(folder, run):
    found, _ = run(
        "--reference",
        "teacher.npy",
        "--candidate",
        "student.npy",
        "--samples",
        "300",
        "--format",
        "json",
    )

    drawn = sample_pairs(60, 300, seed=0)
    sides = list(zip(drawn.left.tolist(), drawn.right.tolist(), strict=True))
    teacher, student = (np.load(f"{name}.npy").astype(float) for name in ("teacher", "student"))
    wanted, given = (
        [1 - distance.cosine(table[a], table[b]) for a, b in sides] for table in (teacher, student)
    )
    row = by_name(found)["student", "Spearman(sim='cosine')", None]
    assert row["mean"] == pytest.approx(stats.spearmanr(wanted, given).statistic, rel=1e-12)
    assert row["n"] == 300
    assert found["rules"]["pairs"] == "300 of 1770"
    assert any("share items" in note for note in [each["message"] for each in found["findings"]])


def test_a_model_agrees_perfectly_with_itself_in_another_order_of_rows(folder, run):
    order = np.random.default_rng(1).permutation(60)
    ids = [f"item {row}" for row in range(60)]
    (folder / "teacher.ids.txt").write_text("\n".join(ids) + "\n")
    np.save("shuffled.npy", np.load("teacher.npy")[order])
    (folder / "shuffled.ids.txt").write_text("\n".join(ids[row] for row in order) + "\n")

    found, _ = run(
        "--reference",
        "teacher.npy",
        "--candidate",
        "shuffled.npy",
        "--intervals",
        "none",
        "--format",
        "json",
    )

    rows = {row["measure"]: row["mean"] for row in found["rows"]}
    assert rows["Spearman(sim='cosine')"] == 1.0
    assert rows["MAE(sim='cosine')"] == 0.0
    assert found["rules"]["pairs"] == "1770 of 1770"


FORMULAS = {
    "cosine": lambda a, b: 1 - distance.cosine(a, b),
    "dot": np.dot,
    "euclidean": lambda a, b: -distance.euclidean(a, b),
    "manhattan": lambda a, b: -distance.cityblock(a, b),
}


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_one_models_pairs_have_the_figures_of_the_similaritys_formula(folder, run, similarity):
    left, right = np.load("teacher.npy"), np.load("teacher.npy")[::-1]
    np.save("right.npy", right)
    (folder / "scores.txt").write_text("".join(f"{place % 7}\n" for place in range(60)))

    words = [
        "--left",
        "teacher.npy",
        "--right",
        "right.npy",
        "--scores",
        "scores.txt",
        "--metric",
        similarity,
        "-c",
        "st",
    ]
    found, _ = run(*words, "--format", "json", "--intervals", "none")

    given = [
        FORMULAS[similarity](a, b)
        for a, b in zip(left.astype(float), right.astype(float), strict=True)
    ]
    wanted = [place % 7 for place in range(60)]
    rows = {row["label"]: row["mean"] for row in found["rows"]}
    # Pair 0 with its mirror image is pair 59: exact ties, which rounding in other libraries may
    # break.
    assert rows[f"spearman_{similarity}"] == pytest.approx(
        stats.spearmanr(wanted, np.round(given, 9)).statistic, rel=1e-12
    )
    assert rows[f"pearson_{similarity}"] == pytest.approx(
        stats.pearsonr(wanted, given).statistic, rel=1e-10
    )


def test_under_st_several_similarities_have_a_largest(folder, run):
    np.save("right.npy", np.load("teacher.npy")[::-1])
    (folder / "scores.txt").write_text("".join(f"{place % 7}\n" for place in range(60)))

    words = [
        "--left",
        "teacher.npy",
        "--right",
        "right.npy",
        "--scores",
        "scores.txt",
        "--metric",
        "cosine,dot,l1",
        "-c",
        "st",
    ]
    found, _ = run(*words, "--format", "json", "--intervals", "none")

    rows = {row["label"]: row["mean"] for row in found["rows"]}
    assert rows["spearman_max"] == max(
        rows[f"spearman_{name}"] for name in ("cosine", "dot", "manhattan")
    )


def test_equal_pairs_tie_exactly_and_sides_may_change_places():
    rng = np.random.default_rng(0)
    left, right = (rng.normal(size=(1500, 33)).astype(np.float32) for _ in range(2))
    left[700], right[700] = right[3], left[3]

    for similarity in SIMILARITIES:
        found = pair_similarities(
            Embeddings(None, left), Embeddings(None, right), Pairs.aligned(1500), similarity
        )
        assert found[700] == found[3]


def test_the_folder_holds_the_figures_and_every_pair(folder, run):
    _, notes = run(
        "--reference", "teacher.npy", "--candidate", "student.npy", "--samples", "200", "-o", "out"
    )

    assert "wrote out/" in notes
    names = {path.name for path in Path("out").iterdir()}
    assert names == {
        "summary.csv",
        "summary.json",
        "per_query.parquet",
        "details.parquet",
        "queries.parquet",
        "manifest.json",
    }
    rows = duckdb.sql("SELECT run, query, score, grade FROM 'out/details.parquet'").fetchall()
    assert len(rows) == 200
    errors = duckdb.sql(
        "SELECT avg(value) FROM 'out/per_query.parquet' WHERE measure = 'MAE(sim=''cosine'')'"
    ).fetchall()[0][0]
    assert errors == pytest.approx(np.mean([abs(score - grade) for _, _, score, grade in rows]))
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert set(manifest["inputs"]) == {"teacher", "student"}
    again = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    run("--reference", "teacher.npy", "--candidate", "student.npy", "--samples", "200", "-o", "out")
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == again


def test_the_table_shows_small_p_values_below_four_decimals(folder, run):
    text, notes = run("gold.txt", "sim.npy", "--intervals", "none", "--verbose")

    expected = stats.spearmanr(np.loadtxt("gold.txt"), np.load("sim.npy")).pvalue
    assert expected < 0.0001
    assert text.count("< 0.0001") >= 1
    assert "calibrated by" in notes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give TARGETS SIMILARITIES, or --reference"),
        (["gold.txt"], "give TARGETS SIMILARITIES"),
        (["--reference", "teacher.npy"], "give --reference with --candidate"),
        (
            ["--left", "teacher.npy", "--right", "teacher.npy"],
            "give --left with --right and --scores",
        ),
        (["gold.txt", "sim.npy", "--reference", "teacher.npy"], "cannot be combined"),
        (["gold.txt", "sim.npy", "--samples", "5"], "--samples draws pairs"),
        (["gold.txt", "sim.npy", "--metric", "dot"], "--metric is for embeddings"),
        (["gold.txt", "missing.txt"], "missing.txt: no such file"),
        (["gold.txt", "short.txt"], "80 targets and 3 similarities"),
        (["gold.txt", "nan.txt"], "nan.txt:2: 'nan'; expected a finite number"),
        (["gold.txt", "nan.npy"], "nan.npy: row 4 (from 0) is nan"),
        (["gold.txt", "gap.txt"], "gap.txt:2: ''; expected a finite number"),
        (["gold.txt", "pickled.npy"], "pickled"),
        (["gold.txt", "teacher.npy"], "expected a single column of numbers"),
        (["gold.txt", "pairs.csv"], "3 columns; name one, as in pairs.csv:genre"),
        (["gold.txt", "pairs.csv:nope"], "no column 'nope'; found are 'gold', 'sim', 'genre'"),
        (["gold.txt", "pairs.csv:genre"], "row 1, column 'genre': not a finite number"),
        (["gold.txt", "sim.npy", "--group", "1"], "--group 1; 2 to 100 parts"),
        (["gold.txt", "sim.npy", "--group", "short.txt"], "3 groups for 80 pairs"),
        (["gold.txt", "sim.npy", "sim.npy"], "two files are called"),
        (
            ["--reference", "teacher.npy", "--candidate", "few.npy"],
            "teacher has 60 vectors, few has 10",
        ),
        (
            ["--reference", "teacher.npy", "--candidate", "student.npy", "--samples", "0"],
            "0 pairs; expected at least 1",
        ),
        (
            ["--reference", "teacher.npy", "--candidate", "student.npy", "--seed", "4294967296"],
            "expected an integer from 0 to 4294967295",
        ),
        (
            ["--reference", "teacher.npy", "--candidate", "student.npy", "--metric", "cosin"],
            "did you mean 'cosine'",
        ),
        (["--reference", "teacher.npy", "--candidate", "zero.npy"], "row 7: the vector is zero"),
        (
            ["--reference", "teacher.npy", "--candidate", "a=missing.npy"],
            "missing.npy: no such file",
        ),
        (
            ["--left", "teacher.npy", "--right", "student.npy", "--scores", "sixty.txt"],
            "32 dimensions on the left, 12",
        ),
        (
            ["--left", "teacher.npy", "--right", "few.npy", "--scores", "sixty.txt"],
            "10 on the right, 60 scores",
        ),
    ],
)
def test_bad_input_ends_with_2_and_one_clear_line(folder, run, arguments, message):
    (folder / "short.txt").write_text("1\n2\n3\n")
    (folder / "nan.txt").write_text("1\nnan\n3\n")
    (folder / "gap.txt").write_text("1\n\n3\n")
    (folder / "sixty.txt").write_text("1\n2\n" * 30)
    np.save("nan.npy", np.array([1, 2, 3, 4, np.nan]))
    np.save("pickled.npy", np.array([{}], dtype=object))
    np.save("few.npy", np.load("student.npy")[:10])
    zero = np.load("student.npy")
    zero[7] = 0
    np.save("zero.npy", zero)
    _, err = run(*arguments, code=2)

    assert message in err
    assert err.startswith("rankwell: ")
    assert err.count("\n") == 1


def test_ids_that_only_one_model_has_are_refused(folder, run):
    for name, first in (("teacher", "a"), ("student", "b")):
        (folder / f"{name}.ids.txt").write_text(
            "\n".join([first, *(f"i{row}" for row in range(59))]) + "\n"
        )

    _, err = run("--reference", "teacher.npy", "--candidate", "student.npy", code=2)

    assert "1 ids of teacher are not in student, first 'a'" in err


def test_a_number_that_is_not_finite_is_refused_by_its_row():
    with pytest.raises(BadScore, match=r"the similarity in row 1 \(from 0\) is inf"):
        compared([1, 2], [1, np.inf])
    with pytest.raises(
        BadScore, match=r"row 0 \(from 0\) is -1e\+308; expected finite numbers up to 1e\+150"
    ):
        compared([-1e308, 2], [1, 2])


@pytest.mark.parametrize(
    ("n", "expected"), [(10, 10_000), (2_000, 10_000), (10_000, 2_000), (1_000_000, 1_000)]
)
def test_many_pairs_get_fewer_resamples(n, expected):
    assert resamples_of(n) == expected


@pytest.fixture
def classes(folder):
    rng = np.random.default_rng(2)
    labels = (rng.random(80) < 0.4).astype(int)
    (folder / "classes.txt").write_text("".join(f"{label}\n" for label in labels.tolist()))
    np.save(folder / "found.npy", np.round(labels + rng.normal(size=80), 1))
    return labels


def test_targets_of_0_and_1_have_the_figures_of_classes(classes, run):
    metrics = pytest.importorskip("sklearn.metrics")
    found, _ = run("classes.txt", "found.npy", "--format", "json")

    rows = {row["measure"]: row for row in found["rows"]}
    scores, threshold = np.load("found.npy"), rows["Threshold"]["mean"]
    every = [metrics.f1_score(classes, scores >= each) for each in scores]
    assert rows["F1"]["mean"] == pytest.approx(max(every), rel=1e-12)
    assert rows["F1"]["mean"] == pytest.approx(
        metrics.f1_score(classes, scores >= threshold), rel=1e-12
    )
    assert threshold not in scores
    assert rows["AP"]["mean"] == pytest.approx(
        metrics.average_precision_score(classes, scores), rel=1e-12
    )
    assert rows["MCC"]["mean"] == pytest.approx(
        metrics.matthews_corrcoef(classes, scores >= threshold), rel=1e-12
    )
    assert all(
        rows[name]["ci_low"] < rows[name]["mean"] < rows[name]["ci_high"] for name in ("AP", "MCC")
    )
    assert rows["F1"]["ci_low"] < rows["F1"]["mean"]
    assert set(found["rules"]["measures"]) >= {"AP", "F1", "Threshold", "MCC"}


@pytest.mark.usefixtures("classes")
def test_a_constant_prediction_is_noted_with_its_mcc(folder, run):
    np.save(folder / "turned.npy", -np.load(folder / "found.npy"))
    noted = "puts every pair in class 1: a constant prediction has no correlation, and its MCC is 0"

    found, _ = run("classes.txt", "turned.npy", "--format", "json")
    right, _ = run("classes.txt", "found.npy", "--format", "json")

    assert {row["measure"]: row["mean"] for row in found["rows"]}["MCC"] == 0
    assert noted in " ".join([each["message"] for each in found["findings"]])
    assert noted not in " ".join([each["message"] for each in right["findings"]])


def test_under_st_classes_have_the_words_and_distances_of_its_evaluator(folder, classes, run):
    from rankwell.compat.sentence_transformers import BinaryClassificationEvaluator

    pytest.importorskip("sentence_transformers")
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, 80, 5)).astype(np.float32)
    np.save("one.npy", one)
    np.save("two.npy", two)

    class Table:
        @staticmethod
        def encode(rows, **_):
            return np.array([(one if side == "a" else two)[row] for side, row in rows])

    sides = [[(side, row) for row in range(80)] for side in "ab"]
    names = list(SIMILARITIES)
    expected = BinaryClassificationEvaluator(*sides, classes.tolist(), similarity_fn_names=names)(
        Table()
    )

    words = [
        "--left",
        "one.npy",
        "--right",
        "two.npy",
        "--scores",
        "classes.txt",
        "--metric",
        ",".join(names),
        "-c",
        "st",
    ]
    found, _ = run(*words, "--format", "json", "--intervals", "none")

    rows = {row["label"]: row["mean"] for row in found["rows"]}
    for name in names:
        for word in ("ap", "f1", "f1_threshold", "mcc"):
            assert rows[f"{name}_{word}"] == pytest.approx(
                expected[f"{name}_{word}"], rel=1e-5, abs=1e-6
            )


def test_targets_of_one_class_have_no_classes(folder, run):
    (folder / "ones.txt").write_text("1\n" * 80)

    found, _ = run("ones.txt", "sim.npy", "--format", "json")

    assert "AP" not in {row["measure"] for row in found["rows"]}


def test_a_smaller_error_is_better_in_verdicts_and_thresholds_are_never_tested(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(4)
    targets = draw.integers(0, 2, 80)
    for name, noise in (("near", 0.1), ("far", 2.0)):
        (tmp_path / f"{name}.txt").write_text(
            "".join(f"{value:.4f}\n" for value in targets + draw.normal(0, noise, 80))
        )
    (tmp_path / "targets.txt").write_text("".join(f"{value}\n" for value in targets))

    for line in ("pairs targets.txt near.txt far.txt -o out", "compare out"):
        monkeypatch.setattr("sys.argv", ["rankwell", *line.split()])
        assert cli.main() == 0
    said = capsys.readouterr()

    assert re.search(r"(?m)^far is worse: \+1\.498 MAE \(95% CI 1\.193 to 1\.835, p", said.out)
    assert re.search(
        r"(?m)^MAE +0\.074 +1\.572 +\+1\.498 \[1\.193, 1\.835\] +< 0\.0001 +4/0/76$", said.out
    )
    assert "does not say which values are better" not in said.err
    better = {
        name: each["better"]
        for name, each in json.loads(Path("out/manifest.json").read_text())["rules"][
            "measures"
        ].items()
    }
    assert (better["MAE"], better["MSE"], better["Spearman"], better["Threshold"]) == (
        "lower",
        "lower",
        "higher",
        "neither",
    )


def test_a_folder_of_other_files_is_refused_before_any_input_is_read(folder, run):
    (folder / "out").mkdir()
    (folder / "out" / "notes.txt").write_text("mine")

    _, err = run("missing.txt", "sim.npy", "-o", "out", code=2)

    assert "out holds files, and no results of rankwell (notes.txt)" in err
