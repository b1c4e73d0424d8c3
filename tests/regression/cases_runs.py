"""Command lines of runs against judgments: evaluate, trec-eval, compare, fuse, gate, convert,
check, report and explain.
"""


def listed(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


CONVENTIONS = listed("""alfa beir clip4clip clip4clip-multi dpr french frozen gldv2 haystack-finder haystack-v1 hgr kilt lavis market1501 mlqa mmt mteb
    nq-open oxford piaf piaf-article rankwell ranx revisited-E revisited-H revisited-M scholar-stream sop squad1 squad2 st thesis
    thesis-code torchreid trec_eval10 trec_eval9 triviaqa vpr vse""")
FORMATS = ("table", "csv", "tsv", "json", "jsonl", "md", "latex")
TIES = ("id-desc", "id-asc", "input", "expected", "optimistic", "pessimistic", "error")
MATRIX_TIES = (*TIES, "input-desc", "averaged", "multiplied")
JUDGED = listed("""Accuracy Accuracy@5 AP AP@5 AP(rel=2) AP(judged_only=True) AP(denom='found')@5 AP(denom='min')@5 AP(area='trapezoid') APatR
    BinG BPM(T=2,max_rel=3)@10 Bpref Compat Compat(p=0.8)@5 DCG DCG@5 DCG(dcg='exp-log2')@5 ERR ERR@3 F F(beta=2)@5 G GMAP GMBpref
    IDCG IDCG@5 infAP INSQ(max_rel=3)@10 INST(max_rel=3) IPrec@0.5 IPrec(rounding='nearest')@0.1 IPrecAvg Judged Judged@5 MedR
    MedR(missing='skip') MedRFloor MedRLow MnR MnR(of='all') nDCG nDCG@5 nDCG(dcg='exp-log2')@10 nDCG(rel=2)@5
    nDCG(gains={0:0,1:1,2:5,3:9})@5 nDCGrel NERR10(max_rel=3) NERR11(max_rel=3) NERR8(max_rel=3)@5 NERR9(max_rel=3)@5
    NumNonrelJudgedRet NumQ NumRel NumRelRet NumRet P@1 P@5 P(denom='retrieved')@20 R@5 R(denom='min')@5 R RBP RBP(p=0.5,rel=1)@5
    RBPResid RnDCG Rprec RprecMult RprecMult@0.5 RR RR@5 RR(rel=2) SDCG(max_rel=3)@5 SetAP SetF SetP SetR Success@1 Success@5 Unj@5
    Utility Yaap""")
INTENTS = (
    "alpha_DCG@5 alpha_nDCG@5 AP_IA ERR_IA@5 nERR_IA@5 nNRBP NRBP P_IA@5 StRecall@5 "
    "alpha_nDCG(alpha=0.2,judged_only=True)@10"
)
GROUPS = (
    "AP_avgjg P_avgjg@5 RprecMult_avgjg EvidenceP@5 EvidenceR@5 EvidenceR EvidenceRprec "
    "EvidenceSuccess@1"
)
PREFS = """PrefsAvgjg PrefsAvgjgImp PrefsAvgjgRet PrefsAvgjgRnonrel PrefsAvgjgRnonrelRet PrefsNumFul PrefsNumFulRet PrefsNumPoss PrefsPair
PrefsPairImp PrefsPairRet PrefsSimp PrefsSimpImp PrefsSimpRet""".replace("\n", " ")
SOME = "-m nDCG@5 -m AP -m RR"


def _evaluate() -> dict[str, str]:
    base = "evaluate qrels.txt a.run"
    array = f"evaluate qrels.txt scattered.run {SOME} --executor array --work work --shards 2"
    cases = {
        "plain": base,
        "three-runs": "evaluate qrels.txt a.run b.run c.run",
        "folder": f"{base} b.run {SOME} -o out --overwrite",
        "folder-texts": f"{base} b.run --query-texts queries.jsonl -o out",
        "folder-again": f"{base} {SOME} -o out\n{base} -m P@5 --intervals none -o out\n{base} "
        "-m P@5 "
        "--intervals none -o out --overwrite",
        "per-query": f"{base} {SOME} -q",
        "t": f"{base} b.run {SOME} --intervals t",
        "t-folder": f"{base} b.run {SOME} --intervals t -o out",
        "none": f"{base} b.run {SOME} --intervals none",
        "seed": f"{base} b.run {SOME} --seed 7",
        "exclude-self": f"{base} {SOME} --exclude-self",
        "no-exclude-self": f"{base} -c beir --no-exclude-self",
        "grade-2": f"{base} {SOME} -l 2",
        "grade-half": f"{base} -m AP -m nDCG@5 --min-grade 0.5",
        "doubled-error": "evaluate qrels.txt doubled.run",
        "doubled-first": f"evaluate qrels.txt doubled.run {SOME} --duplicates first",
        "doubled-best": f"evaluate qrels.txt doubled.run {SOME} --duplicates best",
        "scattered": f"evaluate qrels.txt scattered.run {SOME} -o out",
        "parts": f"evaluate qrels.txt scattered.run {SOME} --executor here --work work --shards 3 "
        "--memory 1G --threads 1 -o out",
        "array": "\n".join(
            [
                array,
                "part work 0 --threads 1",
                "part work 1 --threads 1",
                array,
                "part work/second --status",
            ]
        ),
        "shards": "evaluate qrels.txt runs -m AP\nevaluate qrels.txt out -m AP",
        "parts-dry-run": f"evaluate qrels.txt a.run b.run {SOME} --shards 2 --executor "
        "processes:2 --gpus 1 "
        "--part-timeout 60 --dry-run",
        "confidence": f"{base} b.run {SOME} -m MedR --confidence max --confidence std "
        "--confidence diff1",
        "confidence-mteb": f"{base} -c mteb -m ndcg_at_10 --confidence max -o out",
        "gzip": f"evaluate qrels.txt a.run.gz {SOME}",
        "beir-folder": f"evaluate beir a.run {SOME} -o out",
        "beir-split": f"evaluate beir a.run {SOME} --split dev",
        "beir-no-split": "evaluate beir a.run --split train",
        "qrels-columns": f"evaluate grades.csv a.run {SOME} --qrels-columns grade=strict",
        "qrels-columns-of-none": "evaluate qrels.txt a.run --qrels-columns grade=strict",
        "msmarco": f"evaluate qrels.txt runs/msmarco.tsv {SOME} --run-format msmarco",
        "trec-named": f"{base} {SOME} --run-format trec --qrels-format trec",
        "intents": f"evaluate intents.txt a.run b.run -m '{INTENTS}' -o out",
        "intents-skip": f"evaluate intents.txt a.run -m '{INTENTS}' --unjudged skip -q",
        "intents-both": f"evaluate intents.txt a.run -m '{INTENTS}' --queries both --ties "
        "id-asc -q",
        "intents-expected": f"evaluate intents.txt c.run -m '{INTENTS}' --ties expected",
        "groups": f"evaluate groups.txt a.run b.run -m '{GROUPS}' -q",
        "groups-folder": f"evaluate groups.txt a.run -m '{GROUPS}' -o out",
        "prefs": f"evaluate prefs.txt a.run b.run -m '{PREFS}' -q",
        "prefs-folder": f"evaluate prefs.txt a.run -m '{PREFS}' -o out",
        "words": f"{base} -c trec_eval9 -m map -m ndcg_cut_10 -m P_5 -m recip_rank -m bpref -m "
        "iprec_at_recall_0.10",
        "stdin": "< a.run evaluate qrels.txt - -m AP -m nDCG@5\n< qrels.txt evaluate - a.run "
        "-m AP\n< "
        "a.run.gz evaluate qrels.txt - -m AP",
        "nothing": "evaluate qrels.txt missing.run",
        "bad-measure": f"{base} -m nDGC@5",
    }
    for name in ("a.csv", "a.tsv", "a.json", "a.jsonl"):
        cases[f"run-{name}"] = f"evaluate qrels.txt runs/{name} {SOME}"
    for name in ("tsv", "csv", "jsonl", "json"):
        cases[f"qrels-{name}"] = f"evaluate qrels.{name} b.run {SOME}"
    for name in FORMATS:
        cases[f"format-{name}"] = f"{base} b.run {SOME} -f {name}"
        cases[f"format-{name}-per-query"] = f"{base} b.run {SOME} -f {name} -q"
    for rule in TIES:
        cases[f"ties-{rule}"] = (
            f'evaluate qrels.txt c.run plain.run --ties {rule} -m "{" ".join(JUDGED)}" '
            "--intervals none -f json -q"
        )
        cases[f"ties-{rule}-folder"] = f"evaluate qrels.txt c.run {SOME} --ties {rule} -o out"
    for rule in ("truth", "run", "both"):
        cases[f"queries-{rule}"] = f"{base} c.run {SOME} --queries {rule} -o out"
    for rule in ("empty", "skip", "error"):
        cases[f"no-relevant-{rule}"] = f"{base} {SOME} -m MedR --no-relevant {rule} -q"
    for rule in ("nonrelevant", "skip"):
        cases[f"unjudged-{rule}"] = f'{base} b.run --unjudged {rule} -m "{" ".join(JUDGED)}" -o out'
    for name in CONVENTIONS:
        cases[f"convention-{name}"] = (
            f"evaluate qrels.txt a.run c.run -c {name}\nevaluate qrels.txt a.run -c {name} "
            "--no-relevant skip -f csv -q"
        )
    for name in (
        "rankwell",
        "trec_eval9",
        "trec_eval10",
        "ranx",
        "beir",
        "mteb",
        "st",
        "gldv2",
        "vpr",
    ):
        cases[f"convention-{name}-folder"] = (
            f"evaluate qrels.txt c.run -c {name} --no-relevant skip -o out"
        )
    return {f"evaluate/{name}": lines for name, lines in cases.items()}


def _trec_eval() -> dict[str, str]:
    cases = {
        "plain": "qrels.txt a.run",
        "complete": "-c qrels.txt a.run",
        "queries": "-q qrels.txt a.run",
        "no-summary": "-q -n qrels.txt a.run",
        "judged-only": "-J qrels.txt a.run",
        "level": "-l 2 qrels.txt a.run",
        "most": "-M 5 qrels.txt a.run",
        "items": "-N 1000 -m utility -m all_trec qrels.txt a.run",
        "one-query": "-D 0.q1 -q qrels.txt a.run",
        "all": "-q -c -m all_trec qrels.txt a.run",
        "set": "-c -m set qrels.txt b.run",
        "words": "-c -m map -m ndcg_cut.5,10 -m P.1,5 -m iprec_at_recall.0.1,0.5 -m recip_rank "
        "qrels.txt b.run",
        "utility": "-c -m utility.1,-1,0,0 qrels.txt b.run",
        "prefs": "-c -q -m all_prefs -R prefs prefs.txt a.run",
        "qrels-prefs": "-c -q -m all_prefs -R qrels_prefs qrels.txt a.run",
        "groups": "-c -q -m qrels_jg -R qrels_jg groups.txt a.run",
        "zscores": "-c -q -m map -m P.5 -Z zscores.txt qrels.txt a.run",
        "zip": "-c qrels.txt a.run.gz",
        "scattered": "-c -q qrels.txt scattered.run",
        "version": "-v qrels.txt a.run",
        "help": "-h -m map",
        "format": "-c -R qrels -T trec_results -o qrels.txt a.run",
        "doubled": "-c qrels.txt doubled.run",
    }
    found = {}
    for name, words in cases.items():
        found[f"trec-eval/{name}"] = f"trec-eval {words}"
        found[f"trec-eval/v9-{name}"] = f"trec-eval --v9 {words}"
    found["trec-eval/v10"] = "trec-eval --v10 -c -m all_trec qrels.txt c.run"
    return found


def _compare() -> dict[str, str]:
    base = f"compare qrels.txt a.run b.run {SOME}"
    cases = {
        "plain": base,
        "default": "compare qrels.txt a.run b.run",
        "three": "compare qrels.txt a.run b.run c.run -m AP -m nDCG@5",
        "folder": f"{base} -o out --overwrite",
        "three-folder": f"compare qrels.txt a.run b.run c.run {SOME} --query-texts "
        "queries.jsonl --group kind "
        "-o out",
        "baseline": "compare qrels.txt a.run b.run c.run -m AP -m RR --baseline b",
        "group": f"{base} --query-texts queries.jsonl --group kind",
        "cluster": f"{base} --query-texts queries.jsonl --cluster session",
        "cluster-t": f"{base} --query-texts queries.jsonl --cluster session --test t --intervals t",
        "level": f"{base} --level 0.9 --power 0.9",
        "few": f"{base} --resamples 200 --seed 3",
        "per-query": f"{base} -q",
        "convention": "compare qrels.txt a.run b.run -c trec_eval9",
        "beir": "compare qrels.txt a.run b.run -c beir -q",
        "places": f"evaluate qrels.txt a.run {SOME} -o one\nevaluate qrels.txt b.run c.run "
        f"{SOME} -o "
        "two\ncompare one two\n"
        "compare first=one two --baseline first -o both",
        "family": f"{base} --family all",
        "documents": f"compare qrels.txt a.run b.run {SOME} --documents corpus.jsonl -o out",
        "one-run": "compare qrels.txt a.run",
    }
    for name in FORMATS:
        cases[f"format-{name}"] = f"{base} -f {name}"
        cases[f"format-{name}-per-query"] = f"compare qrels.txt a.run b.run -m AP -f {name} -q"
    for test in ("randomisation", "t", "wilcoxon", "sign", "bootstrap"):
        cases[f"test-{test}"] = (
            f"compare qrels.txt a.run b.run c.run -m AP -m P@5 --test {test} -f csv"
        )
        for correction in ("holm", "bh", "max-t", "tukey", "none"):
            cases[f"test-{test}-{correction}"] = (
                f"compare qrels.txt a.run b.run c.run -m AP -m P@5 --test {test} --correction "
                f"{correction}"
            )
    for intervals in ("bootstrap", "t", "none"):
        cases[f"intervals-{intervals}"] = f"{base} --intervals {intervals} -f json"
    return {f"compare/{name}": lines for name, lines in cases.items()}


def _fuse() -> dict[str, str]:
    base = "fuse a.run b.run c.run -o out/fused.csv"
    tune = "fuse a.run b.run c.run -o out/tuned.run --tune qrels.txt"
    methods = (
        "rrf",
        "rrf(k=10)",
        "isr",
        "log-isr",
        "borda",
        "combsum",
        "combmnz",
        "combgmnz(gamma=0.5)",
        "combanz",
        "combmin",
        "combmax",
        "combmed",
    )
    cases = {
        "weights": f"{base} --method combsum --weights 0.5,0.25,0.25",
        "weights-zero": f"{base} --weights 1,0,2",
        "depth": f"{base} --depth 5",
        "top": f"{base} --top 4",
        "doubled": "fuse a.run doubled.run -o out/fused.csv --duplicates best --overwrite",
        "parquet": "fuse a.run b.run -o out/fused.parquet",
        "json": "fuse a.run runs/a.csv -o out/fused.json",
        "to": "fuse a.run b.run -o out/fused.dat --to trec",
        "named": "fuse a.run b.run -o out/fused.tsv --run-format trec",
        "tune": tune,
        "tune-many": f"{tune} --method 'combsum rrf(k=10) rrf' --normalise min-max,z-score "
        "--step 0.25 "
        "--folds 3 --seed 4 -m AP -m RR",
        "tune-json": f"{tune} -f json --measure nDCG@5",
        "tune-csv": f"{tune} -f csv --qrels-format trec --method combsum --absent zero",
        "absent-zero": f"{base} --method combsum --normalise z-score --absent zero",
        "absent-lowest": f"{base} --method combsum --normalize min-max --absent lowest",
    }
    for method in methods:
        cases[f"method-{method.split('(')[0]}{'-p' * ('(' in method)}"] = (
            f"{base} --method '{method}'"
        )
    for normalise in ("min-max", "z-score", "sum", "max", "rank", "none"):
        cases[f"normalise-{normalise}"] = f"{base} --method combmnz --normalise {normalise}"
    return {f"fuse/{name}": lines for name, lines in cases.items()}


def _others() -> dict[str, str]:
    made = f"evaluate qrels.txt a.run b.run {SOME} -o out"
    old = f"evaluate qrels.txt c.run {SOME} -o old"
    cases = {
        "gate/pass": f"{made}\ngate out -r 'nDCG@5 >= 0.01' -r 'a:AP.ci_low > 0' --junit gate.xml",
        "gate/fail": f"{made}\ngate out --require 'nDCG@5.mean >= 0.99' --require 'AP within "
        "1% of 0.5' "
        "--require 'RR.median > 0.1'",
        "gate/regression": f"{made}\ngate out --no-regression a\ngate out --no-regression "
        "b\ngate out "
        "--no-regression b --tolerance 5%",
        "gate/folder": f"{made}\n{old}\ngate out --no-regression old -m AP --level 0.9 "
        "--resamples 500 "
        "--seed 2 --intervals t",
        "gate/file": f"{made}\ngate out --requirements gate.toml --junit gate.xml --overwrite",
        "gate/nothing": f"{made}\ngate out -r 'P@5 > 0'",
        "check/plain": "check qrels.txt a.run b.run c.run",
        "check/corpus": "check qrels.txt a.run --corpus corpus.jsonl",
        "check/doubled": "check qrels.txt doubled.run scattered.run --run-format trec "
        "--qrels-format trec",
        "check/judgments": "check qrels.txt",
        "check/strict": "check qrels.txt c.run --strict",
        "report/one": f"{made}\nreport out --overwrite",
        "report/two": f"{made}\n{old}\nreport out baseline=old -o page.html --title 'Both of "
        "them' --seed 3 "
        "--documents corpus.jsonl --query-texts queries.jsonl",
        "report/thumbnails": f"{made}\nreport out -o page.html --thumbnails 'pictures/{{id}}.png'",
        "open/page": f"{made}\nreport out\nopen out --no-browser\nopen out/report.html "
        "--no-browser",
        "convert/chain": "convert a.run out/a.parquet\nconvert out/a.parquet "
        "out/a.csv\nconvert out/a.csv "
        "out/a.json\n"
        "convert out/a.json out/a.tsv --holds run\nconvert out/a.tsv out/a.run",
        "convert/judgments": "convert qrels.txt out/q.parquet\nconvert out/q.parquet "
        "out/q.csv\nconvert out/q.csv "
        "out/q.tsv\n"
        "convert out/q.tsv out/q.qrels\nconvert out/q.qrels out/q.json",
        "power/plain": f"evaluate qrels.txt a.run b.run c.run {SOME} -o one\npower one\npower "
        "one --measure "
        "nDCG@5 --difference 0.1 --level 0.9 "
        "--power 0.9 --seed 3 -f json",
        "convert/texts": "convert beir out/q.csv --to quepid --query-texts beir/queries.jsonl\n"
        "convert out/q.csv out/q.json --to opensearch",
        "convert/named": "convert a.run out/a.dat --from trec --to csv --holds run\nconvert "
        "doubled.run "
        "out/d.run --duplicates best",
        "convert/first": "convert doubled.run out/d.run --duplicates first\nconvert "
        "doubled.run out/e.run",
        "convert/stdin": "< a.run convert - out/a.csv",
        "trec-eval/stdin": "< a.run trec-eval -c -q qrels.txt -",
        "convert/scattered": "convert scattered.run out/s.csv --overwrite",
        "measures/table": "measures",
        "measures/json": "measures -f json",
        "measures/md": "measures --format md",
        "version/version": "--version",
    }
    for name in ("out", "compared"):
        cases[f"report/from-{name}"] = (
            f"{made}\ncompare out -o compared\nreport {name} -o page.html"
        )
    for name in FORMATS:
        cases[f"gate/format-{name}"] = (
            f"{made}\ngate out -r 'nDCG@5 >= 0.5' --no-regression a -f {name}"
        )
        cases[f"check/format-{name}"] = f"check qrels.txt a.run c.run -f {name}"
    for word in (
        "nDCG@10",
        "ndcg_cut_10",
        "Recall@5",
        "Precision@5",
        "MRR",
        "MedR",
        "reader_top1_f1",
        "P_q@10",
        "mAP",
        "RBO",
        "AP",
        "R@1",
    ):
        cases[f"explain/{word.replace('@', '-at-')}"] = f"explain {word}"
    return cases


CASES = {**_evaluate(), **_trec_eval(), **_compare(), **_fuse(), **_others()}
