"""Write the coefficients of krippendorff and irrCAC for seeded cases to `agreement.json`.

Needs, in an environment of its own (irrCAC takes no NumPy 2): krippendorff 0.9.0, irrCAC 0.4.4. Run
it from the project root: `python tests/golden/make_agreement.py`.
"""

import json
import math
import random
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC

SEED = 20261125
OUT = Path(__file__).parent / "agreement.json"
ABOUT = {
    "tools": {name: version(name) for name in ("krippendorff", "irrCAC")},
    "command": "python tests/golden/make_agreement.py",
    "date": "2026-11-25",
    "seed": SEED,
}
SCALES = ((0, 1), (0, 1, 2), (0, 1, 2, 3), (0, 1, 2, 4), (0, 1, 3, 7, 15))


def drawn(rng: random.Random, judges: int, scale: tuple[int, ...]) -> list[list[int | None]]:
    """Grades by item and judge: each judge sees the truth in part, and of more than two judges some
    leave items out.
    """
    items = []
    for _ in range(rng.randint(8, 40)):
        truth = rng.choice(scale)
        grades = [truth if rng.random() < 0.6 else rng.choice(scale) for _ in range(judges)]
        items.append([None if judges > 2 and rng.random() < 0.2 else grade for grade in grades])
    return [grades for grades in items if any(grade is not None for grade in grades)]


def values(items: list[list[int | None]], scale: tuple[int, ...]) -> dict[str, float]:
    """The coefficients of both packages."""
    table = np.array(
        [[math.nan if grade is None else float(grade) for grade in item] for item in items]
    )
    found = {
        f"Krippendorff's alpha ({level})": float(
            krippendorff.alpha(table.T, level_of_measurement=level, value_domain=scale)
        )
        for level in ("nominal", "ordinal", "interval")
    }
    frame = pd.DataFrame(table)
    for weights, names in (
        ("identity", {"fleiss": "Fleiss' kappa", "gwet": "Gwet's AC1", "conger": "Cohen's kappa"}),
        ("quadratic", {"gwet": "Gwet's AC2 (quadratic)", "conger": "Cohen's kappa (quadratic)"}),
    ):
        cac = CAC(frame, weights=weights, categories=[float(grade) for grade in scale])
        for method, name in names.items():
            if method != "conger" or table.shape[1] == 2:
                found[name] = float(getattr(cac, method)()["est"]["coefficient_value"])
    return found


def main() -> None:
    """Writes the file."""
    rng, cases = random.Random(SEED), list[dict[str, Any]]()
    warnings.simplefilter("ignore")
    for scale in SCALES:
        for judges in (2, 2, 3, 5):
            items = drawn(rng, judges, scale)
            cases.append({"scale": scale, "items": items, "values": values(items, scale)})
    rows = ",\n".join(json.dumps(case) for case in cases)
    OUT.write_text(f'{{"about": {json.dumps(ABOUT)},\n"cases": [\n{rows}\n]}}\n', encoding="utf-8")
    sys.stdout.write(f"wrote {OUT.name}\n")


if __name__ == "__main__":
    main()
