"""The Hugging Face Hub: whether it can be reached, asked once, before a library asks it again for
minutes.
"""

from functools import cache
from pathlib import Path

from rankwell.errors import sentence

_SECONDS = 5


@cache
def _problem() -> str:
    """The reason why the Hub cannot be reached; empty where it answers, whatever it says."""
    from huggingface_hub import constants
    from huggingface_hub.utils import get_session

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    try:
        get_session().head(constants.ENDPOINT, timeout=_SECONDS)
    except Exception as error:  # of the client that the library has, which changes with its version
        return f"{constants.ENDPOINT} cannot be reached: {str(error) or type(error).__name__}"
    return ""


def is_local(model: str) -> bool:
    """Whether a model is loaded without the Hub: a folder, or any name where the Hub cannot be
    reached.
    """
    return Path(model).is_dir() or bool(_problem())


def why_not_loaded(model: str, error: Exception) -> str:
    """The reason why no model was loaded, in a line: the library's, or that the Hub cannot be
    reached and its cache lacks it.
    """
    if not Path(model).is_dir() and (problem := _problem()):
        return (
            f"{sentence(problem).removesuffix('.')}, and it is neither a folder nor in the cache "
            "of models"
        )
    return str(error).strip().splitlines()[0][:200]
