"""Command lines about questions and answers, grids over systems that answer them, and benches over
every command.
"""

from regression.cases_runs import CONVENTIONS, FORMATS

GOLD, RANKED = "answers/gold.json", "answers/ranked.jsonl"


def _answers() -> dict[str, str]:
    base = f"answers {GOLD} {RANKED} --retrieved answers/found.run"
    texts = f"answers {GOLD} answers/texts.json"
    dpr = "answers answers/answerable.json --retrieved answers/dpr.json"
    cases = {
        "plain": base,
        "folder": f"{base} -o out --overwrite",
        "reader": f"answers {GOLD} {RANKED}",
        "retriever": f"answers {GOLD} --retrieved answers/found.run -o out",
        "isolated": f"{base} --isolated answers/isolated.jsonl -o out",
        "texts": f"{texts} -c squad2",
        "texts-folder": f"{texts} -c squad2 --na-probs answers/na.json -o out",
        "squad2-by-itself": texts,
        "nbest": f"answers {GOLD} answers/nbest.json -c squad2 -q",
        "rows": "answers answers/rows.jsonl answers/texts.json -c squad2",
        "nq": "answers answers/nq.jsonl answers/nq_given.json -c nq-open -q",
        "trivia": "answers answers/trivia.json answers/texts.json -c triviaqa -q",
        "kilt": "answers answers/kilt.jsonl answers/kilt_given.jsonl --retrieved "
        "answers/kilt_given.jsonl -c kilt -q",
        "kilt-folder": "answers answers/kilt.jsonl answers/kilt_given.jsonl --retrieved "
        "answers/kilt_given.jsonl -c kilt -o out",
        "dpr": f"{dpr} -c dpr -o out",
        "dpr-gold": "answers answers/dpr.json --retrieved answers/dpr.json -c dpr",
        "k": f"{base} -k 2 --retriever-k 3",
        "measures": f"{base} -m reader_top1_f1 -m recall -m AnswerEM@1 -m "
        "\"AnswerF1(over='mean')@3\" -m "
        "AP -q",
        "na-threshold": f"{texts} -c squad2 --na-probs answers/na.json --na-threshold 0.5",
        "na-official": f"{texts} -c squad2 --na-probs answers/na.json --na-ties official",
        "na-whole": f"{texts} -c squad2 --na-probs answers/na.json --na-ties whole -o out",
        "context-share": f"{base} --relevance context --corpus answers/corpus.tsv "
        "--context-share 0.3",
        "context-similarity": f"{base} --relevance context --corpus answers/corpus.tsv "
        "--context-similarity words "
        "--context-threshold 0.4",
        "right": f"{base} --right reader_top1_f1 --hardest 5",
        "hardest-0": f"{base} --hardest 0 -o out",
        "formats-named": f"answers {GOLD} {RANKED} --gold-format squad --predictions-format "
        "ranked --retrieved "
        "answers/found.run --retrieved-format trec --isolated answers/isolated.jsonl "
        "--isolated-format ranked",
        "t": f"{base} --intervals t -f csv",
        "none": f"{base} --intervals none --seed 3",
        "per-query": f"{base} -q",
        "answerable": "answers answers/answerable.json answers/better.json -c squad1 -q",
    }
    for name in ("squad", "english", "french", "mlqa-de", "none", "nq-open", "strip", "triviaqa"):
        cases[f"normalizer-{name}"] = f"{texts} -c squad2 --normalizer {name} -q -f csv"
    for language in ("en", "de", "es", "ar", "vi", "hi", "zh"):
        cases[f"language-{language}"] = f"{texts} -c mlqa --language {language} -q -f csv"
    for rule in ("document", "dpr", "kilt", "lower", "raw", "context"):
        cases[f"relevance-{rule}"] = f"{base} --relevance {rule} --corpus answers/corpus.tsv -q"
        cases[f"relevance-{rule}-folder"] = (
            f"{dpr} --relevance {rule} -c rankwell -m Success@1 -m AP -m nDCG@5 -o out"
        )
    for rule in ("id-desc", "id-asc", "input", "optimistic", "pessimistic", "error"):
        cases[f"ties-{rule}"] = f"{base} --ties {rule} -o out"
    for rule in ("error", "first", "best", "keep"):
        cases[f"duplicates-{rule}"] = (
            f"answers {GOLD} --retrieved answers/doubled.run --duplicates {rule} -q"
        )
    for rule in ("zero", "empty", "skip", "error"):
        cases[f"missing-{rule}"] = f"{base} --missing {rule} -q -f csv"
        cases[f"missing-{rule}-squad"] = f"{texts} -c squad2 --missing {rule}"
    for rule in ("ignore", "error"):
        cases[f"extra-{rule}"] = f"{base} --extra {rule}"
    for name in FORMATS:
        cases[f"format-{name}"] = f"{base} -f {name}"
        cases[f"format-{name}-per-query"] = f"{base} -f {name} -q"
    own = [
        "dpr",
        "french",
        "haystack-finder",
        "haystack-v1",
        "kilt",
        "mlqa",
        "nq-open",
        "piaf",
        "piaf-article",
        "squad1",
        "squad2",
        "triviaqa",
    ]
    cases["convention-refused"] = "\n".join(
        f"{base} -c {name}" for name in CONVENTIONS if name not in own
    )
    for name in own:
        cases[f"convention-{name}"] = f"{base} -c {name}\n{dpr} -c {name}"
        cases[f"convention-{name}-texts"] = (
            f"answers answers/answerable.json answers/better.json -c {name} --missing empty "
            "-q -f csv\n"
            "answers answers/answerable.json answers/ranked.jsonl --retrieved "
            f"answers/found.run -c {name} -q"
        )
        cases[f"convention-{name}-folder"] = (
            "answers answers/answerable.json answers/ranked.jsonl --retrieved "
            f"answers/found.run -c {name} --missing zero -o out"
        )
    return {f"answers/{name}": lines for name, lines in cases.items()}


def _grids() -> dict[str, str]:
    grid = "answers grid answers/grid.toml -o out"
    cases = {
        "plain": f"{grid}\n{grid}",
        "jobs": f"{grid} --jobs 2",
        "fresh": f"{grid} --fresh -f json --overwrite",
        "files": "answers grid answers/files.toml -f json",
    }
    return {f"grid/{name}": lines for name, lines in cases.items()}


def _benches() -> dict[str, str]:
    bench = "bench bench.toml -o out"
    array = f"{bench} --only 'runs/*' --executor array --work work --threads 1 --gpus 2"
    shown = (
        "--baseline one",
        "--mean --intervals --side-by-side",
        "--no-mean --no-intervals --no-side-by-side",
        "-m AP -m P@5",
    )
    again = (
        f"cp b.run runs/bench/one.run\n{bench} --dry-run\n{bench} --only 'runs/*'\n{bench} "
        "--force --only 'videos/one'"
    )
    cases = {
        "whole": "\n".join(
            [f"{bench} --dry-run", bench, *(f"{bench} -f {name}" for name in (*FORMATS, "html"))]
        ),
        "jobs": f"{bench} --only 'runs/*' --only 'numbers/*' --jobs 2 --overwrite",
        "pages": f"{bench} --only 'runs/*' --pages",
        "parts": f"{bench} --only 'runs/*' --executor here\n{bench} --executor here --memory "
        f"1G\n{bench} --executor here --part-timeout 60",
        "array": f"{array}\npart work --status\n{array}",
        "again": "\n".join([bench, again, *(f"{bench} {options}" for options in shown)]),
    }
    return {f"bench/{name}": lines for name, lines in cases.items()}


CASES = {**_answers(), **_grids(), **_benches()}
