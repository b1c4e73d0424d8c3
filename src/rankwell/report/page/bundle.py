"""The script that draws the charts: Vega, Vega-Lite and vega-embed as vl-convert carries them, put together once."""

import hashlib
import os
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from rankwell.errors import RankwellError
from rankwell.store import Cache


def vega_bundle() -> str:
    """The script of Vega in a scope of its own, fit to stand in a page; it makes `window.vegaEmbed`.

    Putting it together takes vl-convert seconds, so that it is kept in the user's cache folder, where that can be written.
    """
    import vl_convert

    version = metadata.version("vl-convert-python")
    digest = hashlib.sha256(version.encode()).hexdigest()
    cache = _cache(version)
    kept = None if cache is None else cache.get(digest)
    script = kept.decode() if kept else vl_convert.javascript_bundle()  # pyright: ignore[reportCallIssue]
    if cache is not None and not kept:
        with suppress(OSError):
            cache.put(digest, script.encode())
    return "(() => {" + embeddable(script) + "})();\n"


def embeddable(script: str) -> str:
    """A script that no HTML parser ends early: what closes it or opens a comment can only stand in its texts and patterns."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r\n", "\n").replace("\r", "\n")


def _cache(version: str) -> Cache | None:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    if not Path(home).is_absolute():
        return None
    try:
        return Cache(Path(home) / "rankwell", {"what": "vega bundle", "vl-convert": version})
    except (OSError, RankwellError):
        return None
