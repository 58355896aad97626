"""Every declaration is complete, and its worked examples come out of the public function."""

import polars as pl
import pytest

from harness import evaluate
from harness.metrics import DEFINITIONS, Definition, Example, parse

EXAMPLES = [
    pytest.param(definition, example, id=f"{example.metric}-{place}")
    for definition in DEFINITIONS.values()
    for place, example in enumerate(definition.examples)
]


@pytest.mark.parametrize(("definition", "example"), EXAMPLES)
def test_a_worked_example_is_what_evaluate_returns(
    definition: Definition, example: Example
) -> None:
    looks = None if example.attributes is None else pl.DataFrame(dict(example.attributes))
    lists, truth = example.recommendations, example.truth
    result = evaluate(lists, truth, example.metric, train=example.train, attributes=looks)
    assert result.to_dict() == {example.metric: pytest.approx(example.value, rel=0, abs=1e-12)}
    low, high = definition.range
    assert low <= example.value <= high


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_declaration_lacks_nothing(name: str) -> None:
    definition = DEFINITIONS[name]
    assert all([definition.text, definition.source, definition.examples])
    assert all(parse(e.metric).name == name and e.steps for e in definition.examples)
    low, high = definition.range
    assert low < high
    for text, param in definition.params.items():
        assert param.read(str(param.default)) == param.default, text
        assert param.allowed


def test_which_metrics_there_are_and_of_which_kind() -> None:
    of_lists = {"Coverage", "Gini", "TotalRecall", "MicroRecall"}
    assert set(DEFINITIONS) == of_lists | {
        *("MAP", "Precision", "Recall", "F1", "HitRate", "MRR", "NDCG", "RPrecision", "pFound"),
        *("SetF1", "Novelty", "Popularity", "Serendipity", "ILD"),
    }
    assert {name for name, d in DEFINITIONS.items() if d.of == "set"} == of_lists
    assert {name for name, d in DEFINITIONS.items() if d.better == "lower"} == {"Gini"}
    described = {name for name, d in DEFINITIONS.items() if d.better == "neither"}
    assert described == {"Novelty", "Popularity"}
