"""Settings of an engine: the parameters that are fixed, those that are tried, and which of them
need an index of their own.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from rankwell.engines import EngineFamily, family_of
from rankwell.errors import BadUsage, flag
from rankwell.tasks.retrieve.options import RetrieveOptions

MOST_SETTINGS = 500


class Setting(NamedTuple):
    """One combination of parameters. name: `ef_search=40`, "" for the only one. build: index of its
    index among all indexes.
    """

    name: str
    build: int
    search: Mapping[str, Any]


class EngineSettings(NamedTuple):
    """The settings, in the order of the sweep. fixed: parameters of all. builds: those of each
    index. varying: tried names.
    """

    fixed: Mapping[str, Any]
    builds: Sequence[Mapping[str, Any]]
    settings: Sequence[Setting]
    varying: tuple[str, ...]

    def values(self, setting_number: int) -> dict[str, Any]:
        """The tried parameters of a setting, by name."""
        setting = self.settings[setting_number]
        return {**self.builds[setting.build], **setting.search}

    def label(self, setting_number: int) -> str:
        """The parameters of a setting that vary, as `k1=1.2 b=0.75`; "" where none do."""
        values = self.values(setting_number)
        return " ".join(f"{name}={_written(values[name])}" for name in self.varying)


def read_settings(
    family: EngineFamily, fixed: Mapping[str, Any], sweep: Mapping[str, Any] | Sequence[str] | None
) -> EngineSettings:
    """The settings that options and sweeps name. Raises BadUsage and UnknownName for what the
    engine does not have.
    """
    tried = {name: _values(value) for name, value in read_pairs(sweep, flag("--sweep")).items()}
    # Places that an environment variable completes are read when the engine is opened.
    family.read({name: value for name, value in fixed.items() if "${" not in str(value)})
    repeated = next((name for name in tried if name in fixed), None)
    if repeated is not None:
        raise BadUsage(
            f"{repeated} has a value by {flag('--option')} and several by {flag('--sweep')}; keep "
            "one."
        )
    typed = {
        name: [family.read({name: value})[name] for value in values]
        for name, values in tried.items()
    }
    double = next((name for name, values in typed.items() if len(set(values)) < len(values)), None)
    if double is not None:
        raise BadUsage(
            f"{flag('--sweep')} {double} lists a value twice: {', '.join(map(str, typed[double]))}."
        )
    connect = next(
        (parameter.name for parameter in family.connect if parameter.name in tried), None
    )
    if connect is not None:
        raise BadUsage(
            f"{flag('--sweep')} {connect}: it names the place of an index and cannot be "
            "tried; make a call for each."
        )
    number = 1
    for values in typed.values():
        number *= len(values)
    if not 0 < number <= MOST_SETTINGS:
        raise BadUsage(f"{number} settings; expected 1 to {MOST_SETTINGS}: try fewer values.")
    shaping = {parameter.name for parameter in family.build}
    builds: dict[str, Mapping[str, Any]] = {}
    settings: list[Setting] = []
    for combination in product(*typed.values()):
        parameters = dict(zip(typed, combination, strict=True))
        build = {name: value for name, value in parameters.items() if name in shaping}
        key = json.dumps(build, sort_keys=True)
        builds.setdefault(key, build)
        search = {name: value for name, value in parameters.items() if name not in shaping}
        settings.append(
            Setting(
                " ".join(f"{name}={_written(value)}" for name, value in parameters.items()),
                [*builds].index(key),
                search,
            )
        )
    return EngineSettings(
        fixed,
        list(builds.values()),
        settings,
        tuple(name for name, values in typed.items() if len(values) > 1),
    )


def join_settings(all_settings: Sequence[EngineSettings]) -> EngineSettings:
    """The settings of several calls that differ in their sweeps alone, with one index for each
    build.
    """
    builds: dict[str, Mapping[str, Any]] = {}
    settings: list[Setting] = []
    for engine_settings in all_settings:
        for setting in engine_settings.settings:
            build = engine_settings.builds[setting.build]
            key = json.dumps(build, sort_keys=True)
            builds.setdefault(key, build)
            settings.append(setting._replace(build=[*builds].index(key)))
    joint_settings = EngineSettings(all_settings[0].fixed, list(builds.values()), settings, ())
    values = [joint_settings.values(setting) for setting in range(len(settings))]
    names = dict.fromkeys(name for parameters in values for name in parameters)
    return joint_settings._replace(
        varying=tuple(
            name for name in names if len({str(parameters.get(name)) for parameters in values}) > 1
        )
    )


def read_pairs(
    pairs_given: Mapping[str, Any] | Sequence[str] | None, option: str
) -> dict[str, Any]:
    """NAME=VALUE texts as a mapping, each name once."""
    if isinstance(pairs_given, Mapping):
        return dict(pairs_given)
    pairs: dict[str, Any] = {}
    for text in pairs_given or ():
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name or not value:
            raise BadUsage(
                f"{option} {name or text!r}: expected NAME=VALUE, as in {option} ef_search=40."
            )
        if name in pairs:
            raise BadUsage(f"{option} {name} is given twice; once is enough.")
        pairs[name] = value
    return pairs


def given_parameters(options: RetrieveOptions) -> dict[str, Any]:
    """The parameters that options name, each once. Raises BadUsage."""
    parameters: dict[str, Any] = {}
    for name, pairs in (("--option", options.option), ("--build", options.build)):
        named_values = read_pairs(pairs, flag(name))
        repeated = next((name for name in named_values if name in parameters), None)
        if repeated is not None:
            raise BadUsage(
                f"{repeated} is given by {flag('--option')} and by {flag('--build')}; once is "
                "enough."
            )
        parameters |= named_values
    return parameters | ({} if options.url is None else {"url": options.url})


def chosen_family(engine: Any, options: RetrieveOptions) -> EngineFamily:
    """The family of an engine, with the parameters that its file or its preset declares."""
    return family_of(engine, given_parameters(options))


def _values(value: Any) -> list[Any]:
    values = (
        value.split(",")
        if isinstance(value, str)
        else list(value)
        if isinstance(value, Sequence)
        else [value]
    )
    return [value.strip() if isinstance(value, str) else value for value in values]


def _written(value: Any) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
