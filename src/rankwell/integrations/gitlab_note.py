"""A note of a merge request from the Markdown summary of the gate: `python -P -m
rankwell.integrations.gitlab_note`.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote


def main(settings: Mapping[str, str] = os.environ) -> int:
    """Posts RANKWELL_SUMMARY to the merge request of GitLab's own variables with
    RANKWELL_GITLAB_TOKEN; 2 where it cannot.
    """
    names = (
        "CI_API_V4_URL",
        "CI_PROJECT_ID",
        "CI_MERGE_REQUEST_IID",
        "RANKWELL_GITLAB_TOKEN",
        "RANKWELL_SUMMARY",
    )
    missing = [name for name in names if not settings.get(name)]
    if missing:
        sys.stderr.write(f"rankwell: {', '.join(missing)} not set; a note needs them.\n")
        return 2
    url, project, request, token, summary = (settings[name] for name in names)
    notes_url = (
        f"{url}/projects/{quote(project, safe='')}/merge_requests/{quote(request, safe='')}/notes"
    )
    if not notes_url.startswith(("https://", "http://127.0.0.1:")):
        sys.stderr.write(
            "rankwell: CI_API_V4_URL is not an https address; the token is not sent.\n"
        )
        return 2
    try:
        body = json.dumps({"body": Path(summary).read_text(encoding="utf-8")}).encode()
        headers = {"PRIVATE-TOKEN": token, "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(notes_url, body, headers), timeout=30):  # noqa: S310 - checked above
            return 0
    except (OSError, URLError) as error:
        sys.stderr.write(f"rankwell: the note was not posted ({error}).\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
