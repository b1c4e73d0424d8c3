"""Findings: every kind with an example, what resolves it, and what stops a command."""

import json
import pickle
from pathlib import Path

import pytest

import rankwell as rw
from rankwell.cli import main
from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.findings import FINDINGS, LEVELS, Finding, by_level, ignoring, settled, unignored
from rankwell.data.options import arguments_of
from rankwell.errors import BadInput, BadUsage, UnknownName, at_the_command_line
from rankwell.reporting import plain, render_rows

EXAMPLES = {
    "another-format-possible": ("a.csv", "csv", ["tsv"]),
    "attributes-differ": ("'x (a)'", ["x"]),
    "bounds-not-listed": (2, "name fewer"),
    "chunks-of-one-document": (["q1"], "a.jsonl"),
    "close-values": (12, 20.0, "mine P@1"),
    "compared-by-mean": ("AP", ": the reason"),
    "copy-of-another-run": ("mine", "yours"),
    "difference-unjudged": ("a and b", ["P@1 0 to 1"]),
    "different-inputs": ("a", "b", "judgments"),
    "different-rules": ("ties is x in a and y in b",),
    "direction-assumed": ("cost", "lower"),
    "distance-as-score": ("distance", "a.csv"),
    "doubtful-columns": ("'rank' is read as the rank", "a.csv"),
    "equal-differences": (["P@1"], "a and b", "no query differs"),
    "equal-scores": ("mine",),
    "equal-values": ("every query has the same value", "mine P@1"),
    "few-effective-rows": ("mine", 100, 4.0, 20.0),
    "few-queries": (10, "2", "counted queries", "mine P@1"),
    "fused-from-some": (3, "a 1"),
    "fusion-not-better": ("fused", "best", "AP", ["0.1", "0.2"]),
    "grades-alike": ("ndcg@10", 1.0, 2.0, "a leads; b leads", "nDCG@10"),
    "item-ids-in-another-notation": ("mine", 3, 4, "folders in front of ids", "an example", 0),
    "item-ids-in-two-notations": ("mine", "3", True, "suffixes of chunks", "an example", ""),
    "item-that-stands-for-none": ("-1", 1),
    "items-ungrouped": (1, 3, "i1", ["AWRF"]),
    "items-unseen": ("mine", 1, 3, "i1"),
    "judgments-and-run-swapped": (0.5, "mine", "0, 1"),
    "long-tail": ("mine p95",),
    "mean-weight-off": ("mine", 2.0),
    "measured-twice": ("AP", "RR"),
    "measures-of-some-runs": (1, "AP of 'a'"),
    "min-grade-not-used": (["nDCG@10"], "nDCG(rel=2)@10"),
    "model-unused": ("reward_model is unused",),
    "most-judged-queries-missing": ("mine", ["q1", "q2"], 3, "count as 0", ""),
    "negative-scores": ("some scores are below 0",),
    "only-relevant-items-judged": (),
    "no-abstention-figures": ("nAUC", "RR", "the reason"),
    "no-ceiling": ("mine", ["AP"], "the reason"),
    "no-column-of-grades": (["x", "y"], "a.csv"),
    "no-deviation": ("mine P@1",),
    "no-judged-item": ("mine", "d1", "D1"),
    "no-t-interval": ("mine MedR",),
    "not-compared": ("not compared: the reason",),
    "nothing-in-common": ("mine",),
    "nothing-relevant": (1.0, 0.5),
    "own-items-judged": (1, ["q1"]),
    "policy-incomplete": ("mine", "the probabilities add up to less than 1"),
    "positions-differ": (),
    "grades-as-binary": (["AP"], 1.0, 3.0, 1.0),
    "lists-shorter-than-cutoff": ("mine", 5, 30, ["R@100"]),
    "not-above-chance": ("mine", ["nDCG@5"]),
    "items-listed-twice": ("mine", ["q1", "q2"]),
    "judged-items-missing": ("corpus.jsonl", 1, "d1"),
    "queries-retrieve-themselves": ("mine", ["q1"]),
    "queries-without-relevant": (["q1"],),
    "ranks-contradict-scores": ("mine", ["q1"]),
    "rounds-interrupted": ("mine", 1, 2),
    "rows-of-users": ("log.csv", 300, "rows", 50, "user_id", "--columns query=user_id"),
    "run-not-evaluated": ("mine: no query to evaluate",),
    "so-on-every-query": ("every query is unjudged",),
    "some-query-ids-in-two-notations": ("mine", ["q1"], 3, "differences of case", "an example", ""),
    "values-depend-on-ties": ("mine", ["AP"], ["q1", "q2"]),
    "queries-and-items-swapped": ("mine", "the queries of the run are items of the judgments"),
    "queries-fused-unjudged": (1,),
    "queries-missing": ("mine", ["q1"], ("query", "queries")),
    "queries-of-one-run": (["AP"], 1, "a", "b", "query"),
    "queries-unknown": ("mine", ["q9", "q8"], ("query", "queries"), "relevance judgments"),
    "query-ids-in-two-notations": ("mine", ["q1"], 2, "leading zeros", "an example", ""),
    "ranks-and-scores-swapped": ("mine", 3.0, 1.0),
    "ranks-in-a-matrix": ("s.npy", 1),
    "ranks-in-place-of-scores": ("mine",),
    "reading-choice": ("judgments: a/qrels.txt", ""),
    "relevant-items-last": ("mine", 90.0, 12),
    "rising-scores": ("mine", "all 3 lists", 30),
    "rounded-scores": ("mine", 1),
    "second-judgments-missing": (1, 2),
    "session-queries-unjudged": (1, ["q1"]),
    "sessions-unjudged": (1,),
    "small-groups": ("length (n = 3)", 50, "queries"),
    "small-sample": (14, "queries", "held the true mean", "mine P@1"),
    "some-item-ids-in-two-notations": ("mine", "1", False, "leading zeros", "an example", ""),
    "tested-against-first": ("a", 10),
    "texts-missing": (1, 2, "judged queries", "q1", "texts.tsv"),
    "ties-in-input-order": ("ERR", "tied items keep the order of the input."),
    "undefined-values": ("mine", "AP", 1, 2, ["q1"]),
    "unjudged-in-top": ("mine", "P@1 is between 0.1 and 0.2", ["q1"]),
    "values-of-sessions": (1, 3),
    "aggregates-left-out": (["rsum"],),
    "calibration-line": ("mine", "2 · similarity"),
    "captions-of-several-videos": ("the direction", 2),
    "change-without-interval": ("the reference", "P@1"),
    "chunks-longer-than-gold": ("mine", 2.5, "the effect"),
    "convention-of-other-tasks": ("the convention", "the ties"),
    "cutoff-beyond-depth": (["P@1"], 10),
    "distances-kept": ("the subject", "the effect"),
    "documents-order-grades": (2, "a.csv"),
    "documents-unmatched": ("mine", "the problem"),
    "engine-failures": ("mine", "the problems", ["q1"]),
    "engine-overloaded": ("mine", 100.0),
    "exact-lists-tied": ("a.csv", 2, 10),
    "few-requests": ("rsum", 2, 2, "the needs"),
    "gold-without-chunks": (["q1"], 3, "the label"),
    "grades-of-model": ("a.csv", 2, "the model"),
    "grades-of-study": ("a.csv", "the judged", "the meaning"),
    "hits-beyond-gallery": ("the direction", ["q1"], ["P@1"], 3),
    "ids-unmatched": ("the problem",),
    "images-left-out": ("the counts", "a.csv"),
    "images-on-both-sides": ("the problem",),
    "images-unmatched": ("the problem", "mine"),
    "images-unreadable": ("the number", "the problem"),
    "impressions-dependent": (3, 2),
    "impressions-tied": (1, 3, 1),
    "index-not-used": ("mine", "the part"),
    "identical-inputs": ("mine", "the problem"),
    "intervals-beyond-range": (["P@1"],),
    "items-without-document": (2,),
    "judged-items-not-asked": (2,),
    "known-items-unpooled": ("a.csv", 2),
    "line-cut-off": ("a.csv",),
    "lists-differ": ("mine", 1, 2),
    "lists-interleaved-short": (10, ["q1"]),
    "lists-not-shown": (1, 3),
    "lists-shorter-than-asked": ("mine", "the problem"),
    "machine-busy": ("the used",),
    "mapped-otherwise": ("the difference",),
    "measures-left-out": ("the reason",),
    "model-favours": ("the model", "the better", "the worse", "the bias"),
    "no-answer-numbers": ("mine", "the problem"),
    "no-correlation": ("the reason",),
    "no-encoder": (),
    "no-positives": ("the direction", 4, "the convention"),
    "no-similar-result": ("mine", "the problem"),
    "nothing-graded-twice": ("the reason",),
    "nothing-to-retrieve": ("mine", ["q1"]),
    "odd-answers": ("mine", "the problem"),
    "odd-entries": ("the problem", "a.csv"),
    "odd-vectors": ("mine", "the problem"),
    "other-items": ("mine", "the problem"),
    "pairs-share-items": (),
    "passages-repeated": ("the noun", ["q1"], ["P@1"], "mine"),
    "places-counted": ("t2v",),
    "pooled-file-gone": ("the name", "a.csv"),
    "queries-failed": ("mine", 2),
    "queries-left-out": ("mine", "the problem"),
    "queries-not-asked": (["q1"],),
    "queries-not-interleaved": (2,),
    "queries-of-some-systems": ("the difference",),
    "query-not-in-list": ("mine", "the problem"),
    "questions-unanswered": ("mine", ["q1"], "the effect"),
    "questions-without-statements": ("mine", ["q1"], 3),
    "recall-of-retrieved": ("mine", ["P@1"], "the what"),
    "replies-unused": ("the problem",),
    "rows-matched-by-position": ("mine",),
    "rules-of-language": ("the languages",),
    "said-by-engine": ("mine", "the words"),
    "scores-rise": ("mine", 1, 2),
    "targets-of-one-range": (),
    "word-of-convention": ("the label", "the exact", "the convention", "the meaning"),
    "words-negated": ("a bus", "the effect"),
    "words-not-read": ("a bus", "the problem"),
    "judged-for-other-runs": ("mine", 0.2, "theirs", 1.0, 10),
    "low-ceiling": ("P@10", 0.1, ["q1"], [0.1]),
    "no-better-than-shuffled": ("mine", ["AP", "RR"], "AP", 0.2, 0.2),
    "order-hardly-matters": (["R@100"], ["q1"], [0.95], 1),
    "same-item-relevant": ("i1", 10, 20, "nDCG@10", 0.5),
    "ties-decide-score": ("mine", "AP", 0.9, 0.3),
}
FACTS = ("name", "level", "message", "run", "file", "line", "queries", "figures")


def test_every_kind_has_an_example():
    assert sorted(FINDINGS) == sorted(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_finding_is_its_sentence_with_facts(name: str):
    kind = FINDINGS[name]
    finding = kind(*EXAMPLES[name])

    assert kind.level in LEVELS
    assert all(kind.paragraphs)
    assert (finding.name, finding.level) == (name, kind.level)
    assert finding
    assert not [mark for mark in ("{", "  ") if mark in finding]
    facts = finding.as_dict()
    assert facts["message"] == str(finding)
    assert set(facts) <= set(FACTS)
    place = facts.get("run") or facts.get("file") or ""
    assert finding.startswith(place)
    for copied in (pickle.loads(pickle.dumps(finding)), Finding.of(json.loads(json.dumps(facts)))):
        assert copied == finding
        assert copied.as_dict() == facts


@pytest.mark.parametrize("name", [name for name in EXAMPLES if FINDINGS[name].resolves])
def test_what_resolves_a_finding_exists(name: str):
    first, _, value = FINDINGS[name].resolves.partition(" ")
    commands = {word for words in command_summaries() for word in (" ".join(words), words[0])}
    if first == "rankwell":
        assert value.split(" -")[0] in commands
        return
    choices = [
        argument.choices
        for words in command_summaries()
        for argument in arguments_of(command_function(words))
        if first in argument.words
    ]

    assert choices
    assert not value or any(not words or value in words for words in choices)


def test_one_and_several_are_worded_apart():
    unknown = FINDINGS["queries-unknown"]
    words = ("query", "queries"), "relevance judgments"

    assert unknown("a", ["x"], *words) == (
        "a: 1 query has no relevance judgments ('x'), and is ignored"
    )
    assert unknown("a", ["x", "y"], *words) == (
        "a: 2 queries have no relevance judgments ('x', …), and are ignored"
    )


def test_the_option_that_resolves_it_is_written_for_its_user():
    unjudged, facts = FINDINGS["unjudged-in-top"], EXAMPLES["unjudged-in-top"]

    assert str(unjudged(*facts)).endswith("; try unjudged='skip'")
    with at_the_command_line():
        assert str(unjudged(*facts)).endswith("; try --unjudged skip")
    assert FINDINGS["tested-against-first"]("a", 3).endswith("; try `rankwell compare`")


def test_the_most_serious_come_first_and_each_once():
    info, warning = FINDINGS["reading-choice"]("x"), FINDINGS["equal-scores"]("mine")

    assert by_level([info, warning]) == [warning, info]
    assert unignored([info, warning, info]) == (info, warning)
    with ignoring(["reading-choice"]):
        assert unignored([info, warning]) == (warning,)


def test_an_error_stops_and_cannot_be_ignored():
    error = FINDINGS["nothing-relevant"](1.0, 0.0)
    with pytest.raises(BadInput, match=r"no grade is 1 or more.*explain nothing-relevant"):
        settled([error])
    with pytest.raises(BadUsage, match="nothing-relevant is an error"), ignoring([error.name]):
        pass
    with pytest.raises(UnknownName, match="did you mean 'unjudged-in-top'"), ignoring(["unjudged"]):
        pass


def test_json_has_findings_as_objects():
    finding = FINDINGS["undefined-values"](*EXAMPLES["undefined-values"])

    assert plain([finding]) == [finding.as_dict()]
    assert json.loads(render_rows([], "json", findings=[finding]))["findings"] == [
        {
            "name": "undefined-values",
            "level": "warning",
            "message": "mine: AP is undefined for 1 of 2 queries, which do not count",
            "run": "mine",
            "queries": ["q1"],
        }
    ]


def test_explain_knows_findings_and_conventions():
    text = str(rw.explain("unjudged-in-top"))

    assert text.startswith("unjudged-in-top   (warning)")
    assert "--unjudged skip" in text
    assert "--ignore unjudged-in-top" in text
    assert "stops every command" in str(rw.explain("nothing-relevant"))
    assert str(rw.explain("beir")).startswith("beir   (--convention beir)")


WORLD = ("q1 0 a 1\nq1 0 c 0\nq2 0 b 2\n", "q1 Q0 a 1 2.0 r\nq1 Q0 z 2 1.0 r\n")


@pytest.fixture
def run_cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs a command line; its exit code, standard output and standard error."""

    def _run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["rankwell", *words])
        code = main()
        return code, *capsys.readouterr()

    return _run


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, text in zip(("qrels.txt", "mine.run"), WORLD, strict=True):
        (tmp_path / name).write_text(text)
    return [str(tmp_path / "qrels.txt"), str(tmp_path / "mine.run")]


def test_the_terminal_shows_three_and_verbose_all_with_names(files, run_cli):
    _, _, shown = run_cli("evaluate", *files)
    _, _, everything = run_cli("evaluate", *files, "-v", "--intervals", "t")
    _, _, ignored = run_cli("evaluate", *files, "--ignore", "unjudged-in-top")
    code, text, _ = run_cli(
        "evaluate", *files, "--format", "json", "--ignore=few-queries", "--ignore=unjudged-in-top"
    )

    assert sum(line.startswith("! ") for line in shown.splitlines()) <= 3
    assert "[unjudged-in-top]" in everything
    assert "[unjudged-in-top]" not in shown
    assert "unjudged" in shown
    assert "unjudged" not in ignored
    assert code == 0
    names = [finding["name"] for finding in json.loads(text)["findings"]]
    assert "unjudged-in-top" not in names
    assert "few-queries" not in names


def test_ignore_refuses_errors_and_unknown_names(files, run_cli):
    code, _, err = run_cli("evaluate", *files, "--ignore", "nothing-relevant")
    assert (code, "is an error" in err) == (2, True)
    code, _, err = run_cli("evaluate", *files, "--ignore", "few-querys")
    assert (code, "did you mean 'few-queries'" in err) == (2, True)
    code, _, err = run_cli("evaluate", *files, "--ignore", "nosuch")
    expected = "there is no finding 'nosuch'; docs/reference/findings.md lists them all."
    assert (code, " ".join(err.split())) == (2, f"rankwell: {expected}")


def test_a_run_without_a_judged_query_is_refused_by_the_finding_that_check_prints(
    tmp_path, run_cli
):
    (tmp_path / "qrels.txt").write_text("n01 0 a 1\nn02 0 c 1\n")
    (tmp_path / "alike.run").write_text("xn01 Q0 a 1 3 t\nxn02 Q0 c 1 3 t\n")
    (tmp_path / "other.run").write_text("zz Q0 a 1 3 t\n")

    for run, name in (("alike", "query-ids-in-two-notations"), ("other", "run-not-evaluated")):
        arguments = str(tmp_path / "qrels.txt"), str(tmp_path / f"{run}.run")
        code, out, err = run_cli("evaluate", *arguments)
        _, checked, _ = run_cli("check", *arguments)
        sentence = " ".join(err.split()).removeprefix("rankwell: ")
        assert (code, out) == (4, "")
        assert sentence.endswith(f" (`rankwell explain {name}`)")
        assert [line for line in checked.splitlines() if line.startswith("error: ")] == [
            f"error: {sentence.rpartition(' (')[0]} [{name}]"
        ]
