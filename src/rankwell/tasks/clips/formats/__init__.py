"""File formats that only this task has."""
