"""Command lines over arrays: captions, agree, pairs, search and encode."""

from regression.cases_runs import CONVENTIONS, FORMATS, MATRIX_TIES

PAIRS = """AO@5 Continuity@3 EpsRecall@5 EpsRecall(eps=0.1)@5 Jaccard@5 Margin@5 MedR_first MnR_first Overlap@5 RBO@5 RBO(p=0.8,kind='min')@5
RBO(ties='shared')@5 Spearman@5 SpearmanUnion@5 TauAP@5 Trustworthiness@3 nDCG@5 AP RR P@5 R@5""".replace(
    "\n", " "
)


def _captions() -> dict[str, str]:
    base = "captions captions/tied.npy --positives captions/positives.json"
    clear = "captions captions/clear.npy --positives captions/positives.json"
    vectors = (
        "captions --queries captions/queries.npy --gallery captions/gallery.npy --positives "
        "captions/positives.json"
    )
    real = (
        "captions --queries captions/float_queries.npy --gallery captions/float_gallery.npy "
        "--positives captions/positives.json"
    )
    ids = "--query-ids captions/captions.ids.txt --item-ids captions/videos.ids.txt"
    many = (
        "-m R@1 -m R@5 -m MedR -m MedRLow -m MedRFloor -m MnR -m AP -m nDCG@5 -m RR -m P@2 -m "
        "ERR@3 -m RBP -m Success@3"
    )
    cases = {
        "plain": base,
        "clear": clear,
        "two": "captions captions/tied.npy captions/other.npy --positives "
        "captions/positives.json -o "
        "out --overwrite",
        "diagonal": "captions captions/square.npy",
        "parts": f"{vectors} --executor here --work work --shards 3 --memory 1G --threads 1",
        "parts-dry-run": f"{vectors} --executor processes:2 --gpus 1 --part-timeout 60 --dry-run",
        "diagonal-named": "captions captions/square.npy --positives diagonal -m AP -m nDCG@3",
        "counts": "captions captions/clear.npy --positives counts:captions/counts.txt",
        "counts-number": "captions captions/clear.npy --positives counts:3",
        "groups": "captions captions/clear.npy --positives groups:captions/groups.txt",
        "several": "captions captions/tied.npy --positives captions/several.json -m AP -m "
        "nDCG@5 -m R@5 "
        "-m RR -m MnR -q",
        "by-id": f"captions captions/tied.npy --positives captions/by_id.json {ids} -q",
        "qrels": f"captions captions/tied.npy --positives captions/qrels.csv {ids} -o out",
        "vectors": vectors,
        "vectors-folder": f"{vectors} {ids} -o out",
        "real": f"{real} -o out",
        "per-query": f"{base} -q",
        "texts": f"{base} --texts captions/texts.txt -o out",
        "mask": f"{base} --mask captions/mask.json",
        "mask-collapsed": f"{clear} --mask captions/mask.json --protocol both",
        "cut-offs": f"{base} -k 1,2,3,50",
        "measures": f"{base} -m rsum -m gmean -m r_mean -m MedR -m MnR -m nDCG@5 -m AP",
        "check": f"{base} --check 70.08 --check 41.7 --check 12.5",
        "seed": f"{base} --seed 5",
        "dual-softmax": f"{base} --transform 'dual-softmax(temperature=0.5)' -o out",
        "querybank": f"{base} --transform 'querybank(beta=20)' --bank captions/bank.npy "
        "--direction t2v -q",
        "gaps-folder": "captions captions/tied.npy --positives captions/gaps.json -o out",
        "none-right": "captions captions/square.npy --positives captions/nothing.json",
    }
    for metric in ("cosine", "dot", "l2"):
        cases[f"vectors-{metric}"] = f"{vectors} --metric {metric} -q"
        cases[f"real-{metric}"] = f"{real} --metric {metric} -q"
    for direction in ("both", "t2v", "v2t"):
        cases[f"{direction}"] = f"{base} --direction {direction} -o out"
        for protocol in ("among-captions", "among-videos", "both") if direction != "t2v" else ():
            cases[f"{direction}-{protocol}"] = (
                f"{base} --direction {direction} --protocol {protocol} -o out"
            )
    for ties in MATRIX_TIES:
        cases[f"ties-{ties}"] = (
            f"{base} --ties {ties} "
            f"{'-m R@1 -m R@5 -m MedR -m MnR' if ties in ('averaged', 'multiplied') else many} "
            "-f json -q"
        )
        cases[f"ties-{ties}-folder"] = f"{base} --ties {ties} -o out"
        cases[f"ties-{ties}-vectors"] = f"{vectors} --ties {ties} --protocol both"
    for rule in ("empty", "skip", "error"):
        cases[f"gaps-{rule}"] = (
            f"captions captions/tied.npy --positives captions/gaps.json --no-relevant {rule} -q"
        )
    for intervals in ("bootstrap", "t", "none"):
        cases[f"intervals-{intervals}"] = f"{base} --intervals {intervals} -f csv"
    for name in FORMATS:
        cases[f"format-{name}"] = f"{base} -f {name}"
        cases[f"format-{name}-per-query"] = f"{base} -f {name} -q"
    for name in CONVENTIONS:
        cases[f"convention-{name}"] = f"{base} -c {name}"
    for name in (
        "rankwell",
        "hgr",
        "mmt",
        "frozen",
        "clip4clip",
        "clip4clip-multi",
        "vse",
        "lavis",
    ):
        cases[f"convention-{name}-more"] = (
            f"{clear} -c {name} --protocol both --no-relevant skip\n"
            f"captions captions/tied.npy --positives captions/several.json -c {name} -q -f csv\n"
            f"captions captions/tied.npy --positives captions/gaps.json -c {name} "
            "--no-relevant skip --ties input -o out"
        )
        cases[f"convention-{name}-folder"] = (
            f"{base} -c {name} -o out\ncaptions captions/square.npy -c {name}"
        )
    return {f"captions/{name}": lines for name, lines in cases.items()}


def _agree() -> dict[str, str]:
    base = "agree --reference vectors/teacher.npy vectors/near.npy vectors/far.npy --samples all"
    real = (
        "agree --reference vectors/real.npy noisy=vectors/noisy.npy short=vectors/short.npy "
        "--samples all"
    )
    cases = {
        "plain": base,
        "real": real,
        "real-folder": f"{real} -k 1,5 -o out",
        "folder": f"{base} -k 1,5 -o out --overwrite",
        "runs": "agree --reference a.run b.run c.run",
        "runs-folder": "agree --reference a.run b.run -k 5 -m RBO -m Jaccard@3 -m AP -o out",
        "parts": f"{base} -k 2 --executor here --work work --shards 3 --memory 1G --threads 1",
        "parts-dry-run": f"{base} -k 2 --executor processes:2 --gpus 1 --part-timeout 60 --dry-run",
        "sample": "agree --reference vectors/teacher.npy vectors/near.npy --samples 15 --seed "
        "3 -k 1,3",
        "all": f"{base} -k 1,5 --all",
        "sample-again": "agree --reference vectors/teacher.npy vectors/near.npy --n-samples 15 "
        "--k-values 1 3",
        "gold-depth": f"{base} --gold-depth 3 -m nDCG -m AP -m R",
        "measures": f'{base} -k 5 -m "{PAIRS}"',
        "measures-real": f'{real} -k 5 -m "{PAIRS}" -q -f csv',
        "gains": f"""{base} -k 3,5 -m "nDCG(gains='similarity')" -m nDCG@5""",
        "ids": f"{base} --ids vectors/ids.txt -q -f csv -m Overlap",
        "exclude": f"{base} --exclude vectors/groups.txt --ids vectors/ids.txt -k 3",
        "labels": f"{base} --ids vectors/ids.txt --labels vectors/labels.csv -k 5 -o out",
        "ceiling": f"{real} --ceiling -k 5",
        "eps": f"{base} --eps 0.1 -k 5",
        "per-query": f"{base} -k 3 -q",
        "t": f"{base} -k 3 --intervals t -f csv",
        "none": f"{base} -k 3 --intervals none",
        "scholar": f"{base} -c scholar-stream -o out",
        "scholar-real": f"{real} -c scholar-stream --gold-depth 5 -q",
        "no-candidates": "agree --reference vectors/real.npy --samples all --ceiling",
    }
    for metric in ("cosine", "dot", "l2"):
        cases[f"metric-{metric}"] = f"{base} -k 5 --metric {metric} -o out"
        cases[f"metric-{metric}-real"] = f"{real} -k 5 --metric {metric}"
    for name in FORMATS:
        cases[f"format-{name}"] = f"{base} -k 3 -f {name}"
        cases[f"format-{name}-per-query"] = f"{base} -k 3 -m Overlap -f {name} -q"
    cases["convention-all"] = "\n".join(f"{base} -c {name} -k 5" for name in CONVENTIONS)
    return {f"agree/{name}": lines for name, lines in cases.items()}


def _pairs() -> dict[str, str]:
    base = "pairs vectors/pairs.csv:score vectors/pairs.csv:one vectors/pairs.csv:two"
    cases = {
        "plain": base,
        "files": "pairs vectors/targets.txt vectors/model.txt",
        "folder": f"{base} -o out --overwrite",
        "strata": f"{base} --strata 3 -f csv",
        "strata-column": f"{base} --strata vectors/pairs.csv:kind -o out",
        "st": f"{base} -c st -o out",
        "t": f"{base} --intervals t -f csv",
        "none": f"{base} --intervals none --seed 3",
        "reference": "pairs --reference vectors/real.npy --candidate vectors/noisy.npy --candidate "
        "vectors/short.npy -o out",
        "reference-drawn": "pairs --reference vectors/teacher.npy --candidate vectors/near.npy "
        "--pairs 50 --seed "
        "2",
        "sides": "pairs --left vectors/real.npy --right vectors/noisy.npy --scores "
        "vectors/forty.txt "
        "--metric cosine --metric dot "
        "--metric euclidean --metric manhattan -c st",
        "sides-exact": "pairs --left vectors/teacher.npy --right vectors/near.npy --scores "
        "vectors/forty.txt "
        "--metric dot",
    }
    for name in FORMATS:
        cases[f"format-{name}"] = f"{base} -f {name}"
    return {f"pairs/{name}": lines for name, lines in cases.items()}


def _search() -> dict[str, str]:
    base = "search vectors/base.npy vectors/asked.npy -k 7"
    ids = "--base-ids vectors/base_ids.txt --query-ids vectors/asked_ids.txt"
    cases = {
        "parquet": f"{base} -o out/run.parquet",
        "run": f"{base} {ids} -o out/run.run",
        "csv": f"{base} {ids} -o out/run.csv",
        "tsv": f"{base} {ids} -o out/run.tsv",
        "json": f"{base} {ids} -o out/run.json",
        "hdf5": f"{base} -o out/run.hdf5",
        "self": f"{base} {ids} --exclude self -o out/run.csv",
        "groups": f"{base} {ids} --base-groups vectors/base_groups.txt --query-groups "
        "vectors/asked_groups.txt -o out/run.csv",
        "real": "search vectors/real.npy vectors/noisy.npy -k 5 -o out/run.csv",
        "all": "search vectors/base.npy vectors/asked.npy -o out/run.csv --overwrite",
    }
    for metric in ("cosine", "dot", "l2"):
        cases[f"metric-{metric}"] = f"{base} --metric {metric} -o out/run.csv"
        cases[f"metric-{metric}-hdf5"] = f"{base} --metric {metric} -o out/run.hdf5"
    for backend in ("numpy", "torch", "faiss"):
        cases[f"backend-{backend}"] = f"{base} --backend {backend} -o out/run.csv"
    cases["device"] = f"{base} --backend torch --device cpu -o out/run.csv"
    cases["dry-run"] = (
        f"{base} --executor processes:4 --memory 4k --gpus 1 --part-timeout 60 --dry-run -o out/run.csv"
    )
    cases["parts"] = f"{base} --executor here --work work --shards 3 --threads 1 -o out/run.csv"
    array = f"{base} --executor array:2 --work work --shards 3 -o out/run.csv"
    elements = "\n".join(f"part work {index} --threads 1" for index in (0, 2))
    cases["array"] = f"{array}\n{elements}\npart work --status\n{array}\npart work 1\n{array}"
    return {f"search/{name}": lines for name, lines in cases.items()}


def _encode() -> dict[str, str]:
    texts = "encode corpus.jsonl --model tfidf-svd:4 --fit corpus.jsonl -o out/texts.npy"
    images = "encode images museum/references --model {} -o out/images.npy"
    cases = {
        "texts": texts,
        "texts-again": f"{texts}\n{texts}\n{texts} --seed 1\n{texts} --seed 1 --overwrite",
        "texts-column": f"{texts} --column text --id-column _id --dtype float16",
        "texts-title": f"{texts} --title --dimensions 2 --no-normalize --batch-size 4",
        "texts-normal": f"{texts} --title --dimensions 3 --normalize",
        "parts": f"{texts} --batch-size 1 --executor here --work work --shards 3 --threads 1",
        "mixed": f"{texts} --mixed\n{texts} --batch-size 1 --executor here --work work --shards 2 "
        "--threads 1 --mixed",
        "dry-run": f"{texts} --batch-size 1 --executor processes:9 --gpus 1 --part-timeout 60 "
        f"--dry-run\n{texts} --executor here --memory 1G",
        "images-size": images.format("small-grey") + " --batch-size 2",
        "images-cache": images.format("colour-histogram")
        + " --cache kept\n"
        + images.format("colour-histogram")
        + " --cache kept --overwrite",
        "images-callable": images.format("goldens_vectors:mean") + " --normalize",
        "images-table": "encode images museum/table.csv --root museum --model small-grey -o "
        "out/images.npy",
    }
    for model in (
        "colour-histogram",
        "colour-histogram:3",
        "small-grey",
        "small-grey:8x6",
        "colours-and-shapes",
    ):
        cases[f"images-{model.replace(':', '-')}"] = images.format(model)
    return {f"encode/{name}": lines for name, lines in cases.items()}


CASES = {**_captions(), **_agree(), **_pairs(), **_search(), **_encode()}
