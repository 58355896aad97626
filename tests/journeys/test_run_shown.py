"""Results as text, tables and pages of a notebook: columns, figures, names that do no harm."""

import csv
import html
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import small

import harness
from harness.core import table as tables
from harness.core.table import Shown
from harness.evaluation.run import run
from harness.results.run import Run
from harness.stats.chance import Verdict


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Of popular, whose AP is 1, 0 and 1/2, and of random lists."""
    return made(tmp_path_factory.mktemp("pair"), small.POPULAR, small.RANDOM | {"repeats": 10})


def made(folder: Path, *models: dict[str, Any], **evaluation: object) -> Run:
    return run(small.config(folder, models=models, evaluation=evaluation))


def printed(result: Run) -> str:
    return tables.plain(result.sheets()[0])


def as_csv(result: Run) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(tables.as_csv(result.records()))))


def changed(evaluated: Run, **changes: object) -> Run:
    """Return a result of popular alone, with other figures."""
    popular = next(model for model in evaluated.models if model.name == "popular")
    return noted(evaluated, models=(popular.model_copy(update=changes),), comparison=None)


def noted(evaluated: Run, **changes: object) -> Run:
    return replace(evaluated, record=evaluated.record.model_copy(update=changes))


def line(table: str, start: str) -> list[str]:
    """Return the cells of the line that starts so; two spaces or more stand between cells."""
    (row_shown,) = (row for row in table.splitlines() if row.startswith(start))
    return re.split(r"\s{2,}", row_shown)


def test_the_verdict_in_words(result: Run) -> None:
    none = "no better than chance"
    for lift, verdict, shown in (
        (12.94, "better", "12.9"),
        (12345.6, "better", "12,346"),
        (None, none, "–"),
    ):
        doubtful = changed(result, vs_random=Verdict(lift, 9.0, 0.0, verdict))
        assert line(printed(doubtful), "popular")[3:5] == [shown, verdict]


def test_without_exact_chance_of_the_first_metric_there_is_no_lift(tmp_path: Path) -> None:
    short = made(tmp_path, metrics=["MAP(divisor=hits)@2", "Recall@2"])
    assert list(short.record.chance) == ["Recall@2"]
    assert short.models[0].vs_random is None
    assert line(printed(short), "model")[:2] == ["model", "MAP(divisor=hits)@2"]
    assert "lift" not in printed(short)
    assert line(printed(short), "popular")[:2] == ["popular", "0.5000"]
    (row,) = as_csv(short)
    assert (row["lift"], row["p"], row["verdict"]) == ("", "", "")


def test_decimals_enough_to_tell_the_mean(result: Run) -> None:
    metrics = changed(result).models[0].metrics
    for mean, shown in ((0.0031, "0.0031"), (0.00041, "0.00041"), (0, "0.0000")):
        other = metrics | {"MAP@2": replace(metrics["MAP@2"], mean=mean)}
        assert line(printed(changed(result, metrics=other)), "popular")[1] == shown


def test_csv_and_pandas_keep_every_digit(result: Run) -> None:
    rows, frame = as_csv(result), result.to_pandas()
    assert [row["model"] for row in rows] == list(frame.index) == [m.name for m in result.models]
    for model, row in zip(result.models, rows, strict=True):
        for metric, figure in model.metrics.items():
            assert float(row[f"{metric} mean"]) == frame.loc[model.name, metric] == figure.mean
            ends = ["", ""] if figure.ci95 is None else list(map(repr, figure.ci95))
            assert [row[f"{metric} low"], row[f"{metric} high"]] == ends
            assert row[f"{metric} sd_repeats"] == str(figure.sd_repeats or "")
        assert model.vs_random is not None
        assert float(row["p"]) == model.vs_random.p
        assert row["repeats"] == str(model.repeats)


NAME = "a|b <i>&_%#"


def results(folder: Path) -> dict[str, Shown]:
    models = {"name": NAME, "use": small.POPULAR["use"]}, small.RANDOM
    result = run(small.config(folder, models=models))
    result.write(folder / "run")
    truth, lists = "user,items\nann,a b\nbob,c\n", "user,items\nann,a x\nbob,y c\n"
    small.write(folder, {"truth.csv": truth, "lists.csv": lists})
    submission = {"solution": folder / "truth.csv"}
    return {
        "run": result,
        "score": harness.score(folder / "lists.csv", **submission),
        "validate": harness.validate(folder / "lists.csv", **submission),
        "compare": harness.compare(folder / "run"),
        "leaderboard": harness.leaderboard(folder / "run"),
    }


def test_every_result_in_every_form(tmp_path: Path) -> None:
    for kind, result in results(tmp_path).items():
        page = result._repr_html_()  # what a notebook calls
        tags = re.findall(r"<([^/>\s]+)", page)
        assert set(tags) <= {"pre", "table", "thead", "tbody", "tr", "th", "td", "img"}, kind
        assert tags.count("img") == (kind == "run")  # every model's mean, as a chart
        assert tags.count("table") == len(result.sheets())
        text = html.unescape(re.sub(r"<[^>]*>", "", page))
        cells = [cell for sheet in result.sheets() for row in sheet.rows for cell in row]
        assert [cell for cell in cells if cell not in text] == []
        assert kind in ("score", "validate") or NAME in cells
        assert len(result.to_pandas()) == len(result.records())
        assert result.to_latex().count("\\begin{tabular}") == len(result.sheets())
        assert result.to_markdown().count("| :--") >= len(result.sheets())
        assert repr(result)
