"""Judges of answers: functions that grade them, by `./FILE.py:FUNCTION` or, in Python, by a name
given to them.
"""

from collections.abc import Callable, Sequence

from rankwell.data.code import load_object
from rankwell.data.registry import Measure, parse_measure
from rankwell.errors import BadUsage, shown

Grade = Callable[[str, str, Sequence[str]], float]
"""Of the texts of the question and the answer and of the right answers: a number, higher is better.
"""

_JUDGES: dict[str, Grade] = {}


def answer_judge(function: Grade, *, name: str | None = None) -> Measure:
    """Turns your function that grades answers into a measure, for `evaluate_qa`.

    An exception of the function, or a value outside 0 to 1, ends the evaluation: no grade is ever
    filled in. A function replaces an earlier one with the same name.
    Raises BadUsage for an object that cannot be called, and for a lambda or an object without a
    name.

    Parameters
    ----------
    function
        Called with the texts of question and answer and the list of right answers; it returns a
        number from 0 to 1.
    name
        Name in the rules of a result. By default `module:function`, for a function that is defined
        in a module.

    >>> import rankwell as rw
    >>> judge = rw.answer_judge(
    ...     lambda question, answer, right: float(answer in right), name="exact"
    ... )
    >>> right = rw.Questions.from_texts({"q": ["Paris"]})
    >>> rw.evaluate_qa(right, {"q": "Paris"}, measures=judge, convention="nq-open")[str(judge)]
    1.0
    """
    if not callable(function):
        raise BadUsage(
            f"{shown(function)} is not a judge; expected a function of question, answer and "
            "right answers."
        )
    code = getattr(function, "__qualname__", "<object>")
    if name is None and "<" in code:
        raise BadUsage(
            f"a judge that is not defined in a module ({code}) has no name of its own; pass "
            "one as name=."
        )
    if name is not None and not name.isidentifier():
        raise BadUsage(f"a judge: {name!r} is not a name; expected letters, digits and _.")
    called = name or f"{function.__module__}:{code}"
    _JUDGES[called] = function
    return parse_measure(f"AnswerJudge(judge={called!r})")


def judge_of(name: str) -> Grade:
    """The function registered under a name, or that a name of code stands for. Raises BadUsage
    where there is none.
    """
    return _JUDGES[name] if name in _JUDGES else load_object(name)
