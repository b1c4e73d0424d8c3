"""Ceilings and chance levels: the values of the best lists of the same lengths, and of random
ones.
"""

import math

import numpy as np

from rankwell.data.registry import Measure
from rankwell.tasks.beyond.attributes import ItemAttributes
from rankwell.tasks.beyond.lists import ExposureCounts, ItemLists, ListCollections
from rankwell.tasks.beyond.measures.diversity import catalogue_distance


def levels_of(measure: Measure, exposures: ExposureCounts) -> tuple[float | None, float | None]:
    """The ceiling and the chance level of a measure of all lists, None where they are unknown.

    Ceiling: of lists of the same lengths that expose all items of the catalogue alike, which lists
    of different items always can. It is unknown without a catalogue, under a discount, and for
    `Entropy(form='mean')`, which falls with the number of items. Chance: the expected value for
    lists whose items are drawn at random without replacement, independently of each other; only
    that of coverage has a closed form, 1 - Π (1 - length / items).
    """
    parameters, attributes = measure.parameters, exposures.attributes
    if (
        attributes.in_catalogue is None
        or parameters.get("discount", "none") != "none"
        or parameters.get("form") == "mean"
    ):
        return None, None
    (ceiling,) = measure(ListCollections(("",), (exposures.evenly(measure.cutoff),))).tolist()
    chance = (
        _expected_coverage(exposures, measure.cutoff) if measure.name == "ItemCoverage" else None
    )
    return None if math.isnan(ceiling) else ceiling, chance


def chance_of(measure: Measure, attributes: ItemAttributes) -> float | None:
    """The chance level of a measure of a list, None where it is unknown or there is no catalogue.

    The mean over items of a random list, in expectation, is that over the catalogue; so is the mean
    over its pairs of items.
    """
    if attributes.in_catalogue is None:
        return None
    if measure.name == "ILD":
        return (
            None
            if measure.cutoff == 1
            else catalogue_distance(attributes, measure.parameters["by"])
        )
    if measure.name not in ("Novelty", "Popularity"):
        return None
    catalogue_list = ItemLists(("",), attributes.catalogue(measure.name)[np.newaxis], attributes)
    return float(measure.with_parameters(k=None)(catalogue_list)[0])


def _expected_coverage(exposures: ExposureCounts, k: int | None) -> float:
    lists = exposures.lengths(k)
    with np.errstate(divide="ignore"):  # a list of the whole catalogue leaves out no item
        missed = np.log1p(
            -np.arange(len(lists)) / len(exposures.attributes.catalogue("ItemCoverage"))
        )
    return -math.expm1(float((lists * missed)[lists > 0].sum()))
