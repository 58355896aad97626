"""Case 2.1: scores that are tied change nothing in which column is whose, wherever it stands."""

from pathlib import Path

import pytest

import harness


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        ("customer_id,prediction,score", "ann,b,1\nann,a,1\nbob,c,1\n"),
        ("customer_id,score,prediction", "ann,1,b\nann,1,a\nbob,1,c\n"),
        ("prediction,customer_id,score", "b,ann,1\na,ann,1\nc,bob,1\n"),
    ],
)
def test_columns_are_told_by_their_names(tmp_path: Path, head: str, rows: str) -> None:
    """Tied items go by id: a, which is true, before b; and c for bob."""
    (tmp_path / "truth.csv").write_text("customer_id,prediction\nann,a\nbob,c\n")
    (tmp_path / "file.csv").write_text(f"{head}\n{rows}")
    found = harness.score(
        tmp_path / "file.csv", solution=tmp_path / "truth.csv", metrics=["HitRate@1"]
    )
    assert found.metrics["HitRate@1"].mean == 1.0
