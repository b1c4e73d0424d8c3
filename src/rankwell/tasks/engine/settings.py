"""Settings of an engine: the parameters that are fixed, those that are tried, and which of them
need an index of their own.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

from rankwell.engines import EngineFamily, family_of
from rankwell.errors import BadUsage, flag
from rankwell.tasks.engine.options import EngineOptions

MOST_SETTINGS = 500


class Setting(NamedTuple):
    """One combination of parameters.

    name: a name such as `ef_search=40`; empty for the only setting where no parameters vary.
    build: number of its index among all indexes.
    search: parameters of its sessions.
    values: values of all tried parameters.
    """

    name: str
    build: int
    search: Mapping[str, Any]
    values: Mapping[str, Any]


class EngineSettings(NamedTuple):
    """The settings of an engine.

    fixed: parameters that all settings share.
    builds: tried parameters of each index.
    settings: the settings in the order of the sweep.
    varying: names of the tried parameters with several values.
    """

    fixed: Mapping[str, Any]
    builds: Sequence[Mapping[str, Any]]
    settings: Sequence[Setting]
    varying: Sequence[str]

    @classmethod
    def of(
        cls,
        family: EngineFamily,
        fixed: Mapping[str, Any],
        combinations: Sequence[Mapping[str, Any]],
    ) -> "EngineSettings":
        """The settings of combinations of tried parameters, with one index for each build."""
        shaping = {parameter.name for parameter in family.build}
        builds: list[Mapping[str, Any]] = []
        settings: list[Setting] = []
        for values in combinations:
            build = {name: value for name, value in values.items() if name in shaping}
            search = {name: value for name, value in values.items() if name not in shaping}
            if build not in builds:
                builds.append(build)
            settings.append(Setting(_written(values), builds.index(build), search, values))
        names = dict.fromkeys(name for values in combinations for name in values)
        varying = [
            name for name in names if len({str(values.get(name)) for values in combinations}) > 1
        ]
        return cls(fixed, builds, settings, varying)

    def label(self, setting: Setting) -> str:
        """The parameters of a setting that vary, as `k1=1.2 b=0.75`; "" where none do."""
        return _written({name: setting.values[name] for name in self.varying})


def read_settings(
    family: EngineFamily, fixed: Mapping[str, Any], sweep: Mapping[str, Any] | Sequence[str] | None
) -> EngineSettings:
    """The settings that options and sweeps name. Raises BadUsage and UnknownName for what the
    engine does not have.
    """
    option = flag("--sweep")
    tried = {name: _values(value) for name, value in read_pairs(sweep, option).items()}
    # Places that an environment variable completes are read when the engine is opened.
    family.read({name: value for name, value in fixed.items() if "${" not in str(value)})
    for name in tried:
        if name in fixed:
            raise BadUsage(
                f"{name} has a value by {flag('--option')} and several by {option}; keep one."
            )
    typed = {
        name: [family.read({name: value})[name] for value in values]
        for name, values in tried.items()
    }
    for name, values in typed.items():
        if len(set(values)) < len(values):
            raise BadUsage(f"{option} {name} lists a value twice: {', '.join(map(str, values))}.")
    for parameter in family.connect:
        if parameter.name in tried:
            raise BadUsage(
                f"{option} {parameter.name}: it names the place of an index and cannot be "
                "tried; make a call for each."
            )
    number = prod(map(len, typed.values()))
    if not 0 < number <= MOST_SETTINGS:
        raise BadUsage(f"{number} settings; expected 1 to {MOST_SETTINGS}: try fewer values.")
    combinations = [dict(zip(typed, values, strict=True)) for values in product(*typed.values())]
    return EngineSettings.of(family, fixed, combinations)


def read_pairs(pairs: Mapping[str, Any] | Sequence[str] | None, option: str) -> dict[str, Any]:
    """NAME=VALUE texts as a mapping, each name once."""
    if isinstance(pairs, Mapping):
        return dict(pairs)
    values: dict[str, Any] = {}
    for text in pairs or ():
        name, _, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not name or not value:
            raise BadUsage(
                f"{option} {name or text!r}: expected NAME=VALUE, as in {option} ef_search=40."
            )
        if name in values:
            raise BadUsage(f"{option} {name} is given twice; once is enough.")
        values[name] = value
    return values


def given_parameters(options: EngineOptions) -> dict[str, Any]:
    """The parameters that options name, each once. Raises BadUsage."""
    parameters = read_pairs(options.option, flag("--option"))
    return parameters | ({} if options.url is None else {"url": options.url})


def chosen_family(engine: Any, options: EngineOptions) -> EngineFamily:
    """The family of an engine, with the parameters that its file or its preset declares."""
    return family_of(engine, given_parameters(options))


def _values(values: Any) -> list[Any]:
    if isinstance(values, str):
        values = values.split(",")
    elif not isinstance(values, Sequence):
        values = [values]
    return [value.strip() if isinstance(value, str) else value for value in values]


def _written(values: Mapping[str, Any]) -> str:
    texts: list[str] = []
    for name, value in values.items():
        text = f"{value:g}" if isinstance(value, float) else str(value)
        texts.append(f"{name}={text.lower() if isinstance(value, bool) else text}")
    return " ".join(texts)
