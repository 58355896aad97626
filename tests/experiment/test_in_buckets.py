"""Runs in buckets of users: the figures of a run in memory, whatever the config and the buckets."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from hypothesis import given
from hypothesis import strategies as st
from small import CONFIGS, LATEST_FIRST, MODELS, POPULAR, timeless

from harness import config as config_
from harness.config import Config
from harness.core.errors import DataError, EmptyEvaluationSetError, RecommenderError, UsageError
from harness.data import bucketing
from harness.data.synthetic import synthesise
from harness.experiment import in_buckets, memory
from harness.experiment.result import Result
from harness.experiment.run import run

EVERY = 10**15


@pytest.fixture(params=[1, 2, 7, 64])
def buckets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """So many buckets, of a log that seems larger than memory."""
    monkeypatch.setattr(bucketing, "bucket_count", lambda events: request.param)
    monkeypatch.setattr(memory, "needed", lambda layout: EVERY)
    return int(request.param)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that seems larger than memory, in three buckets."""
    monkeypatch.setattr(bucketing, "bucket_count", lambda events: 3)
    monkeypatch.setattr(memory, "needed", lambda layout: EVERY)


def figures(result: Result) -> dict[str, Any]:
    """Return everything that a run writes but its seconds."""

    users = result.users.to_dicts()
    scores = [model.scores.values for model in result.models]
    tables = [{str(m): v.tolist() for m, v in one.items()} for one in scores]
    found: dict[str, Any] = timeless(result.to_dict())
    outside = result.evaluation_set.outside_ids.to_list()
    return found | {"profile": users, "scores": tables, "outside": outside}


def in_memory(settings: Config) -> Result:
    return run(settings, memory="1TB")


@pytest.mark.parametrize("name", CONFIGS)
def test_figures_are_those_of_a_run_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    settings = small.many(tmp_path, **CONFIGS[name])
    whole = figures(in_memory(settings))
    monkeypatch.setattr(memory, "needed", lambda layout: EVERY)
    for count in (1, 2, 7, 64):
        monkeypatch.setattr(bucketing, "bucket_count", lambda events, count=count: count)
        assert figures(run(settings)) == whole


def test_users_who_registered_after_a_bucket_began_are_known_by_the_cut_off_of_all(
    tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A split per user has the latest cut-off of all buckets, which most of them do not know."""
    synthesise("ponpare", tmp_path / "data", users=60, items=30, events=400, seed=1)
    table = tmp_path / "data" / "user_list.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    late = [re.sub("^[0-9-]{10}", "2012-06-15", line) for line in lines[1:]]
    table.write_text("\n".join([lines[0], *late, ""]), encoding="utf-8")
    values = small.values(*MODELS[:4], split={"strategy": "last_n", "n": 1, "ties": "id"})
    values["data"] = {"layout": "ponpare", "path": "data", "cache": False}
    values["evaluation"] = {"candidates": "train", "k": 3}
    settings = config_.parse(values, tmp_path)
    whole = figures(in_memory_without(settings))
    monkeypatch.setattr(bucketing, "bucket_count", lambda events: 64)
    assert figures(run(settings)) == whole


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz"), st.integers(1, 9)),
        min_size=4,
        max_size=30,
    ),
    count=st.integers(1, 9),
)
def test_any_log_has_the_same_figures_in_any_buckets(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int]], count: int
) -> None:
    log = "user,item,time\n" + "".join(f"{u},{i},2020-01-0{day}\n" for u, i, day in rows)
    settings = small.config(tmp_path_factory.mktemp("run"), *MODELS, log=log)
    whole = outcome(lambda: in_memory(settings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bucketing, "bucket_count", lambda events: count)
        patch.setattr(memory, "needed", lambda layout: EVERY)
        assert outcome(lambda: run(settings)) == whole


def outcome(call: Callable[[], Result]) -> dict[str, Any] | str:
    """Return a run's figures, or what was said of a log that has none."""
    try:
        return figures(call())
    except (DataError, EmptyEvaluationSetError) as error:
        return str(error)


def test_lists_of_a_file_are_read_once_for_all_users(tmp_path: Path, buckets: int) -> None:
    small.write(tmp_path, {"mine.csv": "user,items\nann,b a\nbob,z d\ncid,c\n"})
    settings = small.config(tmp_path, {"name": "mine", "lists": "mine.csv"}, POPULAR)
    found = figures(run(settings))
    assert found == figures(in_memory_without(settings))
    assert found["notes"] == [
        'model "mine": 1 position holds an item that is no candidate, and cannot hit'
    ]


def in_memory_without(settings: Config) -> Result:
    """Return a run in memory, whatever the log seems to need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "needed", lambda layout: 0)
        return run(settings)


def test_no_candidate_is_told_with_all_users(tmp_path: Path, buckets: int) -> None:
    small.write(tmp_path, {"things.csv": "item,name\n"})
    rules = {"candidates": "catalogue", "require_hit": False}
    settings = small.config(tmp_path, *MODELS, data={"items": "things.csv"}, evaluation=rules)
    with pytest.raises(EmptyEvaluationSetError, match=r"no item is a candidate(.|\n)*3  seen in"):
        run(settings)


def test_a_file_of_lists_that_is_part_of_an_ensemble_is_refused(
    tmp_path: Path, large: None
) -> None:
    small.write(tmp_path, {"mine.csv": "user,items\nann,b a\nbob,d\ncid,c\n"})
    fill = {"name": "fill", "use": "baselines.fill:Fill", "of": ["mine", "popular"]}
    settings = small.config(tmp_path, {"name": "mine", "lists": "mine.csv"}, POPULAR, fill)
    with pytest.raises(UsageError, match="1 model learns from all events at once: fill; allow"):
        run(settings)


LATEST = {"name": "latest", "use": "latest:LatestFirst"}
BLEND = {"name": "both", "use": "baselines.blend:Blend", "of": ["latest", "popular"]}


def test_a_model_that_needs_all_events_is_refused_before_any_is_read(
    tmp_path: Path, large: None
) -> None:
    small.write(tmp_path, {"latest.py": LATEST_FIRST})
    settings = small.config(tmp_path, POPULAR, LATEST, BLEND)
    (tmp_path / "log.csv").write_text("no log")
    with pytest.raises(UsageError) as error:
        run(settings, memory="4GB")
    assert str(error.value) == (
        "all events need about 1,000,000 GB of memory; --memory allows 4 GB, and 2 models learn "
        "from all events at once: latest, both; allow more (--memory, in Python memory=), leave "
        "out such models, or use ones that learn by sums"
    )


def test_a_bucket_that_is_larger_than_the_memory_is_refused(
    tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "AN_EVENT", 10**9)
    log = "user,item,time\n" + "".join(f"ann,a,2020-01-0{day}\n" for day in range(1, 9))
    with pytest.raises(UsageError, match=r"has 8 events and needs 8.3 GB.*allows 2 GB: allow"):
        run(small.config(tmp_path, log=log), memory="2GB")


SPOILT = """
from baselines.popular import Popular

class Raises(Popular):
    def for_users(self, train):
        if "bob" in train.user_ids.to_list():
            raise KeyError("no bob")
        return self

class Floats(Popular):
    def fit_steps(self, train):
        yield lambda part: {"events": part.events.time / 2}
"""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Raises", "model \"m\" raised in for_users: KeyError: 'no bob'"),
        ("Floats", 'model "m" raised in fit_steps: TypeError.*float64; expected an int64 array'),
    ],
)
def test_a_model_that_breaks_its_contract_is_named(
    tmp_path: Path, large: None, name: str, says: str
) -> None:
    small.write(tmp_path, {"spoilt.py": SPOILT})
    settings = small.config(tmp_path, {"name": "m", "use": f"spoilt:{name}"})
    with pytest.raises(RecommenderError, match=says):
        run(settings)


def test_it_is_told_that_users_are_in_buckets(
    tmp_path: Path, large: None, caplog: pytest.LogCaptureFixture
) -> None:
    run(small.config(tmp_path), memory="4GB")
    (told,) = caplog.records
    assert (told.name, told.levelname) == ("harness.experiment.in_buckets", "WARNING")
    assert told.getMessage() == (
        "all events need about 1,000,000 GB of memory; --memory allows 4 GB: users are evaluated "
        "in 3 buckets"
    )


def test_evaluated_users_who_need_more_memory_than_there_is_are_refused(
    tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_A_USER", 10**9)
    with pytest.raises(UsageError, match=r"^3 evaluated users with 1 list each, .* allows 2 GB: "):
        run(small.config(tmp_path), memory="2GB")


def test_the_log_says_what_each_pass_over_the_buckets_took(
    tmp_path: Path, large: None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "harness")
    run(small.config(tmp_path), memory="4GB")
    assert [re.sub(r"\d+\.\d s", "T", line) for line in caplog.messages[1:]] == [
        "read 8 events into buckets, T",
        "fit on 3 buckets, T",
        "recommend in 3 buckets, T",
        "evaluation set: 3 users, 4 candidates, T",
        "popular (1 of 1): fit T, recommend T, score T",
        "compared 0 pairs, T",
    ]


def test_lists_that_wait_are_removed(tmp_path: Path, large: None) -> None:
    cached = small.config(tmp_path, data={"cache": True})
    run(cached)
    from harness.core import cache

    assert not [path for path in cache.folder().rglob("*") if "lists" in path.name]


def test_a_disk_that_gets_full_of_lists_is_told(
    tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = np.save

    def full(path: Path, *given: Any, **named: Any) -> None:
        if "lists" in path.name:  # NumPy gives no number of the error
            raise OSError("258396 requested and 222176 written")
        save(path, *given, **named)

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(DataError, match=r"the disk is full; make room.*: TMPDIR=FOLDER harness"):
        run(small.config(tmp_path))


def test_seconds_are_told_of_every_step_and_model(tmp_path: Path, large: None) -> None:
    result = run(small.config(tmp_path))
    assert list(result.seconds) == [
        "read", "evaluation set", "fit", "recommend", "users", "compare",
    ]  # fmt: skip
    assert set(result.models[0].seconds) == {"fit", "recommend", "score"}


def test_a_log_that_needs_more_than_there_is_runs_in_buckets_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    opened = in_buckets.opened

    def counted(*given: Any) -> Any:
        seen.append(given[2].size)
        return opened(*given)

    monkeypatch.setattr(in_buckets, "opened", counted)
    settings = small.config(tmp_path)
    monkeypatch.setattr(memory, "free", lambda: 10**9)
    run(settings)
    assert seen == []  # eight rows need no buckets
    monkeypatch.setattr(memory, "needed", lambda layout: 10**9 + 1)
    run(settings)
    assert seen == [10**9]
    monkeypatch.setattr(memory, "free", lambda: None)  # nobody knows
    run(settings)
    assert seen == [10**9]
