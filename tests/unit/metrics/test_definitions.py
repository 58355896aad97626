"""Every declaration is complete, and its worked examples come out of the public function."""

import polars as pl
import pytest

from harness import evaluate
from harness.metrics import DEFINITIONS, parse


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_declaration_lacks_nothing_and_evaluate_returns_its_worked_examples(name: str) -> None:
    definition = DEFINITIONS[name]
    assert all([definition.text, definition.source, definition.examples])
    low, high = definition.range
    for e in definition.examples:
        looks = None if e.attributes is None else pl.DataFrame(dict(e.attributes))
        lists, truth = e.recommendations, e.truth
        result = evaluate(lists, truth, e.metric, train=e.train, attributes=looks)
        assert result.to_dict() == {e.metric: pytest.approx(e.value, rel=0, abs=1e-12)}
        assert parse(e.metric).name == name
        assert e.steps
        assert low <= e.value <= high
    for text, param in definition.params.items():
        assert param.read(str(param.default)) == param.default, text
        assert param.allowed
