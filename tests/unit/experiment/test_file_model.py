"""Precomputed lists: a file is evaluated like a model, and scores what `harness score` says."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from small import POPULAR

import harness
from harness import config as config_
from harness.config import Config
from harness.core.errors import UsageError
from harness.experiment.explain import of_run
from harness.experiment.result import Result
from harness.experiment.run import run
from harness.experiment.submissions import SubmissionError
from harness.experiment.submit import submit

ROOT = Path(__file__).parents[2]
BEYOND = ["Novelty", "Popularity", "Coverage", "Gini", "MAP(divisor=retrieved)"]


def sample(name: str, *models: dict[str, Any], **evaluation: Any) -> Config:
    """Return a demo's config with other models, or its own."""
    values = tomllib.loads((ROOT / "configs" / f"{name}.toml").read_text(encoding="utf-8"))
    values["evaluation"] |= evaluation
    values["compare"] = {"resamples": 100}
    values["models"] = [*values["models"], *models]
    return config_.parse(values, ROOT / "configs")


def figures(result: Result, model: str) -> dict[str, float]:
    (found,) = [one for one in result.models if one.name == model]
    return {name: figure.mean for name, figure in found.metrics.items()}


@pytest.mark.parametrize("name", ["demo", "demo-ponpare"])
@pytest.mark.parametrize("seen_items", ["keep", "drop"])
def test_a_run_says_what_score_says(name: str, seen_items: str, tmp_path: Path) -> None:
    """Lists with holes: some are empty, some repeat an item, some hold what no candidate is."""
    k = 12 if name == "demo" else 10
    more = {"seen_items": seen_items, "metrics": [f"{m}@{k}" for m in ("MAP", "NDCG", *BEYOND)]}
    config = sample(name, **more)
    submit(config, "repurchase", tmp_path / "own.csv")
    frame = pl.read_csv(tmp_path / "own.csv", infer_schema=False)
    items = frame.columns[1]
    catalogue = sorted({i for text in frame[items].drop_nulls() for i in text.split(" ")})
    old = pl.read_csv(ROOT / "data" / "ponpare-sample" / "coupon_list_train.csv.gz")
    other = catalogue[0] if name == "demo" else old["COUPON_ID_hash"][0]
    changed = [
        {0: None, 1: text, 2: f"{other} {text}", 3: text}[row % 4] if text else None
        for row, text in enumerate(frame[items].to_list())
    ]
    texts = [None if t is None else " ".join(t.split(" ")[:k]) for t in changed]
    frame.with_columns(pl.Series(items, texts)).write_csv(tmp_path / "lists.csv")
    config = sample(name, {"name": "ready", "lists": str(tmp_path / "lists.csv")}, **more)
    result = run(config)
    scored = harness.score(tmp_path / "lists.csv", config=config)
    assert figures(result, "ready") == {m: f.mean for m, f in scored.metrics.items()}
    n = scored.left_out["users_without_list"]
    assert n > 0
    assert f'model "ready": {n} evaluated users have no list, and score 0' in result.notes
    odd = [note for note in result.notes if "items that are no candidates" in note]
    assert len(odd) == (name == "demo-ponpare")  # in H&M every article is a candidate


LOG = """user,item,time
ann,a,2020-01-01
bob,b,2020-01-02
bob,c,2020-01-02
cid,b,2020-01-03
ann,b,2020-01-09
bob,a,2020-01-09
cid,new,2020-01-09
cid,c,2020-01-09
"""
"""The last day is held out: ann's truth is b, bob's a, cid's c and new, which is no candidate."""

PRECOMPUTED = {"name": "ready", "lists": "lists.csv"}
FILL = {"name": "fill", "use": "baselines.fill:Fill", "of": ["ready", "popular"]}


def config(folder: Path, text: str, *models: dict[str, Any], **evaluation: Any) -> Config:
    """Return a config on `LOG` in a folder, with lists of this text, and write it there too."""
    small.write(folder, {"lists.csv": text})
    asked = {"k": 3, "metrics": ["MAP@3", "Recall@3"]} | evaluation
    models = models or (PRECOMPUTED,)
    return small.config(folder, *models, log=LOG, evaluation=asked, compare={"resamples": 100})


def user_scores(result: Result, model: str = "ready", metric: str = "MAP@3") -> list[float]:
    (found,) = [one for one in result.models if one.name == model]
    values = next(v for m, v in found.scores.values.items() if str(m) == metric)
    return [round(value, 12) for value in values[0].tolist()]


def test_items_that_cannot_hit_use_their_places(tmp_path: Path) -> None:
    """Of ann's list b stands third; of bob's a second; cid's c, of two true items, third."""
    text = "user,items\nann,zzz new b\nbob,b a a\ncid,new zzz c\n"
    result = run(config(tmp_path, text))
    assert user_scores(result) == [round(value, 12) for value in (1 / 3, 1 / 2, 1 / 6)]
    told = 'model "ready": 4 positions hold items that are no candidates, and cannot hit'
    assert result.notes == (told, 'model "ready": SUB303 "a" stands in the list already')


@pytest.mark.parametrize(
    ("text", "expected", "told"),
    [
        (
            "user,rank,item\nann,1,\nann,2,b\nbob,1,a\n",
            [1 / 2, 1, 0],
            {"SUB316 no item has the rank before that of"},
        ),
        ("user,item\nann,\nann,b\nbob,a\n", [1, 1, 0], {"SUB301 a row has no item"}),
        ("user,item\nann,b\nbob,a\nann,a\n", [1, 1, 0], {"SUB319 the row of"}),
        ("user,items\nann,zzz b\nbob,a\ncid,\n", [1 / 2, 1, 0], set()),
    ],
)
def test_what_moves_items_in_a_file_is_told(
    tmp_path: Path, text: str, expected: list[float], told: set[str]
) -> None:
    result = run(config(tmp_path, text))
    assert user_scores(result) == expected
    notes = [note for note in result.notes if "SUB" in note]
    assert len(notes) == len(told)
    for words in told:
        assert any(note.startswith(f'model "ready": {words}') for note in notes)


def test_seen_items_use_their_places_where_they_are_dropped(tmp_path: Path) -> None:
    result = run(config(tmp_path, "user,items\nann,a b\nbob,b c a\n", seen_items="drop"))
    assert user_scores(result) == [1 / 2, round(1 / 3, 12), 0]
    assert result.notes == ('model "ready": 1 evaluated user has no list, and scores 0',)


def test_a_valid_file_is_not_refused_when_its_ids_are_looked_up(tmp_path: Path) -> None:
    """Three candidates tell nothing of ids; all thirty items say that zzz looks like none."""
    settings = config(tmp_path, "user,items\nann,zzz 17 2\n", metrics=["MAP@3"])
    rows = [("ann", "1", 1), ("bob", "2", 2), ("cid", "3", 3), ("ann", "2", 9), ("bob", "1", 9)]
    rows += [("cid", str(item), 9) for item in range(3, 31)]
    log = [f"{user},{item},2020-01-{day:02}\n" for user, item, day in rows]
    (tmp_path / "log.csv").write_text("user,item,time\n" + "".join(log))
    result = run(settings)
    assert user_scores(result) == [round(1 / 3, 12), 0, 0]
    result.write(tmp_path / "run")
    found = of_run(tmp_path / "run", "ready")
    names = found.items.gather(found.lists[0]).to_list()
    assert names == ["(an item that nobody knows)", "17", "2"]


def test_a_part_answers_with_candidates_alone(tmp_path: Path) -> None:
    """As a part, ann's list is b, c: new is no candidate; b, c and a fill up, most popular first.

    In training b has two events, a and c one each.
    """
    text = "user,items\nann,new c zzz\nbob,a a\n"
    result = run(config(tmp_path, text, FILL, PRECOMPUTED, POPULAR))
    assert user_scores(result, "fill") == [1 / 2, 1, round(1 / 3 / 2, 12)]
    assert user_scores(result, "popular") == [1, 1 / 2, round(1 / 3 / 2, 12)]


def test_a_part_obeys_exclude(tmp_path: Path) -> None:
    """ann had a, so hers is b, then c; bob has b and c; cid had b, so his is c."""
    text = "user,items\nann,a c\nbob,b c a\ncid,b c\n"
    result = run(config(tmp_path, text, FILL, PRECOMPUTED, POPULAR, seen_items="drop"))
    assert user_scores(result, "fill") == [1 / 2, 1, 1 / 2]


@pytest.mark.parametrize("folder", ["run", "moved"])
def test_a_run_is_explained_and_repeated_from_elsewhere(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "user,items\nann,new zzz b\nbob,a\n"
    result = run(config(tmp_path / "shop", text, PRECOMPUTED, POPULAR))
    result.write(tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / folder)
    monkeypatch.chdir(tmp_path.parent)
    again = run(tmp_path / folder / "config.toml")
    assert user_scores(again) == user_scores(result) == [round(1 / 3, 12), 1, 0]
    found = of_run(tmp_path / folder, "ready")
    first = found.items.gather(found.lists[0]).to_list()
    assert first == ["new", "(an item that nobody knows)", "b"]
    assert found.solution.users.to_list() == ["ann", "bob", "cid"]


def test_lists_that_changed_since_the_run_are_refused(tmp_path: Path) -> None:
    found = run(config(tmp_path, "user,items\nann,b\n"))
    found.write(tmp_path / "run", recommendations=False)
    (tmp_path / "lists.csv").write_text("user,items\nann,c\n")
    with pytest.raises(UsageError, match='model "ready" gives other lists than in this run'):
        of_run(tmp_path / "run", "ready")


def test_precomputed_lists_as_a_submission_score_the_same(tmp_path: Path) -> None:
    settings = config(tmp_path, "user,items\nann,new b c\nbob,a\n", PRECOMPUTED, POPULAR)
    submit(settings, "ready", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "user,item\nann,new b c\nbob,a\ncid,\n"
    scored = harness.score(tmp_path / "out.csv", config=settings)
    assert scored.metrics["MAP@3"].mean == figures(run(settings), "ready")["MAP@3"]


def test_items_that_nobody_knows_cannot_be_submitted(tmp_path: Path) -> None:
    settings = config(tmp_path, "user,items\nann,zzz b\n")
    with pytest.raises(UsageError, match='model "ready": its lists hold items that neither'):
        submit(settings, "ready", tmp_path / "out.csv")
    with pytest.raises(UsageError, match=r"lists\.csv"):
        submit(settings, "ready", tmp_path / "lists.csv")


def test_a_file_with_errors_is_refused_as_score_refuses_it(tmp_path: Path) -> None:
    settings = config(tmp_path, "user,items\nann,b c\nann,b\n")
    with pytest.raises(SubmissionError) as by_score:
        harness.score(tmp_path / "lists.csv", config=settings)
    with pytest.raises(SubmissionError) as caught:
        run(settings)
    assert caught.value.exit_status == 1
    assert caught.value.validation.errors == by_score.value.validation.errors
    first, *problems = str(caught.value).splitlines()
    lists = tmp_path / "lists.csv"
    assert first == (
        f'model "ready": {lists}: these lists have errors; mend them, or see all of them: '
        f"harness validate {lists} --config {settings.file}"
    )
    assert problems == str(by_score.value).splitlines()[1:]
    assert [problem.split(" ")[0] for problem in problems] == ["SUB203"]


def test_lists_of_strangers_are_refused_as_score_refuses_them(tmp_path: Path) -> None:
    settings = config(tmp_path, "user,items\nANN,b\nBOB,a\n")
    with pytest.raises(harness.core.errors.HarnessError) as by_score:
        harness.score(tmp_path / "lists.csv", config=settings)
    with pytest.raises(type(by_score.value)) as caught:
        run(settings)
    assert str(caught.value) == f'model "ready": {by_score.value}'


@pytest.mark.parametrize("name", ["mates.csv", ".", "no\0name", "x" * 5000])
def test_a_missing_file_is_told_before_anything_is_read(name: str, tmp_path: Path) -> None:
    settings = config(tmp_path, "", {"name": "ready", "lists": name})
    (tmp_path / "log.csv").unlink()
    with pytest.raises(UsageError) as caught:
        run(settings)
    missing = tmp_path / name
    assert str(caught.value) == f'model "ready": no file {missing}; paths start at the config file'
