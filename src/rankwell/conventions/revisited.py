"""Revisited Oxford and Paris: easy, medium and hard, each with what the others hold as junk."""

from rankwell.conventions import Convention, InstanceReading, Level, convention

_LEVELS: dict[str, Level] = {"E": "easy", "M": "medium", "H": "hard"}

for _letter, _level in _LEVELS.items():
    convention(
        Convention(
            name=f"revisited-{_letter}",
            title=f"Revisited Oxford and Paris, {_level}",
            source="Radenović and others 2018, Revisiting Oxford and Paris: large-scale image retrieval benchmarking; revisitop",
            ties="input",
            no_relevant="skip",
            words={"mAP": "AP(area='trapezoid')", "AP": "AP(area='trapezoid')", "mP": "P(denom='last')"},
            defaults=("mAP", "mP@1", "mP@5", "mP@10"),
            unit="percent",
            instances=InstanceReading(ties="input", level=_level),
            notes=(
                "mP@k looks no further than the last right reference: 1, not 0.2, for two right ones at ranks 1 and 2 of 10.",
                "The source's sort leaves the order of equal scores open; here the first in the table comes first.",
            ),
        )
    )
