"""Tables that are made and written in parts have the bytes of those that are written at once."""

from pathlib import Path

import numpy as np
import pytest

from rankwell.data.frames import Joined
from rankwell.evaluation.details import Details, compact
from rankwell.reporting import folder

GROUP = 122_880


def test_a_table_in_parts_has_the_bytes_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rows = 2 * GROUP + 7
    number = np.arange(rows) % 1000 / 8
    number[::9] = np.nan
    texts = [None if row % 11 == 0 else f"d{row % 5000}" for row in range(rows)]
    edge = GROUP - 3
    halves = [slice(0, edge), slice(edge, rows)]
    columns = {
        "text": Joined([edge, rows - edge], lambda part: texts[halves[part]]),
        "number": number,
    }
    types = {"text": "VARCHAR", "number": "DOUBLE"}
    folder.write_parquet(tmp_path / "whole.parquet", columns, types)
    monkeypatch.setattr(folder, "_ROWS", GROUP)
    folder.write_parquet(tmp_path / "parts.parquet", columns, types)
    assert (tmp_path / "parts.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts.parquet", "whole.parquet"]


@pytest.mark.parametrize(("start", "stop"), [(0, 6), (1, 3), (2, 2), (3, 6), (-2, None), (5, 99)])
def test_rows_of_a_column_in_parts_are_those_of_the_whole(start: int, stop: int | None):
    parts = [[1.0, 2.0], [], [3.0], [4.0, 5.0, 6.0]]
    column = Joined([len(part) for part in parts], lambda place: np.array(parts[place]))
    assert column[start:stop].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0][start:stop]
    assert list(column) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_compact_details_are_the_same(rows: int):
    query = np.array(["q1", "q1", "é", "é", "q\0"], dtype=object)[:rows]
    item = np.array(["a", "", "ö\0", "日本", "b"], dtype=object)[:rows]
    numbers = np.array([1.0, np.nan, 2.0, 3.0, 1.0])[:rows]
    state = np.array(["relevant", "junk", "unjudged", "nonrelevant", "unjudged"], dtype=object)[
        :rows
    ]
    details = Details(query, item, numbers, numbers / 3, numbers * 0.1, state)
    for name, column in compact(details)._asdict().items():
        assert (
            np.asarray(column, dtype=object).astype(str).tolist()
            == getattr(details, name).astype(str).tolist()
        )
