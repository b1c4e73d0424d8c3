"""The scripts here need other tools in other environments, so pytest does not import them."""

collect_ignore_glob = ["make_*.py"]
