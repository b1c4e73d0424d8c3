"""Drawn inputs made of arrays: captions against videos, embeddings of several models, annotated
clips, labelled images.
"""

import json
from pathlib import Path
from random import Random

import numpy as np

CAPTIONS, VIDEOS = 24, 8
CLIPS = [f"drive{place % 4}_clip{place:02}.mp4" for place in range(26)]
OBJECTS, ACTIONS, SCENES = (
    ["bicyclist", "pedestrian", "small vehicle"],
    ["entering ego path", "stationary"],
    ["urban", "highway", "night"],
)


def build(folder: Path) -> None:
    """Writes captions/, vectors/, clips/ and images/."""
    _captions(folder / "captions")
    _vectors(folder / "vectors")
    _clips(folder / "clips")
    _images(folder / "images")
    _pictures(folder / "museum")


def signs(seed: int, rows: int, columns: int) -> np.ndarray:
    """Vectors of 1 and -1: sums and lengths of 16 of them are exact, and many cosines are equal."""
    return np.where(np.random.default_rng(seed).random((rows, columns)) < 0.5, -1, 1).astype(
        np.float32
    )


def save_signs(path: Path, ids: list[str]) -> None:
    """A file of such vectors with their ids beside it."""
    np.save(path, signs(71, len(ids), 16))
    _lines(path.with_suffix(".ids.txt"), ids)


def eighths(seed: int, rows: int, columns: int, levels: int) -> np.ndarray:
    """Scores in steps of an eighth."""
    return (np.random.default_rng(seed).integers(0, levels, (rows, columns)) / 8).astype(np.float32)


def _json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _captions(folder: Path) -> None:
    """Three captions a video; scores with ties, also within a row between right and wrong videos;
    some equal captions.
    """
    folder.mkdir()
    owner = np.arange(CAPTIONS) // 3
    right = owner[:, None] == np.arange(VIDEOS)[None, :]
    tied = eighths(1, CAPTIONS, VIDEOS, 6) + right * np.float32(0.25)
    tied[4] = tied[3]
    clear = (
        np.random.default_rng(2).permutation(CAPTIONS * VIDEOS).reshape(CAPTIONS, VIDEOS) / 64
        + right
    ).astype(np.float32)
    np.save(folder / "tied.npy", tied)
    np.save(folder / "clear.npy", clear)
    np.save(folder / "square.npy", eighths(3, VIDEOS, VIDEOS, 9) + np.eye(VIDEOS, dtype=np.float32))
    np.save(folder / "other.npy", eighths(4, CAPTIONS, VIDEOS, 40) + right * np.float32(1.5))
    np.save(folder / "bank.npy", eighths(5, 12, VIDEOS, 9))
    _json(folder / "positives.json", [[int(each)] for each in owner])
    _json(
        folder / "several.json",
        [
            [int(each), (int(each) + 1) % VIDEOS] if place % 4 == 0 else [int(each)]
            for place, each in enumerate(owner)
        ],
    )
    _json(
        folder / "gaps.json",
        [[] if place in (2, 9) else [int(each)] for place, each in enumerate(owner)],
    )
    names = [f"t{place}" for place in range(CAPTIONS)]
    videos = [f"v{place}" for place in range(VIDEOS)]
    _lines(folder / "captions.ids.txt", names)
    _lines(folder / "videos.ids.txt", videos)
    _json(
        folder / "by_id.json",
        {name: [videos[each]] for name, each in zip(names, owner, strict=True)},
    )
    _lines(
        folder / "qrels.csv",
        [
            "query,item",
            *(f"{name},{videos[each]}" for name, each in zip(names, owner, strict=True)),
        ],
    )
    _json(folder / "nothing.json", [[] for _ in range(VIDEOS)])
    _lines(folder / "counts.txt", ["3"] * VIDEOS)
    _lines(folder / "groups.txt", [str(each) for each in owner])
    _lines(
        folder / "texts.txt",
        [f"caption {place - place % 2 if place < 6 else place} of it" for place in range(CAPTIONS)],
    )
    _json(folder / "mask.json", [0 if place in (5, 6, 23) else 1 for place in range(CAPTIONS)])
    np.save(folder / "queries.npy", signs(6, CAPTIONS, 16))
    np.save(folder / "gallery.npy", signs(7, VIDEOS, 16))
    np.save(
        folder / "float_queries.npy",
        np.random.default_rng(8).standard_normal((CAPTIONS, 6)).astype(np.float32),
    )
    np.save(
        folder / "float_gallery.npy",
        np.random.default_rng(9).standard_normal((VIDEOS, 6)).astype(np.float32),
    )


def _vectors(folder: Path) -> None:
    """A reference and two candidates over the same items, exact ones with ties and plain floats;
    labels and pairs.
    """
    folder.mkdir()
    n = 40
    teacher = signs(21, n, 16)
    for name, seed, share in (("near", 22, 0.1), ("far", 23, 0.4)):
        flip = np.random.default_rng(seed).random(teacher.shape) < share
        np.save(folder / f"{name}.npy", np.where(flip, -teacher, teacher))
    np.save(folder / "teacher.npy", teacher)
    (folder / "scholar-deep.toml").write_text(
        'base = "scholar-stream"\n[tasks.embeddings]\ngold_depth = 5\n'
    )
    (folder / "deep.toml").write_text('base = "rankwell"\n[tasks.embeddings]\ngold_depth = 3\n')
    real = np.random.default_rng(24).standard_normal((n, 8))
    np.save(folder / "real.npy", real.astype(np.float32))
    np.save(
        folder / "noisy.npy",
        (real + 0.4 * np.random.default_rng(25).standard_normal(real.shape)).astype(np.float32),
    )
    np.save(folder / "short.npy", real[:, :3].astype(np.float32))
    names = [f"p{place:02}" for place in range(n)]
    _lines(folder / "ids.txt", names)
    _lines(folder / "groups.txt", [f"g{place % 13}" for place in range(n)])
    _lines(
        folder / "labels.csv",
        [
            "query,item,grade",
            *(f"p{place:02},p{(place * 7 + 3) % n:02},1" for place in range(0, n, 2)),
        ],
    )
    np.save(folder / "base.npy", signs(26, 30, 16))
    np.save(folder / "asked.npy", signs(27, 6, 16))
    _lines(folder / "base_ids.txt", [f"b{place}" for place in range(30)])
    _lines(folder / "asked_ids.txt", [f"b{place * 3}" for place in range(6)])
    _lines(folder / "base_groups.txt", [f"g{place % 5}" for place in range(30)])
    _lines(folder / "asked_groups.txt", [f"g{place % 3}" for place in range(6)])
    random = Random(28)
    rows = [
        (random.randrange(6), random.randrange(33) / 8, random.randrange(33) / 8, "xyz"[place % 3])
        for place in range(36)
    ]
    _lines(
        folder / "pairs.csv",
        [
            "score,one,two,kind",
            *(f"{score},{one + score / 2},{two},{kind}" for score, one, two, kind in rows),
        ],
    )
    _lines(folder / "targets.txt", [str(row[0]) for row in rows])
    _lines(folder / "forty.txt", [str(random.randrange(9) / 8) for _ in range(n)])
    _lines(folder / "model.txt", [str(row[1] + row[0]) for row in rows])


def _clips(folder: Path) -> None:
    """Annotated clips with vectors of two models, texts, a run, a schema, and an annotation table
    with mistakes.
    """
    folder.mkdir()
    random = Random(31)
    cells = {
        clip: [
            random.sample(OBJECTS, random.randint(0, 2)),
            random.sample(ACTIONS, random.randint(0, 1)),
            random.sample(SCENES, 1),
        ]
        for clip in CLIPS
    }
    cells[CLIPS[-1]] = [[], [], []]
    rows = [
        ",".join([clip, *(f'"{", ".join(each)}"' for each in cells[clip]), clip.split("_")[0]])
        for clip in CLIPS
    ]
    _lines(folder / "table.csv", ["slice_id,object type,actor behavior,scene type,drive", *rows])
    odd = [
        'x1.mp4,"bicyclist, Bicyclists, cyclist",flying,urban,d1',
        "x2.mp4,,,,d2",
        'x3.mp4,car,"stationary, none",Urban ,d2',
    ]
    _lines(
        folder / "odd.csv",
        ["slice_id,object type,actor behavior,scene type,drive", *odd, *rows[:4]],
    )
    _json(
        folder / "schema.json",
        {
            "object type": [
                "bicyclist",
                "pedestrian",
                {"label": "small vehicle", "aliases": ["car"]},
                {"label": "sedan", "parent": "small vehicle"},
            ],
            "actor behavior": [*ACTIONS, "turning"],
            "scene type": [*SCENES, "parking lot/depot"],
        },
    )
    np.save(folder / "vectors.npy", signs(32, len(CLIPS), 16))
    _lines(folder / "vectors.ids.txt", CLIPS)
    np.save(folder / "bare.npy", signs(32, len(CLIPS), 16))
    np.save(
        folder / "real.npy",
        np.random.default_rng(33).standard_normal((len(CLIPS), 6)).astype(np.float32),
    )
    _lines(folder / "real.ids.txt", CLIPS)
    np.save(folder / "part.npy", signs(34, len(CLIPS) - 3, 16))
    _lines(folder / "part.ids.txt", [*CLIPS[:-4], "stranger.mp4"])
    _lines(folder / "ids.txt", CLIPS)
    texts = [
        ("t1", "a cyclist entering ego path", "bicyclist, entering ego path"),
        ("t2", "pedestrian at night but no bicyclist", "pedestrian, night"),
        ("t3", "small vehicle on the highway", "small vehicle, highway"),
        ("t4", "something else entirely", ""),
        ("t5", "urban", "urban"),
    ]
    _lines(
        folder / "queries.csv",
        ["id,text,keywords", *(f'{name},{text},"{words}"' for name, text, words in texts)],
    )
    _lines(folder / "queries.txt", [text for _, text, _ in texts])
    np.save(folder / "texts.npy", signs(35, len(texts), 16))
    np.save(folder / "bare_texts.npy", signs(35, len(texts), 16))
    _lines(folder / "texts.ids.txt", [name for name, _, _ in texts])
    names = [
        f"{group}: {label}"
        for group, labels in (
            ("object type", OBJECTS),
            ("actor behavior", ACTIONS),
            ("scene type", SCENES),
        )
        for label in labels
    ]
    np.save(folder / "names.npy", signs(36, len(names), 16))
    lines = [
        f"{clip} Q0 {other} 1 {random.randrange(12) / 4} x"
        for clip in CLIPS[:-2]
        for other in random.sample(CLIPS, 9)
    ]
    _lines(folder / "clips.run", lines)
    lines = [
        f"{name} Q0 {other} 1 {random.randrange(12) / 4} x"
        for name, _, _ in texts
        for other in random.sample(CLIPS, 9)
    ]
    _lines(folder / "texts.run", lines)
    for name, base, rule in (
        ("no-results", "rankwell", 'no_results = "skip"'),
        ("after", "rankwell", 'self_rule = "after"'),
        ("weighted", "rankwell", 'weight_by = "relevant"'),
        ("alfa-after", "alfa", 'self_rule = "after"'),
        ("no-keywords-empty", "rankwell", 'no_keywords = "empty"'),
        ("no-keywords-vacuous", "rankwell", 'no_keywords = "vacuous"'),
        ("no-keywords-error", "rankwell", 'no_keywords = "error"'),
    ):
        (folder / f"{name}.toml").write_text(f'base = "{base}"\n[tasks.keywords]\n{rule}\n')
    (folder.parent / "goldens_engine.py").write_text(ENGINE)


ENGINE = '''\
"""A live engine over the clips of this folder."""

from pathlib import Path

CLIPS = Path("clips/ids.txt").read_text().split()


class Engine:
    def search_by_text(self, query, top_k=10):
        ranked = sorted(CLIPS, key=lambda clip: (len(query) * (CLIPS.index(clip) + 3)) % 17)
        return [{"slice_id": clip, "similarity": 1 - place / 64} for place, clip in enumerate(ranked[:top_k])]

    def search(self, query, k=10):
        return self.search_by_text(query, k)


engine = Engine()
'''


VECTORS = '''\
"""Vectors of pictures by a function: the sums of the channels."""

import numpy as np
from PIL import Image


def mean(paths):
    pixels = [np.asarray(Image.open(path).convert("RGB"), dtype=np.int64) for path in paths]
    return np.array([each.sum(axis=(0, 1)) for each in pixels], dtype=np.float32)
'''


def _images(folder: Path) -> None:
    """A data set of images as a table and as JSON, with cameras, groups, distractors and instances
    that no reference shows.
    """
    folder.mkdir()
    labels = ["mona", "oak", "vase", "coin"]
    references = [(f"r{place}", labels[place % 4], f"c{place % 3}", "0") for place in range(14)] + [
        ("wall1", "", "c0", "1"),
        ("wall2", "", "c1", "1"),
        ("r16", "", "c1", "0"),
    ]
    queries = [
        (f"q{place}", [*labels, "lost"][place % 5], f"c{place % 2}", "0") for place in range(13)
    ]
    rows = [
        f"{name},{label},reference,{camera},{label or name},{empty}"
        for name, label, camera, empty in references
    ]
    rows += [f"{name},{label},query,{camera},{label},0" for name, label, camera, _ in queries]
    _lines(folder / "table.csv", ["image,instance,split,camera,group,contentless", *rows])
    _lines(
        folder / "plain.csv",
        ["image,instance,split", *(",".join(row.split(",")[:3]) for row in rows)],
    )
    _lines(folder / "queries.ids.txt", [each[0] for each in queries])
    _lines(folder / "references.ids.txt", [each[0] for each in references])
    _lines(folder / "all.ids.txt", [each[0] for each in [*references, *queries]])
    scores = eighths(41, len(queries), len(references), 7)
    right = np.array(
        [[query[1] == reference[1] != "" for reference in references] for query in queries]
    )
    for name, lift in (("scores", 0.25), ("better", 0.75)):
        np.save(folder / f"{name}.npy", scores + right * np.float32(lift))
        _lines(folder / f"{name}.queries.txt", [each[0] for each in queries])
        _lines(folder / f"{name}.references.txt", [each[0] for each in references])
    everything = signs(42, len(references) + len(queries), 16)
    np.save(folder / "all.npy", everything)
    np.save(folder / "references.npy", everything[: len(references)])
    np.save(folder / "queries.npy", everything[len(references) :])
    real = (
        np.random.default_rng(43)
        .standard_normal((len(references) + len(queries), 6))
        .astype(np.float32)
    )
    np.save(folder / "real.npy", real)
    _lines(folder / "real.ids.txt", [each[0] for each in [*references, *queries]])
    np.save(
        folder / "learn.npy", np.random.default_rng(44).standard_normal((20, 6)).astype(np.float32)
    )
    _json(
        folder / "positives.json",
        {each[0]: [other[0] for other in references if other[1] == each[1]] for each in queries},
    )
    _json(
        folder / "revisited.json",
        {
            "imlist": [each[0] for each in references],
            "qimlist": [each[0] for each in queries],
            "gnd": [
                {
                    "easy": [place % 14],
                    "hard": [(place + 5) % 14, (place + 7) % 14],
                    "junk": [(place + 9) % 14],
                    "bbx": [0, 0, 1, 1],
                }
                for place in range(len(queries))
            ],
        },
    )
    _json(folder / "place.json", [[place % 17, (place + 1) % 17] for place in range(len(queries))])
    keeping = 'absent = "keep"\n'
    (folder / "absent.toml").write_text(f'base = "thesis"\n[tasks.images]\n{keeping}')
    (folder / "keep").mkdir()
    for name in [
        "trec_eval10",
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
    ]:
        (folder / "keep" / f"{name}.toml").write_text(
            f'base = "{name}"\n[tasks.images]\n{keeping}contentless = "keep"\n'
        )
    (folder / "all").mkdir()
    for name in [
        "gldv2",
        "market1501",
        "oxford",
        "revisited-E",
        "revisited-H",
        "revisited-M",
        "sop",
        "thesis",
        "thesis-code",
        "torchreid",
        "trec_eval10",
        "vpr",
    ]:
        (folder / "all" / f"{name}.toml").write_text(
            f'base = "{name}"\n[tasks.images]\nexclude = []\n'
        )
    for name, text in BENCHES.items():
        (folder / name).write_text(text, encoding="utf-8")


_KEPT = '[table]\ncosts = true\nresults = ["../res/one", "../res/two"]\n'
BENCHES = {
    "systems.toml": """\
[table]
costs = true

[[dataset]]
name = "plain"
title = "Plain"
command = "images"
convention = "thesis"
images = "plain.csv"
scores = "{system}.npy"
query_ids = "queries.ids.txt"
item_ids = "references.ids.txt"

[[system]]
name = "scores"

[[system]]
name = "better"
title = "A better one"
""",
    "kept.toml": _KEPT,
    "pages.toml": _KEPT + "pages = true\n",
    "described.toml": f"""\
{_KEPT}
[[system]]
name = "scores"
notes = "drawn"

[system.training]
time = "2 h"
hardware = "none"
data = "nothing"
""",
    "published.toml": """\
[table]
costs = true
published = true
results = ["CLICIDE=../res/one"]
""",
    "tested.toml": f"{_KEPT}\n[comparison]\nlevel = 0.5\nresamples = 500\nseed = 3\n",
    "named.toml": _KEPT.replace("../res/one", "first=../res/one").replace(
        "../res/two", "second=../res/two"
    ),
}
"""Benches of images with what each system took."""


def _pictures(folder: Path) -> None:
    """Small pictures: references/INSTANCE/ and queries/INSTANCE/, each a pattern of its instance
    with marks of its own.
    """
    from PIL import Image

    random = Random(51)
    for kind, instance, number in (
        ("references", "mona", 2),
        ("references", "oak", 2),
        ("references", "wall", 1),
        ("queries", "mona", 2),
        ("queries", "oak", 1),
        ("queries", "lost", 1),
    ):
        for place in range(number):
            pixels = np.zeros((24, 32, 3), dtype=np.uint8)
            pattern = np.random.default_rng(len(instance) * 7 + ord(instance[0])).integers(
                0, 256, (3, 4, 3), dtype=np.uint8
            )
            pixels[:] = np.kron(pattern, np.ones((8, 8, 1), dtype=np.uint8))
            pixels[random.randrange(16) :, random.randrange(24) :] = random.randrange(256)
            path = folder / kind / instance / f"{place}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(path)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.png"))
    rows = [
        f"{name},{name.split('/')[1]},{name.split('/')[0].removesuffix('s').replace('querie', 'query')}"
        for name in files
    ]
    _lines(folder / "table.csv", ["image,instance,split", *rows])
    (folder.parent / "goldens_vectors.py").write_text(VECTORS)
    thumbnails = folder.parent / "pictures"
    thumbnails.mkdir()
    for place, clip in enumerate(CLIPS[:6]):
        Image.new("RGB", (20, 12), (place * 40, 255 - place * 40, 99)).save(
            thumbnails / f"{clip}.png"
        )
    for place in range(1, 5):
        Image.new("RGB", (16, 16), (place * 60, 9, 90)).save(thumbnails / f"d{place}.png")
