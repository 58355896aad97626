"""Options that are gone: each is answered with what to do instead."""

import pytest
from conftest import Cli, is_refused, refusal

import harness
from harness.core.errors import UsageError


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("validate lists.csv --engine spark", "--engine was removed; leave it out"),
        ("validate lists.csv --buckets 3", "--buckets was removed; leave it out"),
        (
            "score lists.csv --master local[2]",
            "harness.spark.evaluate(predictions, truth, metrics)",
        ),
        ("score lists.csv --engine=spark", "--engine was removed; leave it out"),
        ("compare run --remote sc://host", "--remote was removed; leave it out: run folders"),
        ("run config.toml --whole keep", "--whole was removed; leave it out: where events are"),
    ],
)
def test_a_removed_option_is_answered_with_what_to_do_instead(
    cli: Cli, line: str, words: str
) -> None:
    is_refused(cli(*line.split()), words)


@pytest.mark.parametrize("name", ["validate", "score", "compare"])
def test_a_removed_function_of_spark_names_the_one_to_use(name: str) -> None:
    spark = pytest.importorskip("harness.spark")
    with refusal(UsageError, f"harness.spark.{name} was removed; use harness.{name}"):
        getattr(spark, name)
    assert callable(getattr(harness, name))
