"""Secrets that a text names as `${NAME}`: taken from the environment when they are used, and never shown."""

import os
import re
from urllib.parse import quote

from rankwell.errors import BadUsage

_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SENSITIVE = re.compile(r"(?i)authori[sz]ation|pass(word|wd)?$|secret|token(?!i[sz])|api[-_]?key|cookie")

# A port, digits up to the path, is not a password; a password may have any character, so that the last @ ends it.
_USER = re.compile(r"[a-z0-9+.-]+://[^:/?#@]*:(?!\d+[/?#])(?P<password>.*)@")
# Such a value may be encoded already.
_IN_URL = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")


class Secrets:
    """The values that texts took from the environment, so that no message shows them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def expand(self, text: str) -> str:
        """The text with the value of each `${NAME}`; the password of a URL is written as a URL writes it.

        Raises BadUsage where the environment has no such variable.
        """
        user = _USER.match(text)

        def _value(match: re.Match[str]) -> str:
            value = os.environ.get(match[1])
            if value is None:
                raise BadUsage(f"{match[0]}: the environment has no variable {match[1]}; set it.")
            self.hide(value, match[0])
            is_password = user is not None and user.start("password") <= match.start() < user.end("password")
            return quote(value, safe="") if is_password and not _IN_URL.fullmatch(value) else value

        return _NAMED.sub(_value, text)

    def hide(self, value: str, name: str) -> None:
        """Shows the name wherever a message has the value, or the value as a URL writes it."""
        self._names |= {form: name for form in (value, quote(value, safe="")) if form}

    def redact(self, text: str) -> str:
        """The text with the name in place of each value, the longest first."""
        for value in sorted(self._names, key=len, reverse=True):
            text = text.replace(value, self._names[value])
        return text

    def __bool__(self) -> bool:
        return bool(self._names)


def refuse_literal(name: str, text: str, *, secret: bool = False) -> None:
    """Raises BadUsage where a setting that is a secret, also by its name, or the password in a URL, is written out; not shown."""
    if (secret or _SENSITIVE.search(name)) and text and not _NAMED.search(text):
        raise BadUsage(f"{name} is written out; name a variable of the environment instead, as in ${{{_variable(name)}}}.")
    user = re.match(_USER, text)
    values = [user["password"]] if user else []
    values += [value for key, value in re.findall(r"[?&]([^=&]+)=([^&#]*)", text) if "://" in text and _SENSITIVE.search(key)]
    if any(value and not _NAMED.fullmatch(value) for value in values):
        scheme = text.partition("://")[0]
        raise BadUsage(f"{scheme}://…: the URL has a password in it; name a variable of the environment, as in ${{PASSWORD}}.")


def _variable(name: str) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
