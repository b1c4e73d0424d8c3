"""Runs against judgments: the task behind `rankwell evaluate`."""
