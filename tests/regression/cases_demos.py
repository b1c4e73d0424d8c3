"""The demos, whole: what they draw, write and print. They take seconds each, and depend on the versions of Python and Pillow."""

CASES = {
    "demo/runs": "demo -o out",
    "demo/agree": "demo agree -o out --samples 60",
    "demo/answers": "demo answers -o out",
    "demo/captions": "demo captions -o out",
    "demo/clips": "demo clips -o out",
    "demo/instances": "demo instances -o out",
}
