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

    def values(self, place: int) -> dict[str, Any]:
        """The tried parameters of a setting, by name."""
        setting = self.settings[place]
        return {**self.builds[setting.build], **setting.search}

    def label(self, place: int) -> str:
        """The parameters of a setting that vary, as `k1=1.2 b=0.75`; "" where none do."""
        own = self.values(place)
        return " ".join(f"{name}={_written(own[name])}" for name in self.varying)


def read_settings(
    family: EngineFamily, fixed: Mapping[str, Any], sweep: Mapping[str, Any] | Sequence[str] | None
) -> EngineSettings:
    """The settings that options and sweeps name. Raises BadUsage and UnknownName for what the
    engine does not have.
    """
    tried = {name: _values(value) for name, value in read_pairs(sweep, flag("--sweep")).items()}
    # Places that an environment variable completes are read when the engine is opened.
    family.read({name: value for name, value in fixed.items() if "${" not in str(value)})
    both = next((name for name in tried if name in fixed), None)
    if both is not None:
        raise BadUsage(
            f"{both} has a value by {flag('--option')} and several by {flag('--sweep')}; keep one."
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
    connect = next((each.name for each in family.connect if each.name in tried), None)
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
    shaping = {each.name for each in family.build}
    builds: dict[str, Mapping[str, Any]] = {}
    settings: list[Setting] = []
    for chosen in product(*typed.values()):
        own = dict(zip(typed, chosen, strict=True))
        build = {name: value for name, value in own.items() if name in shaping}
        key = json.dumps(build, sort_keys=True)
        builds.setdefault(key, build)
        search = {name: value for name, value in own.items() if name not in shaping}
        settings.append(
            Setting(
                " ".join(f"{name}={_written(value)}" for name, value in own.items()),
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


def join_settings(every: Sequence[EngineSettings]) -> EngineSettings:
    """The settings of several calls that differ in their sweeps alone, with one index for each
    build.
    """
    builds: dict[str, Mapping[str, Any]] = {}
    settings: list[Setting] = []
    for each in every:
        for setting in each.settings:
            build = each.builds[setting.build]
            key = json.dumps(build, sort_keys=True)
            builds.setdefault(key, build)
            settings.append(setting._replace(build=[*builds].index(key)))
    joined = EngineSettings(every[0].fixed, list(builds.values()), settings, ())
    values = [joined.values(place) for place in range(len(settings))]
    names = dict.fromkeys(name for own in values for name in own)
    return joined._replace(
        varying=tuple(name for name in names if len({str(own.get(name)) for own in values}) > 1)
    )


def read_pairs(given: Mapping[str, Any] | Sequence[str] | None, option: str) -> dict[str, Any]:
    """NAME=VALUE texts as a mapping, each name once."""
    if isinstance(given, Mapping):
        return dict(given)
    found: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name or not value:
            raise BadUsage(
                f"{option} {name or text!r}: expected NAME=VALUE, as in {option} ef_search=40."
            )
        if name in found:
            raise BadUsage(f"{option} {name} is given twice; once is enough.")
        found[name] = value
    return found


def given_parameters(options: RetrieveOptions) -> dict[str, Any]:
    """The parameters that options name, each once. Raises BadUsage."""
    found: dict[str, Any] = {}
    for name, given in (("--option", options.option), ("--build", options.build)):
        own = read_pairs(given, flag(name))
        both = next((each for each in own if each in found), None)
        if both is not None:
            raise BadUsage(
                f"{both} is given by {flag('--option')} and by {flag('--build')}; once is enough."
            )
        found |= own
    return found | ({} if options.url is None else {"url": options.url})


def chosen_family(engine: Any, options: RetrieveOptions) -> EngineFamily:
    """The family of an engine, with the parameters that its file or its preset declares."""
    return family_of(engine, given_parameters(options))


def _values(value: Any) -> list[Any]:
    listed = (
        value.split(",")
        if isinstance(value, str)
        else list(value)
        if isinstance(value, Sequence)
        else [value]
    )
    return [each.strip() if isinstance(each, str) else each for each in listed]


def _written(value: Any) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
