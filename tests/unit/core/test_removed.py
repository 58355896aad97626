"""A parameter that was removed is answered with what to use instead."""

import pytest

import harness
from harness.core.errors import UsageError
from harness.core.removed import removed


def test_a_call_with_one_is_refused() -> None:
    @removed(size="name sizes=")
    def draw(**sizes: int) -> int:
        return len(sizes)

    with pytest.raises(UsageError, match=r"^draw: size was removed; name sizes=$"):
        draw(size=1)
    assert draw(sizes=2) == 1
    with pytest.raises(UsageError, match=r"^run: whole was removed; .*allow more \(memory=\)"):
        harness.run("exam.toml", whole="keep")  # type: ignore[call-arg]
