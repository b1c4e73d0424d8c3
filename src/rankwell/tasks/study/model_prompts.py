"""The prompt of a model that grades items: a text with places to fill; and the grade that a reply
names.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from rankwell.errors import BadInput
from rankwell.tasks.study.folder import GUIDELINE, Study

_PLACE = re.compile(r"\{([a-z]+)\}")
_NEEDED = ("query", "document")
_KNOWN = ("model", "grades", "guideline", "query", "document", "fence", "example")
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_NUMBER = r"(-?\d+(?:\.\d+)?)(?![\d.]*\d)"
_GRADE = re.compile(rf"\bgrade\b[\s\"'*_`]*(?:[:=]|is\b)[\s\"'*_`]*{_NUMBER}", re.IGNORECASE)
_BARE = re.compile(rf"\s*{_NUMBER}\s*\.?\s*")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instruction|prompt|rule|guideline)s?\b"
    r"|\b(?:grade|score|rating|relevance|label)\b\W{0,3}(?:is|of|as|to|must be|should "
    r"be|:|=)\W{0,3}\d"
    r"|\b(?:give|assign|output|answer|respond|reply|return|write|print|rate|grade|score)\b.{0,40}"
    r"\b(?:grade|score|rating|highest|maximum|perfectly relevant|\d+)\b"
    r"|</?(?:document|query|system|assistant|user)\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class ModelPrompt:
    """A prompt with places such as {query}. text: with them."""

    text: str

    @classmethod
    def read(cls, file: str | None) -> "ModelPrompt":
        """The prompt in a file, or our own. Raises BadInput where it lacks the query or the
        document, or has an unknown place.
        """
        name = file or "the prompt"
        try:
            text = (
                Path(file)
                if file
                else Path(str(files("rankwell.tasks.study") / "prompts" / "grade.txt"))
            ).read_text("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{name} is not UTF-8; save it as UTF-8.") from error
        except OSError as error:
            raise BadInput(
                f"{name}: {error.strerror}; name a text file with the prompt."
            ) from error
        fields = _PLACE.findall(text)
        missing = next((field for field in _NEEDED if field not in fields), None)
        if missing is not None:
            raise BadInput(f"{name} has no {{{missing}}}; write it where the {missing} belongs.")
        unknown = next((field for field in fields if field not in _KNOWN), None)
        if unknown is not None:
            raise BadInput(
                f"{name}: unknown place {{{unknown}}}; expected "
                f"{', '.join(f'{{{field}}}' for field in _KNOWN)}."
            )
        return cls(text)

    def digest(self, study: Study) -> str:
        """The digest of the prompt with the scale and guideline of a study."""
        content = "\0".join([self.text, *_scale_texts(study)])
        return "sha256:" + hashlib.sha256(content.encode()).hexdigest()

    def filled(self, study: Study, model: str, query: str, document: str) -> str:
        """The prompt for an item. A fence has the digest of both texts in it, so that neither text
        can close it.
        """
        grades, guideline = _scale_texts(study)
        fence = hashlib.sha256(
            f"{study.seed}\0{query}\0{document}".encode("utf-8", "surrogatepass")
        ).hexdigest()[:16]
        values = {
            "model": model,
            "grades": grades,
            "guideline": guideline,
            "query": query,
            "document": document,
            "fence": fence,
        }
        values["example"] = f"{min(study.grades):g}"
        return _PLACE.sub(lambda match: values[match[1]], self.text)


def _scale_texts(study: Study) -> tuple[str, str]:
    grades = "\n".join(f"{grade:g}: {name}" for grade, name in study.grades.items())
    return grades, (study.place / GUIDELINE).read_text("utf-8", "replace").strip()


def grade_of(reply: str, scale: Mapping[float, str]) -> float | None:
    """The grade that a reply names; None unless there is exactly one, on the scale.

    It is the number after the word grade and a colon, or the whole reply. What a model thinks
    first, between <think> and </think>, is left out.
    """
    text = _THOUGHT.sub("", reply)
    bare = _BARE.fullmatch(text)
    grades = [bare[1]] if bare else _GRADE.findall(text)
    if len(grades) != 1:
        return None
    grade = float(grades[0])
    return grade if grade in scale else None


def orders_a_grade(text: str) -> bool:
    """Whether a text looks as if it ordered a grade or other instructions; such texts are flagged,
    which does not protect.
    """
    return _ORDERS.search(text) is not None
