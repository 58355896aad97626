"""A result as text: the columns, and figures that a reader can check."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import small
from small import POPULAR

from harness.core import table as records
from harness.core import table as sheet
from harness.experiment import result as text
from harness.experiment.result import Result
from harness.experiment.run import run
from harness.stats.chance import Verdict

RANDOM = small.RANDOM | {"repeats": 10}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Of popular: AP is 1, 0 and 1/2."""
    return made(tmp_path_factory.mktemp("alone"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return made(tmp_path_factory.mktemp("pair"), POPULAR, RANDOM)


def made(folder: Path, *models: dict[str, Any], **evaluation: object) -> Result:
    found = run(small.config(folder, *models, evaluation=evaluation))
    assert isinstance(found, Result)
    return found


def printed(found: Result) -> str:
    return sheet.plain(text.sheet(found))


def as_csv(found: Result) -> str:
    return records.as_csv(found.records())


def changed(found: Result, **changes: object) -> Result:
    """Return a result whose first model has other figures."""
    first, *others = found.models
    return replace(found, models=(first.model_copy(update=changes), *others))


def line(table: str, start: str) -> list[str]:
    """Return the cells of the line that starts so; two spaces or more stand between cells."""
    (found,) = (row for row in table.splitlines() if row.startswith(start))
    return re.split(r"\s{2,}", found)


def test_the_columns(pair: Result) -> None:
    assert line(printed(pair), "model") == [
        "model", "MAP@2", "95 % interval", "lift", "against the best", "Recall@2", "NDCG@2"
    ]  # fmt: skip
    table = sheet.plain(text.sheet(pair, verbose=True))
    assert line(table, "model")[-1] == "time"
    assert re.fullmatch(r"\d+\.\d s", line(table, "popular")[-1])


def test_figures_by_hand(alone: Result) -> None:
    """The interval is as wide as values can be; chance is 3/8."""
    _, mean, interval, lift, verdict, recall, _ = line(printed(alone), "popular")
    assert (mean, interval) == ("0.5000", "0.0000 … 1.0000")
    assert (lift, verdict, recall) == ("1.3", "no better than chance", "0.6667")
    assert line(printed(alone), "chance")[:4] == ["chance (exact)", "0.3750", "1.0", "0.5000"]


def test_notes_stand_above_and_the_evaluation_set_below(alone: Result) -> None:
    found = replace(alone, notes=("7 rows left out",))
    note, blank = printed(found).splitlines()[3:5]
    assert (note, blank) == ("note  7 rows left out", "")
    assert printed(found).splitlines()[-1] == (
        f"3 users · 4 candidates · k = 2 · {found.evaluation_set.fingerprint[:6]} · table · "
        "1 day from 2020-01-08"
    )
    verbose = sheet.plain(text.sheet(found, verbose=True)).splitlines()
    assert "users  3 active in the window → 3 seen in train → 3 with a candidate hit" in verbose


def test_repeats_stand_beside_the_name_with_their_spread(pair: Result) -> None:
    (random,) = (one for one in pair.models if one.name == "random")
    figure = replace(random.metrics["MAP@2"], mean=0.25, sd_repeats=0.0625)
    first = random.model_copy(update={"metrics": {**random.metrics, "MAP@2": figure}})
    cells = line(printed(replace(pair, models=(first,))), "random")
    assert cells[:3] == ["random × 10", "0.2500", "± 0.0625"]


@pytest.mark.parametrize(
    ("verdict", "lift", "word"),
    [
        (Verdict(12.94, 9.0, 0.0, "better"), "12.9", "better"),
        (Verdict(0.5, -9.0, 0.0, "worse than chance"), "0.5", "worse than chance"),
        (Verdict(1.04, 0.1, 0.9, "no better than chance"), "1.0", "no better than chance"),
        (Verdict(12345.6, 9.0, 0.0, "better"), "12,346", "better"),
        (Verdict(None, 0.0, 1.0, "no better than chance"), "–", "no better than chance"),
    ],
)
def test_the_verdict_in_words(alone: Result, verdict: Verdict, lift: str, word: str) -> None:
    assert line(printed(changed(alone, vs_random=verdict)), "popular")[3:5] == [lift, word]


def test_without_exact_chance_the_cells_are_empty(tmp_path: Path) -> None:
    found = made(tmp_path, metrics=["MAP(divisor=hits)@2"])
    assert "chance (exact)" not in printed(found)
    assert line(printed(found), "popular")[:2] == ["popular", "0.5000"]
    (row,) = csv.DictReader(io.StringIO(as_csv(found)))
    assert (row["lift"], row["p"], row["verdict"]) == ("", "", "")


@pytest.mark.parametrize(
    ("mean", "shown"), [(0.5, "0.5000"), (0.0031, "0.0031"), (0.00041, "0.00041"), (0, "0.0000")]
)
def test_decimals_enough_to_tell_the_mean(alone: Result, mean: float, shown: str) -> None:
    metrics = alone.models[0].metrics
    found = changed(alone, metrics=metrics | {"MAP@2": replace(metrics["MAP@2"], mean=mean)})
    assert line(printed(found), "popular")[1] == shown


def test_csv_keeps_every_digit(pair: Result) -> None:
    rows = {row["model"]: row for row in csv.DictReader(io.StringIO(as_csv(pair)))}
    assert list(rows) == [m.name for m in pair.models]
    for model in pair.models:
        row = rows[model.name]
        for metric, figure in model.metrics.items():
            assert float(row[f"{metric} mean"]) == figure.mean
            ends = ["", ""] if figure.ci95 is None else list(map(repr, figure.ci95))
            assert [row[f"{metric} low"], row[f"{metric} high"]] == ends
            assert row[f"{metric} sd_repeats"] == str(figure.sd_repeats or "")
        assert model.vs_random is not None
        assert float(row["p"]) == model.vs_random.p
    assert rows["random"]["repeats"] == "10"


def test_pandas_shows_one_row_a_model(pair: Result) -> None:
    frame = pair.to_pandas()
    assert list(frame.index) == [m.name for m in pair.models]
    assert (frame.loc["popular", "MAP@2"], frame.loc["popular", "MAP@2 high"]) == (0.5, 1)
    metrics = ["MAP@2", "Recall@2", "NDCG@2"]
    ends = [f"{metric} {end}" for metric in metrics for end in ("low", "high", "sd_repeats")]
    assert list(frame.columns) == ["repeats", "tuned", *metrics, *ends, "lift", "p", "verdict"]
