"""Runs and submissions compared, ranked and held to conditions, from real runs made once."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from pydantic import ValidationError
from small import POPULAR

import harness
from harness.comparison.compare import compare
from harness.comparison.leaderboard import leaderboard
from harness.core.errors import UsageError
from harness.evaluation.run import run
from harness.results.record import RunRecord, fault_of
from harness.results.run import read

LOG = small.LOG + "cid,e,2020-01-06\ndee,b,2020-01-06\ncid,e,2020-01-08\ndee,e,2020-01-08\n"
USERS = "user,town\nann,ash\nbob,elm\ncid,ash\n"
RANDOM = small.RANDOM | {"repeats": 3}
LAST = POPULAR | {"name": "last", "params": {"window_days": 2}}
RULES = {"baseline": "last", "correction": "bh", "resamples": 500, "public_shares": [0.5]}
METRICS = ["MAP@3", "Recall@3"]


def ran(folder: Path, name: str, models: list[Any], **more: Any) -> None:
    small.write(folder, {"users.csv": USERS})
    sections = {"compare": {"resamples": 1000}, "data": {"users": "users.csv"}} | more
    asked = {"k": 3, "metrics": METRICS}
    config = small.config(folder, models=models, log=LOG, evaluation=asked, **sections)
    run(config).write(folder / name)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of runs on one evaluation set; not to be written to."""
    folder = tmp_path_factory.mktemp("compare")
    ran(folder, "runs/one", [POPULAR, RANDOM])
    ran(folder, "runs/last", [LAST])
    ran(folder, "runs/all", [POPULAR, LAST, RANDOM])
    ran(folder, "ruled", [POPULAR, LAST, RANDOM], compare=RULES | {"slices": ["town"]})
    return folder


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """On the 8th all want b, on the 9th a; popular puts a first: 0 and 1, and 1/2 is the mean."""
    folder = tmp_path_factory.mktemp("folded")
    split = {"strategy": "time", "valid_days": 1, "folds": 2}
    asked = {"k": 1, "metrics": ["MAP@1"]}
    log = small.TO_TUNE + "dan,a,2020-01-01\neve,a,2020-01-01\n"
    run(small.config(folder, log=log, split=split, evaluation=asked)).write(folder / "runs" / "two")
    return folder / "runs"


def document(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text())


def test_several_runs_are_compared_as_one_run_of_all_models(runs: Path) -> None:
    first, last, whole = (runs / "runs" / name for name in ("one", "last", "all"))
    together = harness.compare(whole).comparison
    both = harness.compare(first, last)
    assert both.comparison == together
    folders = {model.name: Path(model.run).name for model in both.models}
    assert folders == {"popular": "one", "last": "last", "random": "one"}
    again = harness.compare(first, whole)  # equal models of both count once
    assert again.comparison == together
    assert {m.run for m in again.models if m.name == "popular"} == {f"{first}, {whole}"}
    (pair,) = harness.compare(whole, models=["last"], baseline="popular").comparison.pairs
    assert {pair.one, pair.other} == {"last", "popular"}


def test_rules_of_the_run_hold_unless_others_are_named(runs: Path) -> None:
    folder = runs / "ruled"
    comparison, written = harness.compare(folder), document(folder)
    for part in ("comparison", "shake_up"):
        assert comparison.to_dict()[part] == written[part]
    assert {pair.other for pair in comparison.comparison.pairs} == {"last"}
    assert len(harness.compare(folder, all_pairs=True).comparison.pairs) == 3
    assert {part["by"] for part in written["slices"]} == {"activity", "truth", "repeats", "town"}
    slices = [(part.label, part.users) for part in compare(folder, slices=["town", "truth"]).slices]
    assert slices == [("ash", 2), ("elm", 1), ("no value", 1), ("1", 3), ("2", 1)]
    other = harness.compare(folder, correction="holm", seed=1, public_shares=[0.25])
    assert (other.comparison.correction, other.comparison.seed) == ("holm", 1)
    assert [shift.share for shift in other.shake_up] == [0.25]
    with refusal(UsageError, '"lsat"', '"last"'):
        ran(runs, "none", [POPULAR, LAST], compare={"baseline": "lsat"})


PARTS = "its parts have different models, metrics or folds"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("models", [], "models: Tuple should have at least 1 item"),
        ("models 0 metrics MAP@3 mean", float("nan"), "models.0.metrics.MAP@3.mean"),
        ("models 1 metrics", {"MAP@2": {"mean": 1, "ci95": None}}, PARTS),
        ("comparison pairs 0 one", "nobody", PARTS),
        ("slices 0 models", {}, PARTS),
        ("bridge models", {"popular": {"window": 1, "sample": 1}}, PARTS),
        ("metrics", {"MAP@2": {"better": "higher"}}, PARTS),
        ("evaluation users", 0, "evaluation.users"),
    ],
)
def test_a_record_that_was_changed(runs: Path, path: str, value: Any, message: str) -> None:
    written = small.put(document(runs / "runs/all"), path, value)
    with pytest.raises(ValidationError) as caught:
        RunRecord.model_validate_json(json.dumps(written))
    assert message in fault_of(caught.value)


def test_keys_of_later_versions_are_let_be(runs: Path) -> None:
    expected, written = read(runs / "runs/all").record, document(runs / "runs/all")
    pair, model = written["comparison"]["pairs"][0], written["models"][0]
    for part in (written, written["evaluation"], model, written["comparison"], pair):
        part["later"] = {"x": [1]}
    assert RunRecord.model_validate_json(json.dumps(written)) == expected
    del written["comparison"]["means"]  # which the first comparisons had not
    assert RunRecord.model_validate_json(json.dumps(written)).comparison


def test_means_of_folds(folded: Path) -> None:
    for sign, holds in ((">=", True), (">", False)):
        assert harness.check(folded / "two", f"MAP@1 of popular {sign} 0.5").passed is holds
    board = leaderboard(folded)
    (entry,) = board.groups[0].entries
    assert (entry.mean, entry.folds) == (0.5, (0.0, 1.0))
    assert [board.records()[0][f"fold {n}"] for n in (1, 2)] == [0.0, 1.0]
    (sheet,) = board.sheets()
    folds = [n for n, column in enumerate(sheet.columns) if column.first_out]
    assert [sheet.titles[n] for n in folds] == ["run", "fold 1", "fold 2"]
    assert [sheet.rows[0][n] for n in folds][1:] == ["0.0000", "1.0000"]


def test_a_gate_needs_no_scores_for_the_first_metric(runs: Path, tmp_path: Path) -> None:
    """The pairs of it are in the record."""
    shutil.copytree(runs / "runs/all", tmp_path / "run")
    (tmp_path / "run" / "per_user.parquet").unlink()
    (condition,) = harness.check(tmp_path / "run", "MAP@3 of last better than popular").conditions
    pairs = document(runs / "runs/all")["comparison"]["pairs"]
    adjusted = {frozenset((pair["one"], pair["other"])): pair["p_adjusted"] for pair in pairs}
    assert condition.p_adjusted == adjusted[frozenset(("last", "popular"))]
    with refusal(UsageError, "per_user.parquet"):
        harness.check(tmp_path / "run", "Recall@3 of last better than popular")


def test_lists_are_compared_as_a_run_compares_them(tmp_path: Path) -> None:
    """What `harness submit` writes of two models has the pair that their run has."""
    config = small.config(tmp_path, POPULAR, LAST | {"params": {"window_days": 4}}, small.RANDOM)
    run = harness.run(config)
    frames = {model.name: run.recommendations(model.name)[["user", "item"]] for model in run.models}
    result = harness.compare(frames, config=config, row_order=True)
    (board,) = result.boards
    assert (result.fingerprint, result.metric) == (
        run.evaluation.fingerprint,
        run.comparison.metric,
    )
    assert board.comparison.pairs == run.comparison.pairs
