"""Public names of studies: none yet; the commands are in `commands/`."""
