"""Any log has the same figures, or the same refusal, in memory and in any buckets."""

from collections.abc import Callable
from typing import Any

import pytest
import small
from hypothesis import given
from hypothesis import strategies as st
from small import MODELS, timeless

from harness.core.errors import DataError, EmptyEvaluationSetError
from harness.evaluation.run import run
from harness.results.run import Run


def outcome(call: Callable[[], Run]) -> Any:
    """Return a run's figures, or what is said of a log that has none."""
    try:
        return timeless(call().to_dict())
    except (DataError, EmptyEvaluationSetError) as error:
        return str(error)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz"), st.integers(1, 9)),
        min_size=4,
        max_size=30,
    ),
    count=st.integers(1, 9),
)
def test_any_log_has_the_same_figures_in_any_buckets(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int]], count: int
) -> None:
    log = "user,item,time\n" + "".join(f"{u},{i},2020-01-0{day}\n" for u, i, day in rows)
    settings = small.config(tmp_path_factory.mktemp("run"), models=MODELS, log=log)
    whole = outcome(lambda: run(settings))
    with small.in_buckets(count):
        assert outcome(lambda: run(settings)) == whole
