"""The rules of a search for instances: the user's own, else the convention's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure, NoRelevantRule, choose_measures
from rankwell.core.registry import parse_measure, split_names, suggest
from rankwell.core.tables import TIE_RULES, MatrixTies
from rankwell.errors import BadUsage, UnknownName
from rankwell.tasks.instances.conventions import Excluded, InstanceConvention
from rankwell.tasks.instances.images import FilteredImages, Images, Switch, both_sides, filter_images

CUTOFFS = (1, 5, 10)
NAMED = "TP/PRED"
"""The share of queries named rightly among those whose best reference has a label."""
_TIES: tuple[MatrixTies, ...] = (*TIE_RULES, "input-desc")


@dataclass(frozen=True)
class InstanceRules:
    """Every rule, resolved. reading: the convention's."""

    reading: InstanceConvention
    exclude: tuple[Excluded, ...]
    contentless: Switch
    absent: Switch
    ties: MatrixTies
    no_relevant: str

    @classmethod
    def of(
        cls,
        rules: Convention,
        exclude: Sequence[str] | str | None,
        contentless: str,
        absent: str | None,
        ties: str | None,
        no_relevant: str | None,
        *,
        by_id: bool,
        judged: bool,
    ) -> "InstanceRules":
        """The rules. by_id: whether images are known, so that two of one id are the same. judged: whether judgments come from
        elsewhere than the images, so that a query without a label is not absent. Raises UnknownName and BadUsage.
        """
        reading: InstanceConvention = rules.tasks.get("instances", InstanceConvention(exclude=("self",)))
        words = exclude.replace(",", " ").split() if isinstance(exclude, str) else None if exclude is None else list(exclude)
        if words is not None and words != ["none"]:
            for word in words:
                if word not in get_args(Excluded):
                    raise UnknownName(f"exclude {word!r}: {suggest(word, (*get_args(Excluded), 'none'))}")
            if not by_id:
                raise BadUsage(f"--exclude {','.join(words)}: nothing says which image is which; name the data set of images.")
        for name, value in (("contentless", contentless), ("absent", absent)):
            if value is not None and value not in get_args(Switch):
                raise UnknownName(f"{name} {value!r}: filter or keep.")
        policy = rules.no_relevant if no_relevant is None else no_relevant
        if policy not in get_args(NoRelevantRule):
            raise UnknownName(f"unknown rule {policy!r}; {suggest(policy, get_args(NoRelevantRule))}")
        chosen = () if words == ["none"] or not by_id else reading.exclude if words is None else words
        kept: dict[str, Switch] = {"filter": "filter", "keep": "keep"}
        return cls(
            reading,
            tuple(rule for rule in get_args(Excluded) if rule in chosen),
            kept[contentless],
            "keep" if judged else kept[absent or reading.absent],
            reading.ties if ties is None else _tie_rule(ties),
            policy,
        )

    def filtered(self, images: Images) -> FilteredImages:
        """The images that take part."""
        return filter_images(images, contentless=self.contentless, absent=self.absent, junk_label=self.reading.junk_label)


def taking_part(images: Images, convention: str, contentless: str, absent: str | None, *, judged: bool) -> Images:
    """The images that an evaluation with these rules uses; no others need be encoded. judged: as for `InstanceRules.of`.

    Raises NothingToEvaluate where no query or no reference is left.
    """
    rules = InstanceRules.of(convention_of(convention), None, contentless, absent, None, None, by_id=True, judged=judged)
    kept = rules.filtered(images).images
    both_sides(kept)
    return kept


def labelled_measures(
    rules: Convention, measures: Sequence[str] | str | None, ks: Sequence[int], cut: int | None
) -> tuple[tuple[LabelledMeasure, ...], bool]:
    """The measures, and whether TP/PRED is among them."""
    reading: InstanceConvention = rules.tasks.get("instances", InstanceConvention())
    listed = split_names(measures) if isinstance(measures, str) else None if measures is None else list(measures)
    named = reading.labels if listed is None else NAMED in listed
    texts = list(rules.defaults) if listed is None else [text for text in listed if text != NAMED]
    spelled = [each for text in texts for each in _at_each(text, ks, rules.words)]
    chosen = choose_measures(spelled, rules) if spelled else ()
    depth = cut if cut is not None or listed is not None else reading.cut
    if depth is not None:
        if depth < 1:
            raise BadUsage(f"cut {depth}; a list has one place or more.")
        whole = ("P_q", f"P(denom='retrieved')@{depth}"), ("R_q", f"R@{depth}")
        chosen += tuple(LabelledMeasure(parse_measure(text), label if "P_q" in rules.words else text) for label, text in whole)
    if not chosen:
        raise BadUsage(f"name a measure of rankings beside {NAMED}, such as P@1.")
    return tuple({str(each.measure): each for each in chosen}.values()), named


def convention_of(name: str) -> Convention:
    """The convention of this name. Raises UnknownName, which lists those for instances."""
    if name not in CONVENTIONS:
        known = [each for each in CONVENTIONS if each == "rankwell" or "instances" in CONVENTIONS[each].tasks]
        raise UnknownName(f"unknown convention {name!r} for instances; {suggest(name, known)}")
    return CONVENTIONS[name]


def takes_cutoffs(rules: Convention, measures: Sequence[str] | None) -> bool:
    """Whether any of the measures, or of the convention's for None, needs a cut-off and names none."""
    texts = rules.defaults if measures is None else [text for text in measures if text != NAMED]
    return any(_at_each(text, CUTOFFS, rules.words) != [text] for text in texts)


def _tie_rule(name: str) -> MatrixTies:
    for rule in _TIES:
        if rule == name:
            return rule
    raise UnknownName(f"unknown tie rule {name!r}; {suggest(name, _TIES)}")


def _at_each(text: str, ks: Sequence[int], words: Mapping[str, str]) -> list[str]:
    """A measure at every cut-off where it needs one and names none."""
    try:
        parse_measure(text, words)
    except UnknownName:
        raise
    except BadUsage:
        if "@" in text:
            raise
        return [f"{text}@{k}" for k in ks]
    return [text]
