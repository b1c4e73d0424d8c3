"""The task of judging: from runs without judgments to a verdict."""
