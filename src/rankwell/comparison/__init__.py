"""Work on the results of any task: compare, fuse, gate, and the runner of experiment files."""
