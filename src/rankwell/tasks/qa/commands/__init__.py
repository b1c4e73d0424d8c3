"""Commands of the task, one file each."""
