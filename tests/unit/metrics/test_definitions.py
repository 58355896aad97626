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
    attributes = None if example.attributes is None else pl.DataFrame(dict(example.attributes))
    found = evaluate(
        example.recommendations,
        example.truth,
        example.metric,
        train=example.train,
        attributes=attributes,
    )
    assert list(found.index) == [example.metric]
    assert found.iloc[0] == pytest.approx(example.value, rel=0, abs=1e-12)
    low, high = definition.range
    assert low <= example.value <= high


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_declaration_lacks_nothing(name: str) -> None:
    definition = DEFINITIONS[name]
    assert definition.text
    assert definition.source
    assert definition.examples
    assert all(parse(e.metric).name == name and e.steps for e in definition.examples)
    low, high = definition.range
    assert low < high


@pytest.mark.parametrize("name", DEFINITIONS)
def test_defaults_are_values_that_the_parameter_reads(name: str) -> None:
    for text, param in DEFINITIONS[name].params.items():
        assert param.read(str(param.default)) == param.default, text
        assert param.allowed


def test_no_metric_of_the_design_is_missing() -> None:
    assert set(DEFINITIONS) == {
        *("MAP", "Precision", "Recall", "F1", "HitRate", "MRR", "NDCG", "RPrecision", "pFound"),
        *("SetF1", "TotalRecall"),  # of competitions
        "MicroRecall",
        *("Novelty", "Popularity", "Serendipity", "ILD", "Coverage", "Gini"),
    }


def test_what_is_one_figure_of_all_lists() -> None:
    whole = {name for name, d in DEFINITIONS.items() if d.of == "set"}
    assert whole == {"Coverage", "Gini", "TotalRecall", "MicroRecall"}


def test_a_lower_gini_is_better_and_what_describes_has_no_better() -> None:
    assert {name for name, d in DEFINITIONS.items() if d.better == "lower"} == {"Gini"}
    described = {name for name, d in DEFINITIONS.items() if d.better == "neither"}
    assert described == {"Novelty", "Popularity"}
