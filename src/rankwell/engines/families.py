"""The entries of the registry of engines: their kinds, installation, and parameters with types and
defaults.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwell.data.catalogue import suggest
from rankwell.data.secrets import Secrets
from rankwell.errors import BadUsage, MissingExtra, UnknownName, shown

if TYPE_CHECKING:
    from rankwell.engines.protocol import Engine, Kind

_KINDS = {int: "an integer", float: "a number", str: "a string", bool: "true or false"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an engine. default: None where the engine's own applies. choices: all its
    values where they are few.
    """

    name: str
    kind: type[int] | type[float] | type[str] | type[bool]
    default: Any
    text: str
    choices: tuple[str, ...] = ()

    def read(self, value: Any, engine: str) -> Any:
        """The value of a text, as on a command line, or of Python or TOML. Raises BadUsage where it
        is not one of its kind.
        """
        typed = self._typed(value)
        if typed is None or (self.choices and typed not in self.choices):
            expected = " or ".join(self.choices) if self.choices else _KINDS[self.kind]
            raise BadUsage(f"{engine}: {self.name} is {shown(value)}; expected {expected}.")
        return typed

    def _typed(self, value: Any) -> Any:
        if isinstance(value, str) and self.kind is bool:
            return {"true": True, "false": False}.get(value.lower())
        if isinstance(value, str) or (
            self.kind is float and isinstance(value, int) and not isinstance(value, bool)
        ):
            try:
                return self.kind(value)
            except ValueError:
                return None
        return value if type(value) is self.kind else None


@dataclass(frozen=True)
class EngineFamily:
    """An engine of the registry. kinds: the searches that it offers, the usual one first.

    connect: where it is and what its columns are; build: the shape of an index; search: the
    settings of a session.
    adapt: the family with the parameters of a file or an object, of (family, target, options).
    package: the one to install, with its extra of rankwell; none where nothing is missing. most_k:
    its largest k.
    own_version: its version where it is part of Python.
    """

    name: str
    title: str
    kinds: "tuple[Kind, ...]"
    open: "Callable[[Opening], Engine]"
    connect: tuple[Parameter, ...] = ()
    build: tuple[Parameter, ...] = ()
    search: tuple[Parameter, ...] = ()
    package: str = ""
    extra: str = ""
    most_k: int | None = None
    own_version: str = ""
    adapt: "Callable[[EngineFamily, Any, Mapping[str, Any]], EngineFamily] | None" = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters."""
        return (*self.connect, *self.build, *self.search)

    @property
    def version(self) -> str | None:
        """The installed version; None where the package is missing."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(self.package) if self.package else self.own_version
        except PackageNotFoundError:
            return None

    @property
    def install(self) -> str:
        """The command that installs what is missing."""
        return f"pip install 'rankwell[{self.extra}]'"

    def need(self, module: str, package: str = "") -> Any:
        """A module of the engine's package, or of another one of its extra. Raises MissingExtra
        where it is not installed.
        """
        import importlib

        try:
            return importlib.import_module(module)
        except ImportError as error:
            raise MissingExtra(
                f"the engine {self.name} needs the package {package or self.package}: "
                f"{self.install}."
            ) from error

    def read(
        self, values: Mapping[str, Any], declared: Sequence[Parameter] | None = None
    ) -> dict[str, Any]:
        """Parameters with their values in their types. Raises UnknownName, BadUsage."""
        table = {
            parameter.name: parameter
            for parameter in (self.parameters if declared is None else declared)
        }
        for name in values:
            if name not in table:
                hint = f"; {suggest(name, table)}" if table else "; it has none."
                raise UnknownName(f"{self.name}: unknown parameter {name!r}{hint}")
        return {name: table[name].read(value, self.name) for name, value in values.items()}


@dataclass(frozen=True)
class Opening:
    """The arguments with which an engine is opened. label: as the user wrote it, for messages;
    target: a file or an object.

    connect, build: values of all parameters, defaults included; search: of those that were given or
    have a default. redacted_parameters: those that were given, without the values of secrets.
    """

    family: EngineFamily
    label: str
    target: Any
    connect: Mapping[str, Any]
    build: Mapping[str, Any]
    search: Mapping[str, Any]
    redacted_parameters: Mapping[str, Any]
    secrets: Secrets
