"""The demos, whole: what they draw, write and print. They take seconds each, and depend on the
versions of Python and Pillow.
"""

CASES = {
    "demo/runs": "demo -o out --seed 0 --overwrite",
    "demo/agree": "demo agree -o out --samples 60 --seed 42 --overwrite",
    "demo/answers": "demo answers -o out --seed 0 --overwrite",
    "demo/captions": "demo captions -o out --seed 7 --overwrite",
    "demo/clips": "demo clips -o out --seed 0 --overwrite",
    "demo/instances": "demo instances -o out --seed 0 --overwrite",
    "demo/study": "demo study -o work --seed 0 --overwrite",
}

READ_DOCUMENTATION = ("demo/runs", "demo/agree", "demo/study")
"""Demos whose texts are the docstrings of the standard library, of `time.perf_counter` too."""
