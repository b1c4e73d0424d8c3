"""The rules of a result in words."""

from rankwell.reporting import rule_pairs, rules_line


def counts(**runs: dict[str, int]) -> dict[str, dict[str, dict[str, int]]]:
    return {"counts": runs}


def test_a_count_of_one_has_a_singular_noun():
    assert (
        rules_line(counts(mine={"queries_counted": 1, "statements": 1}))
        == "1 query counted, 1 statement"
    )
    assert rules_line(counts(mine={"queries_counted": 2, "rows": 1})) == "2 queries counted, 1 row"
    assert (
        rules_line(counts(mine={"queries": 1, "references_missing": 1}))
        == "1 query, 1 reference missing"
    )
    assert (
        rules_line(counts(mine={"no_keywords": 1, "fewer_results_than_k": 2}))
        == "1 without keywords, 2 with fewer results than k"
    )


def test_what_is_not_a_query_is_not_called_one_where_runs_differ():
    rules = counts(
        a={"queries_counted": 1, "statements": 1}, b={"queries_counted": 2, "statements": 3}
    )

    assert rules_line(rules) == "queries counted: 1 in a, 2 in b; statements: 1 in a, 3 in b"
    assert rule_pairs(rules) == [
        ("queries counted", "1 in a, 2 in b"),
        ("statements", "1 in a, 3 in b"),
    ]
