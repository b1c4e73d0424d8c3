"""Logs whose rows are not independent."""

from hardening.cases import Case, text_files

_ROWS = "".join(f"u{row % 500},{int(row % 500 < 100)}\n" for row in range(3000))

CASES = [
    Case(
        "B9 three thousand rows of five hundred users",
        "clicks log.csv",
        text_files({"log.csv": f"user_id,click\n{_ROWS}"}),
        codes=(0,),
        shows=r"intervals treat 3000 rows of 500 users \('user_id'\) as independent .* --columns "
        r"query=user_id",
    ),
    Case(
        "B9 the same rows by user",
        "clicks log.csv --columns query=user_id",
        text_files({"log.csv": f"user_id,click\n{_ROWS}"}),
        codes=(0,),
        shows="500 queries counted",
        hides="independent|Traceback",
    ),
]
