"""Runs read back and compared, in one folder and in several; and what is refused."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from small import POPULAR

import harness
from harness.core import table
from harness.core.errors import DataError, HarnessError, UsageError
from harness.experiment import run_folder
from harness.experiment.compare import Compared, compare
from harness.experiment.run import run

LOG = """user,item,time
ann,a,2020-01-01
ann,b,2020-01-02
bob,b,2020-01-03
bob,c,2020-01-03
cid,d,2020-01-06
cid,e,2020-01-06
dee,b,2020-01-06
ann,b,2020-01-08
bob,d,2020-01-08
cid,a,2020-01-08
cid,e,2020-01-08
dee,e,2020-01-08
"""
USERS = """user,town
ann,ash
bob,elm
cid,ash
"""

RANDOM = small.RANDOM | {"repeats": 3}
LAST = POPULAR | {"name": "last", "params": {"window_days": 2}}


def ran(folder: Path, name: str, *models: Any, k: int = 3, **more: Any) -> Path:
    """Return the folder of a run of models."""
    small.write(folder, {"users.csv": USERS})
    asked = {"k": k, "metrics": [f"MAP@{k}", f"Recall@{k}"]}
    more["data"] = {"users": "users.csv"}
    run(small.config(folder, *models, log=LOG, evaluation=asked, **more)).write(folder / name)
    return folder / name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a run of two models."""
    return ran(tmp_path, "run", POPULAR, LAST)


def document(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text())


def origin(found: Compared) -> dict[str, str]:
    return {model.name: model.run for model in found.models}


def test_a_run_reads_back_as_it_was(tmp_path: Path) -> None:
    folder = ran(tmp_path, "run", POPULAR, RANDOM)
    found = run_folder.read(folder)
    written = document(folder)
    for model in written["models"]:
        for metric, told in zip(found.metrics.values(), model["metrics"].values(), strict=True):
            mean = found.tables[model["name"]].of_users(metric).mean()
            assert mean == pytest.approx(told["mean"], rel=1e-12)
    assert found.tables["random"].repeats == 3
    assert found.user_ids.to_list() == found.users["user"].to_list()
    assert found.environment["written"].endswith("+00:00")


def test_comparing_a_run_gives_what_the_run_said(tmp_path: Path) -> None:
    folder = ran(tmp_path, "run", POPULAR, LAST, RANDOM)
    written = document(folder)
    found = harness.compare(folder).to_dict()
    assert found["comparison"] == written["comparison"]
    assert found["shake_up"] == written["shake_up"]
    said = {m["name"]: m["metrics"]["MAP@3"] for m in written["models"]}
    assert {m["name"]: m["metrics"]["MAP@3"] for m in found["models"]} == said


def test_runs_on_one_evaluation_set_are_compared(tmp_path: Path) -> None:
    one, other = ran(tmp_path, "one", POPULAR), ran(tmp_path, "two", LAST, RANDOM)
    both = harness.compare(one, other)
    together = harness.compare(ran(tmp_path, "all", POPULAR, LAST, RANDOM))
    assert both.comparison == together.comparison
    assert origin(both) == {"popular": str(one), "last": str(other), "random": str(other)}


def test_equal_models_of_two_runs_count_once(tmp_path: Path) -> None:
    one = ran(tmp_path, "one", POPULAR, RANDOM)
    other = ran(tmp_path, "two", POPULAR, LAST, RANDOM)
    both = harness.compare(one, other)
    assert both.comparison == harness.compare(other).comparison
    assert origin(both)["popular"] == f"{one}, {other}"


def test_one_name_for_two_models_is_shown_with_its_run(tmp_path: Path) -> None:
    one = ran(tmp_path, "one", POPULAR)
    other = ran(tmp_path, "two", {**LAST, "name": "popular"})
    (pair,) = harness.compare(one, other).comparison.pairs
    assert {pair.one, pair.other} == {f"popular ({one})", f"popular ({other})"}


def test_some_models_alone(tmp_path: Path) -> None:
    """Their p values are the same as among all; there are fewer to correct for."""
    folder = ran(tmp_path, "run", POPULAR, LAST, RANDOM)
    (pair,) = harness.compare(folder, models=["last", "random"]).comparison.pairs
    pairs = harness.compare(folder).comparison.pairs
    among = next(p for p in pairs if {p.one, p.other} == {"last", "random"})
    assert (pair.p_sign_flip, pair.ci95_bootstrap) == (among.p_sign_flip, among.ci95_bootstrap)
    (pair,) = harness.compare(folder, models=["last"], baseline="popular").comparison.pairs
    assert {pair.one, pair.other} == {"last", "popular"}
    with pytest.raises(UsageError, match=r'"lst".*"last"'):
        harness.compare(folder, models=["lst"])


def test_the_runs_own_rules_hold_unless_others_are_named(tmp_path: Path) -> None:
    own = {"baseline": "last", "correction": "bh", "resamples": 500, "public_shares": [0.5]}
    folder = ran(tmp_path, "run", POPULAR, LAST, RANDOM, compare=own)
    found = harness.compare(folder)
    assert found.to_dict()["comparison"] == document(folder)["comparison"]
    assert found.to_dict()["shake_up"] == document(folder)["shake_up"]
    assert len(harness.compare(folder, all_pairs=True).comparison.pairs) == 3
    other = harness.compare(folder, correction="holm", seed=1, public_shares=[0.25])
    assert (other.comparison.correction, other.comparison.seed) == ("holm", 1)
    assert [one.share for one in other.shake_up] == [0.25]


def test_another_evaluation_set_is_refused_and_the_fields_are_named(tmp_path: Path) -> None:
    one, other = ran(tmp_path, "one", POPULAR), ran(tmp_path, "two", LAST, k=2)
    words = [str(one), str(other), "they differ in k and agree in users, candidates, truth, seen; "]
    with refusal(UsageError, *words):
        harness.compare(one, other)


def of_an_earlier_version(folder: Path) -> None:
    """Make a run as it was before records said how fingerprints are made."""
    record = document(folder)
    del record["evaluation"]["fingerprint_format"]
    record["evaluation"]["fields"]["truth"] = "0" * 64
    (folder / "result.json").write_text(json.dumps(record))


@pytest.mark.parametrize("order", [1, -1])
def test_the_earlier_of_two_ways_of_fingerprints_is_to_be_run_again(
    tmp_path: Path, order: int
) -> None:
    old, new = ran(tmp_path, "old", POPULAR), ran(tmp_path, "new", LAST)
    of_an_earlier_version(old)
    words = [f"{old}: was written by an earlier version than {new}", f"run {old}/config.toml"]
    with refusal(UsageError, *words):
        harness.compare(*[old, new][::order])


def test_two_runs_of_an_earlier_version_compare(tmp_path: Path) -> None:
    one, other = ran(tmp_path, "one", POPULAR), ran(tmp_path, "two", LAST)
    of_an_earlier_version(one)
    of_an_earlier_version(other)
    assert len(harness.compare(one, other).comparison.pairs) == 1


def test_slices_of_the_users(tmp_path: Path) -> None:
    folder = ran(tmp_path, "run", POPULAR, LAST, compare={"slices": ["town"]})
    found = harness.compare(folder, slices=["town", "truth"]).slices
    assert [(s.by, s.label, s.users) for s in found] == [
        ("town", "ash", 2), ("town", "elm", 1), ("town", "no value", 1), ("truth", "1", 3),
        ("truth", "2", 1),
    ]  # fmt: skip
    written = document(folder)
    assert {s["by"] for s in written["slices"]} == {"activity", "truth", "repeats", "town"}


def test_a_column_that_the_run_does_not_know(folder: Path) -> None:
    with refusal(UsageError, str(folder), '"town"', "activity", '[compare] slices = ["town"]'):
        harness.compare(folder, slices=["town"])


@pytest.mark.parametrize(
    ("column", "named"),
    [("twon", ['"twon"', '"town"']), ("activity", ["every evaluation set has"])],
)
def test_a_column_that_no_user_has(tmp_path: Path, column: str, named: list[str]) -> None:
    with refusal(UsageError, "[compare] slices", *named):
        ran(tmp_path, "run", POPULAR, compare={"slices": [column]})


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"metric": "MAP@2"}, ['"MAP@2"', "MAP@3"]),
        ({"baseline": "best"}, ['"best"', "popular"]),
        ({"correction": "holmes"}, ['"holmes"', '"holm"']),
        ({"resamples": 5}, ["resamples = 5", "100"]),
        ({"seed": -1}, ["seed = -1", "from 0"]),
        ({"seed": 1.5}, ["seed = 1.5"]),
        ({"public_shares": [1.5]}, ["1.5", "between 0 and 1"]),
    ],
)
def test_options_that_are_wrong(folder: Path, options: Any, named: list[str]) -> None:
    with refusal(UsageError, *named):
        compare(folder, **options)


def test_a_metric_of_all_lists_compares_no_models(tmp_path: Path) -> None:
    """Micro-averaged recall adds up hits and true items of all users before it divides."""
    rules = {"k": 2, "metrics": ["MAP@2", "MicroRecall@2"]}
    run(small.config(tmp_path, log=LOG, evaluation=rules)).write(tmp_path / "run")
    with refusal(UsageError, "MicroRecall@2 is one value for all lists", "allowed: MAP@2"):
        compare(tmp_path / "run", metric="MicroRecall@2")


def test_no_run_and_one_run_twice(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="named twice"):
        compare(folder, tmp_path / "." / "run")
    with pytest.raises(UsageError, match="no run to compare"):
        compare()
    with pytest.raises(UsageError, match="is no run folder, but holds 1 run"):
        compare(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("result.json", "{"),
        ("result.json", '{"evaluation": {}}'),
        ("result.json", "[1e999]"),
        ("environment.json", "no"),
        ("per_user.parquet", "no"),
    ],
)
def test_a_damaged_folder(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    with pytest.raises(HarnessError, match=name):
        found = run_folder.read(folder)
        _ = found.tables, found.environment


def test_scores_that_were_changed(folder: Path) -> None:
    path = folder / "per_user.parquet"
    user_scores = pl.read_parquet(path)
    for changed, named in (
        (user_scores[1:], "has not all scores"),
        (user_scores[:-1], "has not all scores"),
        (user_scores.with_columns(pl.lit("ann").alias("user")), "has not all scores"),
        (user_scores.with_columns(pl.col("repeat") + 1), "has not all scores"),
        (user_scores.drop("repeat"), "no column repeat"),
        (user_scores.drop("MAP@3"), "no column MAP@3"),
        (user_scores.with_columns(pl.lit(float("nan")).alias("MAP@3")), "is no number"),
        (user_scores.with_columns(pl.lit(1e300).alias("MAP@3")), "is no number"),
        (user_scores.with_columns(pl.lit(None).alias("MAP@3")), "is no number"),
        (user_scores.with_columns(pl.lit("x").alias("MAP@3")), "holds no scores"),
    ):
        changed.write_parquet(path)
        with pytest.raises(DataError, match=named):
            compare(folder)


def test_the_order_of_rows_never_matters(tmp_path: Path) -> None:
    folder = ran(tmp_path, "run", POPULAR, LAST, RANDOM)
    before = compare(folder, slices=["truth"]).to_dict()
    for name in ("per_user.parquet", "users.parquet"):
        rows = pl.read_parquet(folder / name)
        rows.sample(fraction=1, shuffle=True, seed=1).write_parquet(folder / name)
    assert compare(folder, slices=["truth"]).to_dict() == before


def test_users_of_another_evaluation_set(folder: Path) -> None:
    users = pl.read_parquet(folder / "users.parquet")
    users.with_columns(user=pl.lit("x")).write_parquet(folder / "users.parquet")
    with pytest.raises(DataError, match="holds other users"):
        compare(folder, slices=["truth"])


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("models", 0, "metrics", "MAP@3", "mean"), "0.5", "models.0.metrics.MAP@3.mean"),
        (("models", 0, "metrics", "MAP@3", "mean"), float("nan"), "models.0.metrics.MAP@3.mean"),
        (("models", 0, "metrics", "MAP@3", "ci95"), [1], "models.0.metrics.MAP@3.ci95"),
        (
            ("models", 1, "metrics"),
            {"MAP@2": {"mean": 1, "ci95": None}},
            "not all models have the same metrics",
        ),
        (("comparison", "pairs", 0, "one"), "nobody", '"nobody" is none of its models'),
        (("shake_up", 0, "pairs"), 3, "shake_up.0.pairs"),
        (("slices", 0, "models"), {}, "not all slices"),
        (
            ("bridge", "models"),
            {"popular": {"window": 1, "sample": 1}},
            "the leaderboard estimate has not all of its models",
        ),
        (
            ("comparison", "pairs", 0, "wins"),
            -1,
            "comparison.pairs.0.wins: Input should be greater",
        ),
        (
            ("comparison", "correction"),
            None,
            "comparison.correction: Input should be a valid string",
        ),
        (("models", 0, "repeats"), 1.0, "models.0.repeats: Input should be a valid integer"),
        (("evaluation", "k"), 0, "evaluation.k"),
        (("chance",), [], "chance"),
    ],
)
def test_a_result_that_was_changed(folder: Path, path: Any, value: Any, named: str) -> None:
    written = document(folder)
    part = written
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    (folder / "result.json").write_text(json.dumps(written))
    with refusal(DataError, "result.json: is no result of harness run", named):
        run_folder.read(folder)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    folder = ran(tmp_path, "run", POPULAR, LAST, RANDOM)
    record = run_folder.read(folder).record
    assert table.document(record) == document(folder)


def test_keys_of_later_versions_are_let_be(folder: Path) -> None:
    expected, written = run_folder.read(folder).record, document(folder)
    pair, model = written["comparison"]["pairs"][0], written["models"][0]
    for part in (written, written["evaluation"], model, written["comparison"], pair):
        part["later"] = {"x": [1]}
    (folder / "result.json").write_text(json.dumps(written))
    assert run_folder.read(folder).record == expected


def test_a_run_of_the_first_version_reads(folder: Path) -> None:
    """It had models, their metrics and the evaluation set alone; the next one no means of pairs."""
    written = document(folder)
    del written["comparison"]["means"]
    (folder / "result.json").write_text(json.dumps(written))
    assert run_folder.read(folder).record.comparison
    first = {"evaluation": written["evaluation"], "models": written["models"]}
    for model in first["models"]:
        del model["curve"], model["described"], model["tuned"]
        for estimate in model["metrics"].values():
            del estimate["ci95_t"], estimate["ci95_bootstrap"]
    (folder / "result.json").write_text(json.dumps(first))
    assert {model.name for model in compare(folder).models} == {"popular", "last"}


def test_a_result_with_one_model_twice(folder: Path) -> None:
    written = document(folder)
    written["models"][1] = written["models"][0]
    (folder / "result.json").write_text(json.dumps(written))
    with pytest.raises(DataError, match="two models have one name"):
        run_folder.read(folder)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(UsageError, match="is no run folder"):
        run_folder.read(Path("a" * 300))


def test_a_baseline_in_the_config(tmp_path: Path) -> None:
    folder = ran(tmp_path, "run", POPULAR, LAST, RANDOM, compare={"baseline": "last"})
    written = document(folder)
    assert {pair["other"] for pair in written["comparison"]["pairs"]} == {"last"}
    with pytest.raises(UsageError, match=r'"lsat".*"last"'):
        ran(tmp_path, "run", POPULAR, LAST, compare={"baseline": "lsat"})


def test_a_single_model_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    written = document(ran(tmp_path, "run", POPULAR))
    assert written["comparison"] is None
    assert written["shake_up"] == []
    with pytest.raises(UsageError, match="only one model"):
        compare(tmp_path / "run")


def test_results_as_other_tables(tmp_path: Path) -> None:
    found = compare(ran(tmp_path, "run", {**POPULAR, "name": "a|b<i>_&"}, LAST), slices=["truth"])
    assert list(found.to_pandas()["verdict"]) == ["tied"]
    assert "a\\|b&lt;i&gt;_&" in found.to_markdown()
    latex = found.to_latex()
    assert "a\\textbar{}b\\textless{}i\\textgreater{}\\_\\&" in latex
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") == 3
    html = found._repr_html_()
    assert "a|b&lt;i&gt;_&" in html
    assert "<i>" not in html
    assert html.count("<table>") == html.count("</table>") == 3
    first = repr(found).splitlines()[0]
    assert first.endswith("k = 3 · 4 users · " + found.evaluation.fingerprint[:6])
