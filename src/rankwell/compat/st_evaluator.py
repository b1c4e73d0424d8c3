"""The work that all evaluators of sentence-transformers share: encoding, names of figures, lines of
CSV.
"""

import csv
import io
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankwell.data.options import own_arithmetic
from rankwell.data.tables import refuse_masked
from rankwell.errors import BadInput, BadScore, needing
from rankwell.store import write_text

try:
    # The trainer takes nothing but subclasses of the library's own class.
    from sentence_transformers.base.evaluation import BaseEvaluator as _Base
except ImportError:
    _Base = object

_log = logging.getLogger(__name__)
Figures = dict[str, float]


class Evaluator(_Base):  # pyright: ignore[reportGeneralTypeIssues, reportUntypedBaseClass]
    """The work of every evaluator around its own figures.

    primary_metric: the figure by which the best model is chosen; None before the first call.
    name: text before the names of figures, and a part of the CSV's name; "" for none.
    batch_size: number of texts that the model encodes at once.
    show_progress_bar: whether the model shows a progress bar while it encodes.
    write_csv: whether a call with a folder adds a line to the CSV there.
    truncate_dim: number of leading dimensions of each vector to keep; None for all that the model
        gives.
    """

    greater_is_better = True
    primary_metric: Any = None
    _line_end: ClassVar[str] = "\r\n"
    _file: ClassVar[str]
    _config: ClassVar = ("truncate_dim",)
    _folder: Path | None = None
    name: str
    batch_size: int
    show_progress_bar: bool
    write_csv: bool
    truncate_dim: int | None

    @own_arithmetic
    def __call__(
        self,
        model: Any,
        output_path: str | Path | None = None,
        epoch: float = -1,
        steps: float = -1,
    ) -> Figures:
        """The figures by name. output_path: a folder, made if need be, whose CSV gets one more
        line; a file of other columns is left alone, and `-2` is written.

        Raises BadScore for a similarity that is not finite.
        """
        self._folder = None if output_path is None else Path(output_path)
        figures = self._values(model)
        if self._folder is not None and self.write_csv:
            self._add_line(self._folder, {"epoch": epoch, "steps": steps, **self._columns(figures)})
        named_figures = {self._named(figure): float(value) for figure, value in figures.items()}
        if self.primary_metric not in named_figures:
            self.primary_metric = self._named(self._primary(figures))
        card = getattr(model, "model_card_data", None)
        if hasattr(card, "set_evaluation_metrics"):
            card.set_evaluation_metrics(self, named_figures, epoch, steps)  # pyright: ignore[reportOptionalMemberAccess]
        return named_figures

    def get_config_dict(self) -> dict[str, Any]:
        """The settings for the model card."""
        return {
            name: getattr(self, name) for name in self._config if getattr(self, name) is not None
        }

    @classmethod
    def from_input_examples(cls, examples: Sequence[Any], **options: Any) -> Any:
        """The evaluator of the library's `InputExample`s: three texts, or two with a label."""
        rows = ((*example.texts, example.label)[:3] for example in examples)
        return cls(*map(list, zip(*rows, strict=True)), **options)

    def _values(self, model: Any) -> Figures:
        raise NotImplementedError

    def _columns(self, figures: Figures) -> Figures:
        """The columns of the CSV, after epoch and steps."""
        return {name: value for name, value in figures.items() if not name.startswith("max_")}

    def _primary(self, figures: Figures) -> str:
        """The figure that chooses the best model: the last one."""
        return list(figures)[-1]

    @property
    def csv_file(self) -> str:
        """The name of the CSV."""
        parts = (self._file, self.name, getattr(self, "precision", None), "results.csv")
        return "_".join(filter(None, parts))

    def _named(self, figure: str) -> str:
        return f"{self.name}_{figure}" if self.name else figure

    def _encode(self, model: Any, texts: Any, side: str = "", **options: Any) -> Any:
        """The vectors; side: `query` or `document`, for models that encode these in ways of their
        own.
        """
        encode = getattr(model, f"encode_{side}", None) or model.encode
        options |= {"truncate_dim": self.truncate_dim, "batch_size": self.batch_size}
        options["show_progress_bar"] = bool(self.show_progress_bar)
        return encode(
            texts, **{name: value for name, value in options.items() if value is not None}
        )

    def _add_line(self, folder: Path, line: Figures) -> None:
        path = _file_with(folder, self.csv_file.removesuffix(".csv"), list(line))
        text = io.StringIO()
        writer = csv.writer(text, lineterminator=self._line_end)
        if path.exists():
            before = path.read_bytes().decode()
            text.write(before if before.endswith("\n") else before + self._line_end)
        else:
            writer.writerow(line)
        writer.writerow(line.values())
        write_text(path, text.getvalue())


def check_lengths(**columns: Sequence[Any]) -> None:
    """Raises BadInput for columns of different lengths or of none."""
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise BadInput(
            f"{', '.join(f'{n} {name}' for name, n in sizes.items())}; give one of each, in "
            "the same order."
        )
    if not all(sizes.values()):
        raise BadInput(f"no {next(iter(sizes))}; an evaluator needs at least one.")


def finite(scores: Any, noun: str = "a similarity") -> Any:
    """The numbers as an array of their precision. Raises BadScore for one that is not finite."""
    refuse_masked(scores, f"the array of {noun.partition(' ')[2]} values")
    numbers = np.asarray(scores.detach().cpu() if hasattr(scores, "detach") else scores)
    if not np.isfinite(numbers).all():
        index = tuple(np.argwhere(~np.isfinite(numbers))[0].tolist())
        location = f"row {index[0]} (from 0)" if len(index) == 1 else f"place {index} (from 0)"
        raise BadScore(f"{noun} in {location} is {numbers[index]}; expected finite numbers.")
    return numbers


def library_similarity(name: str, *, pairwise: bool = False) -> Callable[[Any, Any], Any]:
    """The library's function of a similarity, of all pairs or of pairs row by row. Raises
    MissingExtra without the library.
    """
    with needing("similarities are those of sentence-transformers: pip install 'rankwell[text]'."):
        from sentence_transformers import SimilarityFunction
    if pairwise:
        return SimilarityFunction.to_similarity_pairwise_fn(name)
    return SimilarityFunction.to_similarity_fn(name)


def plain_name(similarity: Any) -> str:
    """The similarity's name, also where it is a member of the library's enumeration."""
    return str(getattr(similarity, "value", similarity))


def _file_with(folder: Path, stem: str, header: list[str]) -> Path:
    """The first of `stem.csv`, `stem-2.csv`, … that does not exist yet or has these columns."""
    number = 1
    while True:
        path = folder / (f"{stem}.csv" if number == 1 else f"{stem}-{number}.csv")
        if not path.exists():
            return path
        with path.open(encoding="utf-8", newline="") as stream:
            if next(csv.reader(stream), None) == header:
                return path
        _log.warning("%s has other columns and is left as it is", path)
        number += 1
