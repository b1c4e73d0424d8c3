"""Commands that belong to no task, one file each: `convert.py` is `rankwell convert`."""
