"""The task of judging: from runs without judgments to a verdict."""

PUBLIC_NAMES: dict[str, str] = {}
"""The task adds no name to `rankwell`."""
