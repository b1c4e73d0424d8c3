"""Command lines over the real data beside the project, which no part of is copied here: figures,
and digests of the rest.
"""

TREC = "shared/trec/trec_eval_v10"
ROBUST = "shared/trec/robust03"
VPR = "shared/vpr"
QA = "shared/qa"


def _trec() -> dict[str, str]:
    plain = f"{TREC}/qrels.test {TREC}/results.test"
    cases = {
        "official": plain,
        "all": f"-m all_trec -q -c {plain}",
        "judged": f"-m all_trec -J -M 100 {plain}",
        "groups": f"-m qrels_jg -q -R qrels_jg {TREC}/qrels.123 {TREC}/results.test",
        "prefs": f"-m all_prefs -q -R prefs {TREC}/prefs.test {TREC}/prefs.results.test",
        "zscores": f"-q -Z {TREC}/zscores_file {plain}",
        "robust": f"-q -m all_trec -c {ROBUST}/qrels.txt.gz {ROBUST}/uic0301.run.gz",
    }
    found = {f"trec-eval-{name}": f"trec-eval {words}" for name, words in cases.items()}
    return found | {
        f"trec-eval-v9-{name}": f"trec-eval --v9 {words}" for name, words in cases.items()
    }


def _others() -> dict[str, str]:
    runs = f"{ROBUST}/qrels.txt.gz {ROBUST}/uic0301.run.gz {ROBUST}/pircRBa1.run.gz"
    cases = {
        "evaluate-folder": f"evaluate {TREC}/qrels.test {TREC}/results.test -o out -f csv",
        "evaluate-robust": f"evaluate {runs} -f csv",
        "compare-robust": f"compare {runs} -m AP -m nDCG@10 -f csv",
        "fuse-robust": f"fuse {ROBUST}/uic0301.run.gz {ROBUST}/pircRBa1.run.gz -o fused.csv "
        "--depth 100 "
        "--top 20",
        "check-robust": f"check {runs}",
        "squad2": f"answers {QA}/squad2_normans_complexity.json "
        f"{QA}/squad2_normans_complexity_bert_predictions.json -c squad2 -f csv -o out",
        "squad2-french": f"answers {QA}/squad2_normans_complexity.json "
        f"{QA}/squad2_normans_complexity_bert_predictions.json -c french -f csv",
        "clips": "clips evaluate --annotations shared/driving/unified_annotation.csv --schema "
        "shared/driving/schema.json --embeddings driving.npy -f csv -o out",
        "clips-groups": "clips evaluate --annotations shared/driving/unified_annotation.csv "
        "--embeddings "
        "driving.npy --groups 'object type,actor behavior' -f csv",
        "clips-lint": "clips lint shared/driving/unified_annotation.csv --schema "
        "shared/driving/schema.json",
        "clips-map": "clips map 'cyclist entering ego path' 'no pedestrian' --annotations "
        "shared/driving/unified_annotation.csv --schema shared/driving/schema.json",
    }
    for rule in ("id-asc", "input", "expected", "optimistic", "pessimistic"):
        cases[f"evaluate-ties-{rule}"] = (
            f"evaluate {TREC}/qrels.test {TREC}/results.test --ties {rule} -q -f csv"
        )
    for name in ("trec_eval9", "trec_eval10", "ranx", "beir", "mteb", "st"):
        cases[f"evaluate-{name}"] = (
            f"evaluate {TREC}/qrels.test {TREC}/results.test -c {name} -q -f csv"
        )
    for place in ("corridor", "spedtest"):
        for system in ("netvlad", "densevlad"):
            scores = f"{VPR}/{place}_{system}_scores.npy --positives {VPR}/{place}_positives.json"
            cases[f"instances-{place}-{system}"] = (
                f"instances evaluate --scores {scores} -c vpr -f csv"
            )
            cases[f"captions-{place}-{system}"] = f"captions {scores} -f csv --convention hgr"
    scores = f"{VPR}/corridor_netvlad_scores.npy --positives {VPR}/corridor_positives.json"
    for name in ("rankwell", "mmt", "frozen", "vse", "lavis"):
        cases[f"captions-{name}"] = f"captions {scores} -c {name} -f csv -q"
    for name in ("thesis", "thesis-code", "oxford", "gldv2", "sop", "rankwell"):
        cases[f"instances-{name}"] = f"instances evaluate --scores {scores} -c {name} -f csv -q"
    cases["captions-folder"] = f"captions {scores} -o out -f csv"
    cases["instances-folder"] = f"instances evaluate --scores {scores} -o out -f csv"
    for name in ("tiny", "small", "faq", "duplicate_answers"):
        for convention in ("piaf", "piaf-article", "squad2"):
            cases[f"piaf-{name}-{convention}"] = (
                f"answers {QA}/piaf_{name}.json nothing.jsonl -c {convention} --missing zero -f csv"
            )
    return cases


CASES = {f"shared/{name}": lines for name, lines in {**_trec(), **_others()}.items()}
