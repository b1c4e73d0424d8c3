"""Secrets that a text names as `${NAME}`: taken from the environment when they are used, and never
shown.
"""

import json
import os
import re
from urllib.parse import quote, quote_plus, unquote

from rankwell.errors import CREDENTIALS, HIDDEN_PARAMETER, USER_ALONE, BadUsage, without_credentials

_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SENSITIVE = re.compile(
    r"(?i)authori[sz]ation|pass(word|wd)?$|secret|token(?!i[sz])|api[-_]?key|cookie"
)

# Such a value may be encoded already.
_IN_URL = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
_LEAST_CUT = 3
"""A longer beginning of a secret is hidden at the end of a text."""


class Secrets:
    """The values that texts took from the environment, so that no message shows them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def expand(self, text: str) -> str:
        """The text with the value of each `${NAME}`; the password of a URL is written as a URL
        writes it.

        Raises BadUsage where the environment has no such variable.
        """
        user = re.match(CREDENTIALS, text)

        def _value(match: re.Match[str]) -> str:
            value = os.environ.get(match[1])
            if value is None:
                raise BadUsage(f"{match[0]}: {match[1]} is not set; set this environment variable.")
            self.hide(value, match[0])
            is_password = user is not None and user.start("password") <= match.start() < user.end(
                "password"
            )
            return quote(value, safe="") if is_password and not _IN_URL.fullmatch(value) else value

        expanded = _NAMED.sub(_value, text)
        return expanded if user is not None or expanded == text else self._parted(expanded)

    def _parted(self, url: str) -> str:
        """An address that came from the environment, its user and password written as a URL writes
        them, and hidden each.

        What others would part at the first slash or @ would appear in their messages.
        """
        address = re.match(CREDENTIALS, url)
        if address is None:
            return url
        user, password = (
            part if _IN_URL.fullmatch(part) else quote(part, safe="")
            for part in address.group("user", "password")
        )
        for part in (address["password"], password):
            self.hide(part, "${…}")
        return f"{address['scheme']}{user}:{password}@{url[address.end() :]}"

    def hide(self, value: str, name: str) -> None:
        """Shows the name wherever a message has the value, or the value as URLs, forms, JSON and
        Python write it.
        """
        forms = (value, quote(value, safe=""), quote(value), quote_plus(value), unquote(value))
        written = (json.dumps(value)[1:-1], repr(value)[1:-1])
        self._names |= {form: name for form in (*forms, *written) if form}

    def redact(self, text: str) -> str:
        """The text with the name in place of each value, the longest first, also of one that the
        end of the text cuts.
        """
        for value in sorted(self._names, key=len, reverse=True):
            text = text.replace(value, self._names[value])
        for value in self._names:
            for size in range(len(value) - 1, _LEAST_CUT, -1):
                if text.endswith(value[:size]):
                    text = text[:-size] + self._names[value]
                    break
        return without_credentials(text)

    def __bool__(self) -> bool:
        return bool(self._names)


def refuse_literal(name: str, text: str, *, secret: bool = False) -> None:
    """Raises BadUsage where a setting that is a secret, also by its name, or the password in a URL,
    is written out; not shown.
    """
    if (secret or _SENSITIVE.search(name)) and text and not _NAMED.search(text):
        variable = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
        raise BadUsage(
            f"{name} is in plain text; name an environment variable instead, as in ${{{variable}}}."
        )
    user = re.match(CREDENTIALS, text)
    is_written = (
        user is not None and bool(user["password"]) and not _NAMED.fullmatch(user["password"])
    )
    if (
        is_written
        or re.match(USER_ALONE, text)
        or ("://" in text and re.search(HIDDEN_PARAMETER, text))
    ):
        scheme = text.partition("://")[0]
        raise BadUsage(
            f"{scheme}://…: the URL contains a password or a token; name an environment "
            f"variable instead, as in ${{PASSWORD}}."
        )
