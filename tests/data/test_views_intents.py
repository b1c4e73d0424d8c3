"""Judgment groups and intents: the joins, and the measures on them against trec_eval and
pyndeval.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from rankwell import group_rankings, intent_rankings, parse_measure
from rankwell.data.judged_rankings import GroupRankings, IntentRankings
from rankwell.data.tables import Judgments
from rankwell.errors import BadUsage
from rankwell.io import formats as files
from rankwell.io.mapping import find_hits
from rankwell.measures import groups, intents
from rankwell.store import Source

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "ir_measures-0.4.3" / "intents.json").read_text()
)
TRUTH = {
    "p": {"1": {"a": 1.0, "b": 0.0}, "2": {"a": 2.0, "c": -1.0}},
    "q": {"1": {"x": 1.0}},
    "r": {},
    "s": {"1": {"a": 1.0}, "2": {"b": 1.0}},
}
RUN = {"p": {"z": 9.0, "c": 5.0, "a": 4.0, "b": 3.0}, "q": {"y": 1.0}, "r": {"a": 1.0}}


def test_a_ranking_is_judged_under_each_aspect_alone() -> None:
    view = intent_rankings(TRUTH, RUN)
    alone = view.by_aspect

    assert view.queries == ("p", "q", "r", "s")
    assert view.aspects == ("1", "2", "1", "1", "2")
    assert view.aspect_offsets.tolist() == [0, 2, 3, 3, 5]
    assert alone.offsets.tolist() == [0, 2, 4, 4, 4, 4]
    assert alone.ranks.tolist() == [3, 4, 2, 3]
    assert alone.grades.tolist() == [1.0, 0.0, -1.0, 2.0]
    assert alone.n_retrieved.tolist() == [4, 4, 1, 0, 0]
    assert alone.judged_grades.tolist() == [1.0, 0.0, 2.0, -1.0, 1.0, 1.0, 1.0]


def test_taking_queries_keeps_their_values_in_the_requested_order() -> None:
    view = intent_rankings(TRUTH, {**RUN, "s": {"b": 1.0, "a": 0.5}})
    values = intents.alpha_ndcg(view, k=5)

    taken = view.take(np.array([3, 1, 0]))

    assert taken.queries == ("s", "q", "p")
    assert intents.alpha_ndcg(taken, k=5).tolist() == values[[3, 1, 0]].tolist()
    assert intents.alpha_ndcg(view.take(np.array([2])), k=5).tolist() == [0.0]


def test_cutting_leaves_the_truth_whole() -> None:
    view = intent_rankings(TRUTH, RUN)

    assert intents.subtopic_recall(view.cut(2), k=5).tolist() == [0.0, 0.0, 0.0, 0.0]
    assert intents.subtopic_recall(view.cut(3), k=5).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_condensed_intents_keep_what_any_intent_judges_and_condensed_groups_what_each_group_judges() -> (  # noqa: E501
    None
):
    truth = {"q": {"1": {"a": 0.0}, "2": {"b": 1.0, "c": -1.0}}}
    run = {"q": {"x": 9.0, "c": 5.0, "a": 4.0, "b": 3.0}}

    by_intent, by_group = intent_rankings(truth, run), group_rankings(truth, run)

    assert intents.p_ia(by_intent, k=2, judged_only=True).tolist() == [0.0]
    assert intents.p_ia(by_intent.with_unjudged_pool, k=2, judged_only=True).tolist() == [0.5]
    assert by_intent.condensed.by_aspect.ranks.tolist() == [2, 1, 3]
    assert by_intent.with_unjudged_pool.condensed.by_aspect.ranks.tolist() == [1, 2]
    assert by_group.condensed.by_aspect.ranks.tolist() == [1, 1, 2]
    assert by_group.with_unjudged_pool.condensed.by_aspect.ranks.tolist() == [1, 1]
    assert by_group.condensed.cut(1).by_aspect.ranks.tolist() == []


def test_junk_is_gone_for_every_aspect() -> None:
    judgments = Judgments.from_rows(
        ["q", "q", "q"],
        ["a", "b", "b"],
        [1.0, 1.0, 1.0],
        aspects=["1", "1", "2"],
        junk=[True, False, False],
    )
    run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}

    view = IntentRankings.join(judgments, find_hits(run, judgments.flat))

    assert view.by_aspect.ranks.tolist() == [2, 2]
    assert view.by_aspect.n_relevant(1).tolist() == [1.0, 1.0]


def test_without_aspects_a_query_has_one() -> None:
    judgments = Judgments.from_dict({"q": {"a": 1.0}, "r": {}})

    view = GroupRankings.join(judgments, find_hits({"q": {"a": 1.0}}, judgments))

    assert view.aspects == ("0",)
    assert groups.ap_over_groups(view).tolist() == [1.0, 0.0]


def test_the_ideal_list_takes_the_higher_id_where_items_are_as_novel() -> None:
    # With alpha 1 an item adds what is not yet served. a, b and c serve two intents each; the ideal
    # begins with c, after which b serves two new ones and a one: 2, then 2 / log2(3), then nothing.
    # Begun with a, both b and c would add one.
    serving = {"1": "ab", "2": "b", "3": "ac", "4": "c"}
    truth = {"q": {intent: dict.fromkeys(items, 1.0) for intent, items in serving.items()}}
    perfect = intent_rankings(truth, {"q": {"c": 3.0, "b": 2.0}})
    worse = intent_rankings(truth, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    ideal = 2 + 2 / np.log2(3)

    assert intents.alpha_ndcg(perfect, k=3, alpha=1.0).tolist() == [1.0]
    assert intents.alpha_ndcg(worse, k=3, alpha=1.0) == pytest.approx(
        [(2 + 1 / np.log2(3) + 1 / 2) / ideal]
    )


def test_the_ideal_list_is_greedy_so_that_a_ranking_may_be_better_than_it() -> None:
    # b and c serve ten intents each, all of them; a serves eleven, five of b's and six of c's, and
    # is taken first.
    serves = {"a": range(5, 16), "b": range(10), "c": range(10, 20)}
    truth = {
        "q": {
            str(intent): {item: 1.0 for item in "abc" if intent in serves[item]}
            for intent in range(20)
        }
    }
    view = intent_rankings(truth, {"q": {"b": 2.0, "c": 1.0}})

    assert intents.alpha_ndcg(view, k=2, alpha=1.0) == pytest.approx(
        [(10 + 10 / np.log2(3)) / (11 + 5 / np.log2(3))]
    )


def test_only_ndevals_quirk_leaves_rank_one_undivided() -> None:
    truth = {"q": {"1": {"a": 1.0}, "2": {"a": 1.0}, "3": {"b": 1.0}}}
    view = intent_rankings(truth, {"q": {"a": 1.0}})

    assert intents.alpha_dcg(view, k=1).tolist() == [2.0]
    assert intents.err_ia(view, k=1, quirk=False) == pytest.approx([2 / 3])
    assert intents.err_ia(view, k=2) == pytest.approx([2 / (3 * (1 + 0.5 / 2))])


@pytest.mark.parametrize(
    "text", ["alpha_DCG(alpha=1.5)@5", "alpha_nDCG(alpha=-0.5)@5", "NRBP(beta=2)", "nNRBP(beta=-1)"]
)
def test_a_share_outside_zero_to_one_is_refused(text: str) -> None:
    with pytest.raises(BadUsage, match="is a share from 0 to 1"):
        parse_measure(text)(intent_rankings(TRUTH, RUN))


@pytest.mark.parametrize(
    "entry", GOLDEN["measures"], ids=lambda entry: f"{entry['measure']}-{entry['params']}"
)
def test_the_measures_agree_with_pyndeval(entry: dict) -> None:
    parameters = {
        ("k" if name == "cutoff" else name): value for name, value in entry["params"].items()
    }
    measure = parse_measure(entry["measure"] + ("@5" if "k" in parameters else "")).with_parameters(
        **parameters
    )
    view = intent_rankings(GOLDEN["intents"], GOLDEN["run"])

    found = dict(zip(view.queries, measure(view).tolist(), strict=True))

    # pyndeval gives no number for nNRBP where no intent has a relevant item.
    wanted = {
        query: value or 0.0 for query, value in zip(GOLDEN["queries"], entry["values"], strict=True)
    }
    assert found == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("truth", ["qrels.123", "qrels.comments.123"])
def test_the_group_measures_print_what_trec_eval_prints(shared: Path, truth: str) -> None:
    folder = shared / "trec" / "trec_eval_v10"
    judgments = files.read_judgments(
        Source(folder / truth), format="trec", aspects="groups", comments=True
    )
    view = GroupRankings.join(
        judgments,
        files.find_hits(Source(folder / "results.test"), judgments.flat, format="trec").hits,
    )
    checked = 0

    for line in (folder / "out.test.qrels_jg").read_text().splitlines():
        name, query, printed = line.rstrip().split("\t")
        if "avgjg" in name and query != "all":
            values = parse_measure(name.strip())(view)
            assert f"{values[view.queries.index(query)]:.4f}" == printed, (name, query)
            checked += 1

    assert checked == 60
