"""The way into a session: a file that only its user can read holds the token, and posts it, so that
no address ever has it.
"""

import html
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from rankwell.reporting.page.scripts import source_hash

_SUBMIT = "document.forms[0].submit();"
_GO_ON = 'location.replace("/");'
# A page of this address goes on to it: a browser would not send a strict cookie after a redirection
# from elsewhere.
ENTERED = (
    '<!doctype html><html lang="en"><title>rankwell</title><p><a '
    f'href="/">Judge</a></p><script>{_GO_ON}</script></html>\n'
)
ENTERED_POLICY = (
    f"default-src 'none'; script-src {source_hash(_GO_ON)}; base-uri 'none'; frame-ancestors 'none'"
)


@contextmanager
def opening_file(path: Path, origin: str, token: str) -> Generator[None]:
    """A file of mode 0600 that opens a session when a browser reads it; there while the block
    lasts.
    """
    policy = (
        f"default-src 'none'; script-src {source_hash(_SUBMIT)}; form-action {origin}; base-uri "
        "'none'"
    )
    text = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n<title>rankwell</title>\n<form '
        f'method="post" action="{origin}/enter">\n'
        f'<input type="hidden" name="token" value="{html.escape(token)}">\n<button>Open the '
        "judging page</button>\n</form>\n"
        f"<script>{_SUBMIT}</script>\n</html>\n"
    )
    path.unlink(missing_ok=True)
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(text)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
