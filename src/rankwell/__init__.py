"""rankwell evaluates search and retrieval.

The public names are loaded on first use. Those of a task stand in the folder of the task, which is
all that the package knows of it. Their types are in `__init__.pyi`.
"""

__version__ = "0.1.0"

_NAMES = {
    "Measure": "rankwell.data.registry",
    "parse_measure": "rankwell.data.registry",
    "Judgments": "rankwell.data.tables",
    "Preferences": "rankwell.data.preferences",
    "Values": "rankwell.data.tables",
    "Ranking": "rankwell.data.rankings",
    "JudgedRankings": "rankwell.data.judged_rankings",
    "BadInput": "rankwell.errors",
    "BadLine": "rankwell.errors",
    "BadScore": "rankwell.errors",
    "BadUsage": "rankwell.errors",
    "DuplicateItem": "rankwell.errors",
    "GateFailed": "rankwell.errors",
    "MissingExtra": "rankwell.errors",
    "NothingToEvaluate": "rankwell.errors",
    "RankwellError": "rankwell.errors",
    "TieRefused": "rankwell.errors",
    "Unfinished": "rankwell.errors",
    "UnknownName": "rankwell.errors",
    "Results": "rankwell.results",
    "ComparisonResults": "rankwell.results",
    "compare_values": "rankwell.results",
    "TableStyle": "rankwell.reporting",
    "ComparisonOptions": "rankwell.comparison.data",
    "GateOptions": "rankwell.comparison.data",
    "FusionOptions": "rankwell.comparison.fusion.runs",
    "FusionTuningOptions": "rankwell.comparison.fusion.runs",
    "TunedFusion": "rankwell.comparison.fusion.runs",
    "fuse": "rankwell.comparison.fusion.runs",
    "tune_fusion": "rankwell.comparison.fusion.runs",
    "BenchOptions": "rankwell.comparison.bench.results",
    "BenchResults": "rankwell.comparison.bench.results",
    "bench": "rankwell.comparison.bench.results",
    "find_hits": "rankwell.io.formats",
    "read_judgments": "rankwell.io.formats",
    "read_ranking": "rankwell.io.formats",
    "group_rankings": "rankwell.io.mapping",
    "intent_rankings": "rankwell.io.mapping",
    "judged_rankings": "rankwell.io.mapping",
    "preference_rankings": "rankwell.io.mapping",
    "measure": "rankwell.measures.own",
    "EncodeFileOptions": "rankwell.files.encoding",
    "encode": "rankwell.files.encoding",
    "ConvertOptions": "rankwell.files.conversion",
    "convert": "rankwell.files.conversion",
    "explain": "rankwell.files.explanations",
    "KnnOptions": "rankwell.files.neighbours",
    "knn": "rankwell.files.neighbours",
    "write_judgments": "rankwell.files.writing",
    "write_run": "rankwell.files.writing",
}
"""The public names that belong to no task, each with the module that defines it."""
_ALL_NAMES: dict[str, str] = {}


def _homes() -> dict[str, str]:
    """The public names with the modules that define them, those of tasks included; none of these
    modules is imported.
    """
    if not _ALL_NAMES:
        from importlib import import_module
        from pathlib import Path

        _ALL_NAMES.update(_NAMES)
        for file in sorted(Path(__file__).parent.glob("tasks/*/__init__.py")):
            _ALL_NAMES.update(import_module(f"rankwell.tasks.{file.parent.name}").PUBLIC_NAMES)
    return _ALL_NAMES


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    home = None if name.startswith("_") else _NAMES.get(name) or _homes().get(name)
    if home is None:
        raise AttributeError(f"module 'rankwell' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*_homes(), "__version__"])
