"""The tasks, one folder each; deleting a folder removes the task."""
