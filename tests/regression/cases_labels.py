"""Command lines over annotated things: clips with keywords, and images with instances."""

from regression.cases_runs import CONVENTIONS, FORMATS, TIES


def _clips() -> dict[str, str]:
    base = "clips evaluate --annotations clips/table.csv --embeddings clips/vectors.npy"
    text = (
        "clips evaluate --annotations clips/table.csv --mode text --queries clips/queries.csv "
        "--embeddings clips/vectors.npy --text-embeddings clips/texts.npy"
    )
    run = "clips evaluate --annotations clips/table.csv --run clips/clips.run"
    many = "-m P -m R -m AP -m nDCG -m RR -m Success -m Rprec -m ERR@3 -m AP@5"
    cases = {
        "plain": base,
        "folder": f"{base} -o out --sheets 2 --overwrite",
        "thumbnails": f"{base} --thumbnails pictures/{{id}}.png --sheets 2 -o out",
        "per-query": f"{base} -q",
        "groups": f"{base} --groups 'object type,scene type'",
        "keywords": f"{base} --keywords 'bicyclist,urban,scene type: night' -q",
        "cut-offs": f"{base} -k 2,7",
        "measures": f"{base} {many}",
        "real": "clips evaluate --annotations clips/table.csv --embeddings clips/real.npy -o out",
        "part": "clips evaluate --annotations clips/table.csv --embeddings clips/part.npy -q",
        "bare": "clips evaluate --annotations clips/table.csv --embeddings clips/bare.npy --ids "
        "clips/ids.txt",
        "schema": f"{base} --schema clips/schema.json -o out",
        "min-similarity": f"{base} --min-similarity 0.25",
        "query-clips": f"{base} --query-clips 'bicyclist,scene type: night' -q",
        "no-results": f"{base} --min-similarity 0.25 --no-results skip",
        "exclude-drive": f"{base} --exclude-group drive",
        "exclude-id": f"{base} --exclude-group id:_clip -q",
        "run": run,
        "run-folder": f"{run} -o out",
        "run-text": "clips evaluate --annotations clips/table.csv --mode text --queries "
        "clips/queries.csv "
        "--run clips/texts.run -o out",
        "text": text,
        "text-folder": f"{text} --schema clips/schema.json -o out",
        "text-lines": "clips evaluate --annotations clips/table.csv --mode text --queries "
        "clips/queries.txt "
        "--embeddings clips/vectors.npy --text-embeddings clips/bare_texts.npy -q",
        "text-names": "clips evaluate --annotations clips/table.csv --mode text --embeddings "
        "clips/vectors.npy --text-embeddings clips/names.npy -q",
        "text-cover": f"{text} --strategy cover",
        "text-engine": "clips evaluate --annotations clips/table.csv --mode text --queries "
        "clips/queries.csv "
        "--engine goldens_engine:engine -o out",
        "odd": "clips evaluate --annotations clips/odd.csv --embeddings clips/vectors.npy",
        "t": f"{base} --intervals t -f csv",
        "none": f"{base} --intervals none --seed 4",
        "err-expected": f"{base} --ties expected -m ERR@3",
    }
    for rule in ("all", "any", "jaccard>=0.5", "graded"):
        plain = rule.replace(">=", "-")
        cases[f"relevance-{plain}"] = f"{base} --relevance '{rule}' {many} -q"
        cases[f"relevance-{plain}-folder"] = f"{base} --relevance '{rule}' -o out"
        cases[f"relevance-{plain}-text"] = f"{text} --relevance '{rule}' {many}"
    for rule in ("before", "after"):
        cases[f"self-{rule}"] = f"{base} --self {rule} {many}"
        cases[f"self-{rule}-run"] = f"{run} --self {rule}"
    for rule in ("skip", "empty", "vacuous", "error"):
        cases[f"no-keywords-{rule}"] = f"{base} --no-keywords {rule} -q -f csv"
    for rule in ("skip", "empty", "error"):
        cases[f"no-relevant-{rule}"] = f"{base} --no-relevant {rule} -q -f csv"
    for rule in ("nonrelevant", "skip", "error"):
        cases[f"unjudged-{rule}"] = (
            "clips evaluate --annotations clips/table.csv --embeddings clips/part.npy "
            f"--unjudged {rule}"
        )
    for rule in ("uniform", "relevant"):
        cases[f"weights-{rule}"] = f"{base} --weights {rule} -o out"
    for rule in TIES:
        cases[f"ties-{rule}"] = f"{base} --ties {rule} {many} -q"
        cases[f"ties-{rule}-folder"] = f"{base} --ties {rule} -o out"
        if rule in ("id-desc", "id-asc", "input", "expected"):
            cases[f"ties-{rule}-run"] = f"{run} --ties {rule}"
        cases[f"ties-{rule}-text"] = f"{text} --ties {rule}"
    for metric in ("cosine", "dot", "l2"):
        cases[f"metric-{metric}"] = f"{base} --metric {metric} -q"
    for name in FORMATS:
        cases[f"format-{name}"] = f"{base} -f {name}"
        cases[f"format-{name}-per-query"] = f"{base} -f {name} -q"
    cases["convention-all"] = "\n".join(f"{base} -c {name}" for name in CONVENTIONS)
    cases["convention-alfa-folder"] = f"{base} -c alfa -q -o out"
    cases["convention-alfa-after"] = f"{base} -c alfa --self after"
    return {f"clips/{name}": lines for name, lines in cases.items()}


def _clips_others() -> dict[str, str]:
    texts = (
        "'a cyclist entering ego path' 'no pedestrian at night' 'a car on the highway, not urban' "
        "'nothing known'"
    )
    cases = {
        "map": f"clips map {texts} --annotations clips/table.csv",
        "map-why": f"clips map {texts} 'truck behind us in the right lane' --annotations "
        "clips/table.csv "
        "--schema clips/schema.json --why",
        "map-schema": f"clips map {texts} 'sedan in a parking lot' --annotations "
        "clips/table.csv --schema "
        "clips/schema.json",
        "map-groups": f"clips map {texts} --annotations clips/table.csv --groups 'object "
        "type,actor "
        "behavior'",
        "map-cover": f"clips map {texts} --annotations clips/table.csv --strategy cover -f json",
        "map-algorithm1": f"clips map {texts} --annotations clips/table.csv --strategy algorithm1",
        "lint": "clips lint clips/odd.csv",
        "lint-schema": "clips lint clips/odd.csv --schema clips/schema.json",
        "lint-strict": "clips lint clips/odd.csv --schema clips/schema.json --strict\nclips lint "
        "clips/table.csv --strict",
        "lint-groups": "clips lint clips/table.csv --groups drive",
        "lint-queries": "clips lint clips/odd.csv --schema clips/schema.json --queries "
        "clips/queries.csv "
        "--strict\n"
        "clips lint clips/table.csv --queries clips/queries.txt --strategy cover -f json",
        "lint-queries-wrong": "clips lint clips/table.csv --encoder model\n"
        "clips lint clips/table.csv --queries clips/queries.csv --strategy algorithm1\n"
        "clips lint clips/table.csv --queries clips/queries.csv --keyword-threshold 0.5",
        "template": "clips template pictures",
        "template-file": "clips template pictures/*.png clips/ids.txt -o out.csv\nclips "
        "template clips/ids.txt "
        "-o out.csv\n"
        "clips template clips/table.csv:slice_id -o out.csv --overwrite",
        "template-schema": "clips template pictures --schema clips/schema.json",
        "template-groups": "clips template pictures --groups 'weather,road'",
    }
    for name in FORMATS:
        cases[f"map-format-{name}"] = f"clips map {texts} --annotations clips/table.csv -f {name}"
        cases[f"lint-format-{name}"] = (
            f"clips lint clips/odd.csv --schema clips/schema.json -f {name}"
        )
    return {f"clips/{name}": lines for name, lines in cases.items()}


def _instances() -> dict[str, str]:
    ids = "--query-ids images/queries.ids.txt --reference-ids images/references.ids.txt"
    base = f"instances evaluate images/table.csv --scores images/scores.npy {ids}"
    vectors = (
        "instances evaluate images/table.csv --embeddings images/all.npy --ids images/all.ids.txt"
    )
    real = "instances evaluate images/table.csv --embeddings images/real.npy"
    many = "-m P -m R -m AP -m APatR -m cmc -m TP/PRED -m nDCG -m RR -m Success -m ERR@3"
    cases = {
        "plain": base,
        "two": f"{base} --scores images/better.npy -o out",
        "folder": f"{base} -o out --overwrite",
        "named": f"instances evaluate museum=images/table.csv --scores images/scores.npy {ids} "
        "--run "
        "mine -o out",
        "vectors": vectors,
        "vectors-folder": f"{vectors} -o out",
        "sides": "instances evaluate images/table.csv --queries images/queries.npy --references "
        f"images/references.npy {ids} -o out",
        "real": f"{real} -o out",
        "plain-table": f"instances evaluate images/plain.csv --scores images/scores.npy {ids}",
        "positives": "instances evaluate --scores images/scores.npy --positives "
        "images/positives.json "
        f"{ids}",
        "positions": "instances evaluate --scores images/scores.npy --positives "
        f"images/place.json {ids} "
        "-c vpr -q",
        "revisited": "instances evaluate images/revisited.json --scores images/scores.npy "
        f"{ids} -o out",
        "per-query": f"{base} -q",
        "confidence": f"{base} -c vpr --confidence max --confidence diff1",
        "clusters": f"{vectors} --clusters kmeans --seed 3 -o out",
        "clusters-given": f"{vectors} --clusters images/table.csv:instance",
        "measures": f"{base} {many}",
        "cut": f"{base} --cut 3",
        "cut-offs": f"{base} -k 2,4 -m P -m R",
        "check": f"{base} --check 70.08 --check 50.0",
        "t": f"{base} --intervals t -f csv",
        "none": f"{base} --intervals none --seed 4",
        "encoder": "instances evaluate museum --encoder colour-histogram -o out",
        "encoder-grey": "instances evaluate museum --encoder small-grey --cache kept --sheets "
        "1 --batch-size "
        "2 -o out",
        "encoder-callable": "instances evaluate museum --encoder goldens_vectors:mean --sheets "
        "0 -o out",
        "contentless-pattern": "instances evaluate museum --encoder small-grey "
        "--contentless-images '*wall*' "
        "--sheets 0 -o out",
        "apart": "instances evaluate museum/references --query-images museum/queries --encoder "
        "small-grey",
        "pattern": "instances evaluate museum/references/mona --query-images museum/queries/mona "
        "--pattern '{instance}.png' --encoder small-grey",
        "root": "instances evaluate museum/table.csv --root museum --encoder small-grey",
        "sift": "instances evaluate museum --local-features sift --score matches --longest 64 "
        "--processes 1",
        "rootsift": "instances evaluate museum --local-features rootsift",
        "match": "instances match museum -o out/match.npy --workers 1 --overwrite",
        "match-options": "instances match museum -o out/match.npy --descriptor sift --score "
        "matches --longest "
        "20 --features 50 --ratio 0.9 "
        "--reprojection 3 --processes 1 --cache kept --seed 2",
        "match-pictures": "instances match museum/references/mona -o out/match.npy --query-images "
        "museum/queries/mona "
        "--pattern '{instance}.png' --root museum --longest 20",
        "learn": f"{real} --transform 'whitening(dimensions=3)' --learn images/learn.npy",
        "chain": f"{real} --transform 'whitening(dimensions=4)' --transform "
        "'query-expansion(k=2,alpha=1)' -o out",
    }
    for transform in (
        "query-expansion(k=3,alpha=2)",
        "database-augmentation(k=2,alpha=1)",
        "whitening",
        "whitening(dimensions=2,power=1)",
        "reciprocal(k1=4,k2=2,weight=0.5)",
        "reciprocal",
    ):
        plain = "-".join(
            "".join(letter if letter.isalnum() else " " for letter in transform).split()
        )
        cases[f"transform-{plain}"] = f"{real} --transform '{transform}' -q -f csv"
    cases["transform-dual-softmax"] = (
        f"{base} --transform 'dual-softmax(temperature=0.5)' -q -f csv"
    )
    for metric in ("cosine", "dot", "l2"):
        cases[f"metric-{metric}"] = f"{vectors} --metric {metric} -q"
        cases[f"metric-{metric}-real"] = f"{real} --metric {metric} -f csv -q"
    for rule in ("self", "camera", "group", "self,camera", "none"):
        cases[f"exclude-{rule.replace(',', '-')}"] = f"{base} --exclude {rule} {many} -q"
    for rule in ("filter", "keep"):
        cases[f"contentless-{rule}"] = f"{base} --contentless {rule} -o out"
        cases[f"absent-{rule}"] = f"{base} --absent {rule} {many}"
    for rule in ("empty", "skip", "error"):
        cases[f"no-relevant-{rule}"] = f"{base} --absent keep --no-relevant {rule} -q -f csv"
    for rule in (*TIES, "input-desc"):
        cases[f"ties-{rule}"] = f"{base} --ties {rule} {many} -q"
        cases[f"ties-{rule}-folder"] = f"{base} --ties {rule} -o out"
        cases[f"ties-{rule}-vectors"] = f"{vectors} --ties {rule} {many}"
    for name in FORMATS:
        cases[f"format-{name}"] = f"{base} -f {name}"
        cases[f"format-{name}-per-query"] = f"{base} -f {name} -q"
    for name in CONVENTIONS:
        cases[f"convention-{name}"] = f"{base} -c {name}"
    own = [
        "rankwell",
        "thesis",
        "thesis-code",
        "oxford",
        "revisited-E",
        "revisited-M",
        "revisited-H",
        "gldv2",
        "market1501",
        "torchreid",
        "sop",
        "vpr",
    ]
    for name in own:
        data = "revisited.json" if name.startswith("revisited") else "table.csv"
        other = f"instances evaluate images/{data} --scores images/scores.npy {ids}"
        cases[f"convention-{name}-more"] = (
            f"{vectors} -c {name} --absent keep --contentless keep --no-relevant skip\n"
            f"instances evaluate images/revisited.json --scores images/better.npy {ids} -c "
            f"{name} -q -f csv\n{other} -c {name} --exclude none -f csv"
        )
        cases[f"convention-{name}-folder"] = f"{other} -c {name} --no-relevant skip -f csv -o out"
    return {f"instances/{name}": lines for name, lines in cases.items()}


def _instances_others() -> dict[str, str]:
    made = (
        "instances evaluate one=images/table.csv --scores images/scores.npy --scores "
        "images/better.npy "
        "--query-ids images/queries.ids.txt --reference-ids images/references.ids.txt -o res/one\n"
        "instances evaluate two=images/plain.csv --scores images/better.npy --query-ids "
        "images/queries.ids.txt "
        "--reference-ids images/references.ids.txt -o res/two\n"
    )
    table = "instances table res/one res/two"
    cases = {
        "stats": "instances stats images/table.csv rev=images/revisited.json museum -o out "
        "--overwrite",
        "stats-keep": "instances stats images/table.csv --contentless keep --absent keep "
        "--objects things",
        "stats-published": "instances stats CLICIDE=images/table.csv --published --objects "
        "paintings",
        "stats-pictures": "instances stats museum/references --query-images museum/queries "
        "--contentless-images "
        "'*wall*'",
        "stats-root": "instances stats museum/table.csv --root museum",
        "stats-pattern": "instances stats museum/references/mona --query-images "
        "museum/queries/mona --pattern "
        "'{instance}.png'",
        "table": f"{made}{table}",
        "table-folder": f"{made}{table} -o out --overwrite",
        "table-pages": f"{made}{table} --pages -o out",
        "table-system": f"{made}{table} --system scores=images/system.toml",
        "table-published": f"{made}instances table CLICIDE=res/one --published",
        "table-measure": f"{made}{table} -m MAP --alpha 0.5 --resamples 500 --seed 3",
        "table-experiment": "instances table images/systems.toml --jobs 1\ninstances table "
        "images/systems.toml -f "
        "json",
        "table-names": f"{made}instances table first=res/one second=res/two",
    }
    for name in (*FORMATS, "html"):
        cases[f"table-format-{name}"] = f"{made}{table} -f {name}"
    for name in FORMATS:
        cases[f"stats-format-{name}"] = (
            f"instances stats images/table.csv rev=images/revisited.json -f {name}"
        )
    return {f"instances/{name}": lines for name, lines in cases.items()}


CASES = {**_clips(), **_clips_others(), **_instances(), **_instances_others()}
