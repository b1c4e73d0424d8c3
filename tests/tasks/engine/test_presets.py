"""Presets of requests, judged at an address: a scripted server takes the place of a real one."""

import rankwell as rw
from scripted_server import Reply, ScriptedServer


def test_a_preset_is_judged_and_its_parameters_are_tried():
    answer = {
        "version": {"number": "9"},
        "count": 2,
        "took": 5,
        "hits": {"hits": [{"_id": "a", "_score": 2.5}, {"_id": "b", "_score": 1.5}]},
    }
    with ScriptedServer(lambda *_: Reply(answer)) as server:
        result = rw.evaluate_engine(
            server.url,
            option={"preset": "elasticsearch", "index": "docs", "kind": "vector"},
            query_vectors={"q": [0.5, 1.0]},
            qrels={"q": {"b": 1}},
            sweep={"num_candidates": [10, 20]},
            measures=["RR"],
            depth=2,
            rounds=1,
        )

    sent = {
        (each.path, each.body["knn"]["num_candidates"])
        for each in server.received
        if each.method == "POST"
    }
    means = {row["run"]: row["mean"] for row in result.summary if row["measure"] == "RR"}
    assert means == {f"http num_candidates={value}": 0.5 for value in (10, 20)}
    assert sent == {("/docs/_search", 10), ("/docs/_search", 20)}
