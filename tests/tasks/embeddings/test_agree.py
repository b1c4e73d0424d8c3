"""Agreement with a reference model, held to the source's own algorithm written naively: full
matrices, argsort and sets.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankwell
from make import own_convention
from rankwell import ranking_pairs
from rankwell.conventions import CONVENTIONS
from rankwell.data.matrices import Embeddings
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.tasks.embeddings.evaluation import plan_measures
from rankwell.vectors.neighbours import BACKENDS

KS = (1, 3, 5, 10)


def vectors(seed, n=120, d=24, topics=6, noise=0.7):
    shared = np.random.default_rng(0).normal(size=(n, topics))
    random = np.random.default_rng(seed)
    return (shared @ random.normal(size=(topics, d)) + noise * random.normal(size=(n, d))).astype(
        np.float32
    )


def command(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "rankwell", "embeddings", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
    )


def neighbours(table):
    wide = table.astype(np.float64)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    similarity = wide @ wide.T
    np.fill_diagonal(similarity, -np.inf)
    return np.argsort(similarity, axis=1)[:, ::-1]


def naive(reference, candidate, queries, k):
    """Word -> values, as the source computes them for one model and cut-off."""
    truth, found = neighbours(reference), neighbours(candidate)
    values = {"Recall": [], "NDCG": [], "MRR": [], "MAP": []}
    for query in queries:
        relevant, listed = set(truth[query][:k].tolist()), found[query][:k].tolist()
        hits = [item in relevant for item in listed]
        places = [place for place, hit in enumerate(hits, 1) if hit]
        values["Recall"].append(len(places) / k)
        ideal = sum(1 / math.log2(place + 1) for place in range(1, k + 1))
        values["NDCG"].append(sum(1 / math.log2(place + 1) for place in places) / ideal)
        values["MRR"].append(1 / places[0] if places else 0.0)
        values["MAP"].append(
            sum(number / place for number, place in enumerate(places, 1)) / len(places)
            if places
            else 0.0
        )
    return values


@pytest.fixture
def folder(tmp_path):
    for name, seed in (("ada", 1), ("minilm", 2), ("tuned", 3)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "holdout_embeddings.npy", vectors(seed))
    return tmp_path


def test_the_source_written_naively_gives_the_same_values_for_the_same_queries():
    reference, models = vectors(1), {"minilm": vectors(2), "tuned": vectors(3)}

    found = rankwell.evaluate_embeddings(
        reference, models, samples=50, convention="scholar-stream", intervals="none"
    )

    np.random.seed(42)
    drawn = np.random.choice(120, 50, replace=False)
    values = {(each.run, each.label): each for each in found.values}
    assert len(values) == 2 * 4 * 4
    for name, model in models.items():
        for k in KS:
            for word, expected in naive(reference, model, drawn, k).items():
                each = values[name, f"{word}@{k}"]
                assert each.queries == tuple(map(str, drawn))
                np.testing.assert_allclose(each.values, expected, rtol=0, atol=1e-12)
    for row in found.summary:
        expected = naive(reference, models[row["run"]], drawn, row["k"])[row["label"].split("@")[0]]
        assert row["mean"] == pytest.approx(np.mean(expected), abs=1e-12)
        assert row["sd"] == pytest.approx(np.std(expected), abs=1e-12)


def test_the_worked_examples_of_the_source_hold_for_two_lists_of_ids():
    def value(word, reference, candidate, depth):
        view = ranking_pairs(reference, candidate, n_candidates=200)
        (plan,) = plan_measures([word], [5], CONVENTIONS["scholar-stream"].words, depth)
        return plan.measure(view.judged(depth))[0]

    assert value("Recall@5", [7, 23, 156, 89, 42], [7, 89, 12, 23, 99], 5) == pytest.approx(0.6)
    dcg, ideal = 1 + 1 / math.log2(4) + 1 / math.log2(5), 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert value("NDCG@5", [7, 23, 156], [7, 99, 23, 156, 12], 3) == pytest.approx(dcg / ideal)
    assert dcg / ideal == pytest.approx(0.906, abs=5e-4)
    assert value("MRR@5", [7, 23, 156, 89, 42], [99, 7, 23], 5) == 0.5
    assert value("MAP@5", [7, 23, 156, 89, 42], [7, 99, 23, 156, 12], 5) == pytest.approx(
        (1 + 2 / 3 + 3 / 4) / 3
    )


def test_no_query_is_its_own_neighbour_among_duplicated_vectors():
    reference, candidate = vectors(1, 200), vectors(2, 200)
    for table in (reference, candidate):
        table[180:] = table[:20]

    found = rankwell.evaluate_embeddings(
        reference, [candidate], samples="all", k=10, intervals="none"
    )

    for pairs in found.pairs.values():
        for side in (pairs.reference, pairs.candidate):
            assert not (side.items == side.query_of_row).any()
            assert len(side.items) >= 200 * 10


def test_ranks_and_measures_under_duplicates_are_those_of_a_stable_sort():
    reference, candidate = vectors(1, 60), vectors(2, 60)
    for table in (reference, candidate):
        table[40:] = table[:20]

    found = rankwell.evaluate_embeddings(
        reference, {"c": candidate}, samples="all", k=(1, 5), intervals="none", measures="all"
    )

    exact = []
    for table in (reference, candidate):
        wide = table.astype(np.float64)
        ranks = np.zeros((60, 60), dtype=int)
        for query in range(60):
            scores = np.round(
                wide @ wide[query] / np.linalg.norm(wide, axis=1) / np.linalg.norm(wide[query]), 12
            )
            order = [item for item in np.argsort(-scores, kind="stable").tolist() if item != query]
            ranks[query, order] = np.arange(1, 60)
        exact.append(ranks)
    pairs = found.pairs["c"]
    for side, other in ((pairs.reference, exact[1]), (pairs.candidate, exact[0])):
        known = side.within(5)
        expected = other[side.query_of_row, side.items]
        np.testing.assert_array_equal(side.other_ranks[known], expected[known])
    values = {each.measure: each.values for each in found.values}
    first = [int(np.flatnonzero(exact[0][query] == 1)[0]) for query in range(60)]
    np.testing.assert_array_equal(values["MnR_first"], exact[1][np.arange(60), first])
    for query in range(60):
        top = [np.flatnonzero((ranks[query] >= 1) & (ranks[query] <= 5)) for ranks in exact]
        excess = sum(exact[0][query, item] - 5 for item in top[1] if exact[0][query, item] > 5)
        assert values["Trustworthiness@5"][query] == pytest.approx(
            1 - 2 * excess / (5 * (2 * 60 - 15 - 1))
        )
        assert values["Overlap@5"][query] == len(set(top[0]) & set(top[1])) / 5


@pytest.mark.parametrize("block", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_block_sizes_leave_the_same_bytes(block, monkeypatch):
    reference, candidate = vectors(1, 90), vectors(2, 90)
    candidate[80:] = candidate[:10]
    tables = []
    for size in (1000, block):
        backend = BACKENDS["numpy"]
        monkeypatch.setitem(BACKENDS._entries, "numpy", backend.__class__(backend.open, size, size))

        found = rankwell.evaluate_embeddings(
            reference, [candidate], samples=30, intervals="none", spectrum=False
        )

        tables.append([(each.measure, each.values.tobytes()) for each in found.values])
    assert tables[0] == tables[1]


def test_rows_are_matched_by_id():
    ids = [f"paper{row}" for row in range(120)]
    order = np.random.default_rng(5).permutation(120)
    reference, candidate = vectors(1), vectors(2)
    shuffled = Embeddings([ids[row] for row in order], candidate[order])

    found = [
        rankwell.evaluate_embeddings(
            Embeddings(ids, reference), {"c": each}, samples=40, intervals="none", spectrum=False
        )
        for each in (Embeddings(ids, candidate), shuffled)
    ]

    assert found[0].values[0].queries[0].startswith("paper")
    for one, other in zip(found[0].values, found[1].values, strict=True):
        assert (one.measure, one.queries) == (other.measure, other.queries)
        np.testing.assert_array_equal(one.values, other.values)


def test_the_console_table_is_the_sources_and_the_folder_has_its_files(folder):
    done = command(
        *(
            "--reference",
            "ada/holdout_embeddings.npy",
            "minilm/holdout_embeddings.npy",
            "tuned/holdout_embeddings.npy",
        ),
        *(
            "--samples",
            60,
            "--convention",
            "scholar-stream",
            "-k",
            1,
            3,
            5,
            10,
            "-o",
            "results/ada_eval",
        ),
        cwd=folder,
    )

    assert done.returncode == 0, done.stderr
    np.random.seed(42)
    drawn = np.random.choice(120, 60, replace=False)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["EVALUATION RESULTS (vs ada as Ground Truth)", "=" * 70]
    for seed, name in ((2, "minilm"), (3, "tuned")):
        at = lines.index(f"{name}:")
        assert lines[at + 1] == f"  {'k':<6} {'Recall':<15} {'NDCG':<15} {'MRR':<15} {'MAP':<15}"
        assert lines[at + 2] == f"  {'-' * 6} {'-' * 15} {'-' * 15} {'-' * 15} {'-' * 15}"
        saved = (folder / f"results/ada_eval/{name}_results.csv").read_text().splitlines()
        assert (
            saved[0]
            == "k,recall_mean,recall_std,ndcg_mean,ndcg_std,mrr_mean,mrr_std,map_mean,map_std"
        )
        for row, k in enumerate(KS):
            figures = [
                f(values)
                for values in naive(vectors(1), vectors(seed), drawn, k).values()
                for f in (np.mean, np.std)
            ]
            shown = [
                f"{mean:.3f}±{sd:.3f}" for mean, sd in zip(figures[::2], figures[1::2], strict=True)
            ]
            assert lines[at + 3 + row] == f"  {k:<6} {'    '.join(shown)}"
            assert [float(cell) for cell in saved[row + 1].split(",")] == pytest.approx(
                [k, *figures], abs=1e-12
            )
    assert "± is the population standard deviation over 60 queries" in lines
    assert (folder / "results/ada_eval/metrics_vs_k.png").read_bytes()[:4] == b"\x89PNG"
    manifest = json.loads((folder / "results/ada_eval/manifest.json").read_text())
    assert manifest["rules"]["gold_depth"] == "k"
    assert set(manifest["inputs"]) == {"ada", "minilm", "tuned"}


def test_a_change_without_an_interval_says_why():
    reference, other = vectors(1), vectors(2, noise=4.0)

    found = rankwell.evaluate_embeddings(
        reference, {"far": other, "same": reference}, k=1, measures="Overlap", samples=40
    )

    (row,) = found.changes
    assert row["mean"] > 1
    assert row["ci_low"] is None
    assert any(
        note.startswith("no interval, because the mean of far is 0 or less in a resample")
        for note in found.findings
    )


def test_the_residual_of_rbo_is_neither_good_nor_bad():
    found = rankwell.evaluate_embeddings(
        vectors(1), {"a": vectors(2), "b": vectors(3, noise=0.3)}, k=5, measures="all"
    )

    compared = found.compare()

    assert (
        "RBO(kind='res')@5: neither higher nor lower values are better; not tested"
        in compared.findings
    )
    assert not any("kind='res'" in text for text in compared.verdicts)
    assert not any("does not say which values are better" in note for note in compared.findings)


def test_the_relative_change_is_the_ratio_of_means_less_one_with_an_interval_that_holds_it(folder):
    found = rankwell.evaluate_embeddings(
        vectors(1), {"a": vectors(2), "b": vectors(3, noise=0.3)}, convention="scholar-stream"
    )

    means = {(row["run"], row["label"]): row["mean"] for row in found.summary}
    assert len(found.changes) == 16
    for row in found.changes:
        label = row["label"].removeprefix("Change(").removesuffix(")")
        assert row["mean"] == pytest.approx(means["b", label] / means["a", label] - 1)
        assert row["ci_low"] < row["mean"] < row["ci_high"]
        assert row["against"] == "a"
    same = rankwell.evaluate_embeddings(
        vectors(1), {"a": vectors(2), "b": vectors(2)}, convention="scholar-stream"
    )
    assert {(row["mean"], row["ci_low"], row["ci_high"]) for row in same.changes} == {
        (0.0, 0.0, 0.0)
    }


def test_the_gold_depth_counts_relevant_items_and_leaves_overlap_alone():
    reference, candidate = vectors(1), vectors(2)
    order = [neighbours(reference), neighbours(candidate)]

    found = rankwell.evaluate_embeddings(
        reference,
        candidate,
        ["P", "Overlap"],
        k=3,
        convention=own_convention("rankwell", "embeddings", gold_depth=8),
        samples="all",
        intervals="none",
    )

    values = {each.measure: each.values for each in found.values}
    for query in range(120):
        listed = order[1][query][:3].tolist()
        assert values["P@3"][query] == pytest.approx(
            len(set(listed) & set(order[0][query][:8].tolist())) / 3
        )
        assert values["Overlap@3"][query] == pytest.approx(
            len(set(listed) & set(order[0][query][:3].tolist())) / 3
        )
    chance = {row["measure"]: row["chance"] for row in found.summary}
    assert chance["P@3"] == pytest.approx(8 / 119)
    assert chance["Overlap@3"] == pytest.approx(3 / 119)


def test_items_with_the_label_of_the_query_are_not_neighbours():
    labels = [f"author{row % 10}" if row % 3 else None for row in range(120)]

    found = rankwell.evaluate_embeddings(
        vectors(1), vectors(2), k=5, samples="all", exclude_group=labels, intervals="none"
    )

    side = found.pairs["candidate"].candidate
    pairs = list(zip(side.query_of_row.tolist(), side.items.tolist(), strict=True))
    assert not any(
        labels[query] == labels[item] for query, item in pairs if labels[query] is not None
    )
    n = [119 if label is None else 120 - labels.count(label) for label in labels]
    assert found.pairs["candidate"].n_candidates.tolist() == n


def test_the_ceiling_is_the_reference_with_itself_in_half_precision():
    found = rankwell.evaluate_embeddings(
        vectors(1), vectors(2), k=(1, 5), ceiling=True, intervals="none"
    )

    means = {row["run"]: row["mean"] for row in found.summary if row["measure"] == "Overlap@5"}
    assert means["reference (float16)"] > 0.95 > means["candidate"]
    assert found.changes == []


def test_labels_judge_the_reference_beside_the_candidates():
    reference, candidate = vectors(1), vectors(2)
    order = {"reference": neighbours(reference), "candidate": neighbours(candidate)}
    labels = {
        str(query): {str((query + step) % 120): 1 for step in (0, 6, 12)}
        for query in range(0, 120, 2)
    }

    found = rankwell.evaluate_embeddings(
        reference, candidate, k=(3,), samples="all", qrels=labels, intervals="none"
    )

    values = {(each.run, each.label): each.values for each in found.values}
    for run, ranked in order.items():
        ours = values[run, "P@3 (labels)"]
        for query in range(120):
            if query % 2:
                assert math.isnan(ours[query])
            else:
                hits = sum(str(item) in labels[str(query)] for item in ranked[query][:3].tolist())
                assert ours[query] == pytest.approx(hits / 3)
    with pytest.raises(NothingToEvaluate, match="none of them among"):
        rankwell.evaluate_embeddings(reference, candidate, k=(3,), qrels={"elsewhere": {"1": 1}})


def test_the_result_says_by_which_rules_it_holds():
    found = rankwell.evaluate_embeddings(
        vectors(1), {"c": vectors(2)}, samples=30, seed=7, metric="l2", measures="all"
    )

    rules = found.describe()
    expected = {
        "queries": "30 of 120",
        "seed": 7,
        "gold_depth": 10,
        "metric": "l2",
        "candidates": 119,
        "exclude": "self",
    }
    assert {name: rules[name] for name in expected} == expected
    assert rules["panel"][0]["effective_rank"] > 1
    assert {row["measure"] for row in found.summary} <= set(rules["measures"])
    names = {row["measure"] for row in found.summary if row["run"] == "c"}
    assert {
        "Overlap@10",
        "CKA",
        "CKA(kind='debiased')",
        "Hubness@10",
        "RBO(kind='res')@10",
        "MedR_first",
    } <= names
    assert {
        "EpsRecall(eps=0.005)@5",
        "nDCG(gains='similarity')@3",
        "SpearmanUnion@10",
        "Continuity@5",
    } <= names
    assert len(list(found.per_query())) == 30 * len(found.values)


def test_names_are_stems_or_parent_folders_or_as_given(folder):
    files = [folder / name / "holdout_embeddings.npy" for name in ("ada", "minilm", "tuned")]
    found = rankwell.evaluate_embeddings(files[0], files[1:], k=3, intervals="none")
    assert (found.reference, found.candidates) == ("ada", ("minilm", "tuned"))
    found = rankwell.evaluate_embeddings(files[0], [f"small={files[1]}"], k=3, intervals="none")
    assert (found.reference, found.candidates) == ("ada", ("small",))
    found = rankwell.evaluate_embeddings(
        f"big={files[0]}", [f"small={files[1]}"], k=3, intervals="none"
    )
    assert (found.reference, found.candidates) == ("big", ("small",))
    with pytest.raises(BadUsage, match="called 'x'"):
        rankwell.evaluate_embeddings(f"x={files[0]}", [f"x={files[1]}"], k=3)


def bad_files(folder):
    """What is wrong -> arguments behind --reference, and what the one line says of it."""
    good = folder / "ada/holdout_embeddings.npy"
    table = vectors(2)

    def saved(name, content):
        np.save(folder / name, content)
        return folder / name

    holes, zero = table.copy(), table.copy()
    holes[7, 3], zero[9] = np.nan, 0
    short = folder / "short.npy"
    short.write_bytes(good.read_bytes()[:-400])
    pickled = folder / "pickled.npy"
    np.save(pickled, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (folder / "few.txt").write_text("".join(f"{row}\n" for row in range(119)))
    with_ids, other_ids = folder / "a.npz", folder / "b.npz"
    np.savez(with_ids, vectors=table, ids=np.array([f"p{row}" for row in range(120)]))
    np.savez(other_ids, vectors=table, ids=np.array([f"p{row + 1}" for row in range(120)]))
    return {
        "row counts": ([good, saved("fewer.npy", table[:100])], "120 vectors, fewer has 100"),
        "unknown ids": ([with_ids, other_ids], "ids of a are not in b, first 'p0'"),
        "number of ids": (
            [good, saved("fine.npy", table), "--item-ids", folder / "few.txt"],
            "119 ids for 120 vectors",
        ),
        "nan": ([good, saved("holes.npy", holes)], "holes: row 7, column 3: nan"),
        "zero": ([good, saved("zero.npy", zero)], "zero: 1 vector is zero, the first in row 9"),
        "dtype": ([good, saved("text.npy", np.full((120, 4), "x"))], "text.npy"),
        "pickled": ([good, pickled], "pickled"),
        "truncated": ([good, short], "short.npy: the file ends early"),
        "duplicate names": ([f"x={good}", f"x={saved('fine.npy', table)}"], "called 'x'"),
        "k": (
            [good, saved("fine.npy", table), "-k", "1,120"],
            "k is 120, but 120 vectors leave 119",
        ),
        "k is no number": ([good, saved("fine.npy", table), "-k", "ten"], "-k is 'ten'"),
        "missing": ([good, folder / "nowhere.npy"], "nowhere.npy: no such file"),
        "no candidate": ([good], "at least one candidate"),
        "labels": (
            [good, saved("fine.npy", table), "--exclude-group", folder / "few.txt"],
            "119 labels",
        ),
        "convention": ([good, saved("fine.npy", table), "-c", "scholar"], "scholar-stream"),
    }


@pytest.mark.parametrize("what", ["row counts", "unknown ids", "number of ids", "nan", "zero"])
def test_bad_input_ends_with_one_clear_line(what, folder):
    arguments, expected = bad_files(folder)[what]

    done = command("--reference", *arguments)

    assert done.returncode == 2
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_every_other_bad_input_is_refused_by_name(folder):
    for what, (arguments, expected) in bad_files(folder).items():
        if what in ("k is no number", "no candidate"):
            continue
        options = {
            "--item-ids": "item_ids",
            "-k": "k",
            "--exclude-group": "exclude_group",
            "-c": "convention",
        }
        places = [str(each) for each in arguments[:2]]
        given = {options[arguments[2]]: str(arguments[3])} if len(arguments) > 2 else {}
        if "k" in given:
            given["k"] = [int(each) for each in given["k"].split(",")]

        with pytest.raises((BadInput, BadUsage)) as caught:
            rankwell.evaluate_embeddings(places[0], places[1:], **given)

        assert expected in str(caught.value), what
        assert "\n" not in str(caught.value)


def test_cutoffs_that_are_not_numbers_and_a_missing_candidate_exit_with_2(folder):
    for what in ("k is no number", "no candidate", "pickled", "truncated"):
        arguments, expected = bad_files(folder)[what]

        done = command("--reference", *arguments)

        assert done.returncode == 2
        assert expected in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_every_format_holds_the_changes_and_per_query_rows(folder):
    files = [f"{name}/holdout_embeddings.npy" for name in ("minilm", "tuned")]
    arguments = [
        "--reference",
        "ada/holdout_embeddings.npy",
        *files,
        "--samples",
        20,
        "-k",
        "3",
        "-m",
        "Overlap",
        "-m",
        "RBO",
    ]

    whole = json.loads(command(*arguments, "-f", "json", "--per-query", cwd=folder).stdout)
    table = command(*arguments, "--verbose", cwd=folder).stdout
    csv = command(*arguments, "-f", "csv", cwd=folder).stdout

    assert [row["measure"] for row in whole["rows"]][-2:] == ["Change(Overlap@3)", "Change(RBO@3)"]
    assert len([row for row in whole["per_query"] if row["measure"] == "Overlap@3"]) == 40
    assert "Change(Overlap@3)" in table
    assert "rules: " in table
    assert csv.splitlines()[0].startswith(
        "run,measure,label,mean,sd,ci_low,ci_high,n,unit,k,chance"
    )


def test_a_folder_holds_what_a_comparison_needs(folder):
    duckdb = pytest.importorskip("duckdb")
    place = folder / "out"
    done = command(
        *(
            "--reference",
            "ada/holdout_embeddings.npy",
            "minilm/holdout_embeddings.npy",
            "--samples",
            20,
            "-o",
            place,
        ),
        cwd=folder,
    )

    assert done.returncode == 0, done.stderr
    rows = duckdb.sql(f"select * from '{place / 'details.parquet'}'").fetchall()
    assert {row[0] for row in rows} == {"minilm"}
    assert len([row for row in rows if row[3] is not None and row[3] <= 10]) == 200
    assert len(duckdb.sql(f"select * from '{place / 'queries.parquet'}'").fetchall()) == 20
    assert {path.name for path in Path(place).iterdir()} >= {
        "summary.csv",
        "per_query.parquet",
        "manifest.json",
        "metrics_vs_k.svg",
    }


def test_a_relative_change_is_resampled_as_numpy_would_with_the_same_queries_for_both():
    from rankwell._native.resamples import over_resamples
    from rankwell.stats.paired_bootstrap import relative_changes

    random = np.random.default_rng(3)
    first, other = random.random(40), random.random(40)
    first[5] = other[7] = np.nan
    both = ~(np.isnan(first) | np.isnan(other))

    (change,) = relative_changes([(first, other)], seed=9, resamples=500)

    counts = np.concatenate(over_resamples(38, 500, np.copy, seed=9)).astype(int)
    drawn = np.array([np.repeat(np.arange(38), row) for row in counts])
    ratios = other[both][drawn].mean(axis=1) / first[both][drawn].mean(axis=1) - 1
    assert change.n == 38
    assert change.value == pytest.approx(other[both].mean() / first[both].mean() - 1)
    assert change.interval == pytest.approx(tuple(np.quantile(ratios, [0.025, 0.975])), rel=1e-9)
    (undefined,) = relative_changes([(np.zeros(20), np.ones(20))])
    assert undefined == (None, None, 20)


def test_labels_leave_the_sources_own_figures_alone(folder):
    (folder / "qrels.txt").write_text(
        "".join(f"{row} 0 {(row + 6) % 120} 1\n" for row in range(120))
    )
    arguments = [
        "--reference",
        "ada/holdout_embeddings.npy",
        "minilm/holdout_embeddings.npy",
        "-c",
        "scholar-stream",
    ]
    arguments += ["--samples", "all", "--intervals", "none"]

    plain = command(*arguments, "-o", "plain", cwd=folder)
    judged = command(*arguments, "-o", "judged", "--qrels", "qrels.txt", cwd=folder)

    assert judged.returncode == 0, judged.stderr
    files = [folder / place / "minilm_results.csv" for place in ("plain", "judged")]
    assert files[0].read_bytes() == files[1].read_bytes()
    cells = [
        next(line for line in done.stdout.splitlines() if line.startswith("  10 ")).split()
        for done in (plain, judged)
    ]
    assert cells[1][:5] == cells[0]
    assert "Recall (labels)" in judged.stdout
    assert "\nada:\n" in judged.stdout


def test_a_convention_about_judgments_is_refused():
    with pytest.raises(BadUsage, match="rankwell and scholar-stream"):
        rankwell.evaluate_embeddings(vectors(1), vectors(2), convention="beir")


def test_two_lists_of_ids_are_compared_in_the_words_of_the_source():
    assert rankwell.compare_lists([7, 23, 156, 89, 42], [7, 89, 12, 23, 99], "Recall@5") == 0.6
    assert rankwell.compare_lists([7, 23, 156, 89, 42], [99, 7, 23], "MRR@5") == 0.5
    assert rankwell.compare_lists([1, 2], [2, 1], "Overlap@2") == 1.0


def test_a_measure_says_which_view_it_reads():
    with pytest.raises(
        BadUsage, match=r"RR reads JudgedRankings, this is RankingPairs; `.judged\(gold_depth\)`"
    ):
        rankwell.parse_measure("RR")(rankwell.ranking_pairs([1], [2]))


def test_judged_items_without_embedding_are_noted(tmp_path):
    (tmp_path / "qrels.txt").write_text("3 0 5 1\n3 0 nowhere 1\n")
    found = rankwell.evaluate_embeddings(
        vectors(1), vectors(2), k=3, samples="all", qrels=tmp_path / "qrels.txt", intervals="none"
    )

    assert any(
        "qrels.txt: 1 judged item is not in the collection, such as 'nowhere'" in finding
        for finding in found.findings
    )


def test_runs_have_no_column_of_chance_levels():
    run = {"q": {"a": 2.0, "b": 1.0}}

    result = rankwell.evaluate_embeddings(run, {"other": run}, k=2)

    assert "chance" not in str(result)
    assert all("chance" not in row for row in result.summary)
