"""Which event types are truth, and values as grades: worked out by hand."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import Cli, is_refused, refusal

from harness.core.errors import DataError, UsageError
from harness.experiment.run import run
from harness.metrics import parse
from harness.protocol.evaluation_set import EvaluationSet, Step
from harness.protocol.task import make_task
from harness.tuning.tuning import tune

LOG = """user,item,time,event,stars
ann,a,2020-01-01,view,1
ann,b,2020-01-01,sale,5
bob,b,2020-01-01,view,2
bob,c,2020-01-01,view,3
cid,c,2020-01-01,view,1
ann,b,2020-01-08,view,1
ann,c,2020-01-08,sale,2
ann,c,2020-01-08,sale,3
ann,z,2020-01-08,sale,1
bob,a,2020-01-08,sale,0
bob,c,2020-01-08,view,4
cid,a,2020-01-08,view,5
"""
"""The last day is held out. z is no candidate: nobody had it before."""


def evaluation_set(folder: Path, **sections: Any) -> EvaluationSet:
    return make_task(small.config(folder, log=LOG, **sections)).evaluation_set


def truth(found: EvaluationSet) -> dict[str, str]:
    ids, ends = found.candidate_ids.to_list(), found.truth.indptr.tolist()
    return {
        user: "".join(ids[p] for p in found.truth.indices[ends[n] : ends[n + 1]])
        for n, user in enumerate(found.user_ids.to_list())
    }


def test_truth_is_of_the_types_that_are_hits_and_all_types_make_users_known(tmp_path: Path) -> None:
    found = evaluation_set(tmp_path, data={"kind": "event"}, evaluation={"hits": ["sale"]})
    assert truth(found) == {"ann": "c", "bob": "a"}
    assert found.candidate_ids.to_list() == ["a", "b", "c"]  # a and c were only viewed
    assert found.outside_ids.to_list() == ["z"]
    assert found.funnel == (
        Step("with sale in the window", 2),
        Step("seen in train", 2),
        Step("with a candidate hit", 2),
    )


def test_several_types_may_be_hits(tmp_path: Path) -> None:
    hits = {"hits": ["sale", "view"]}
    found = evaluation_set(tmp_path, data={"kind": "event"}, evaluation=hits)
    assert truth(found) == {"ann": "bc", "bob": "ac", "cid": "a"}
    assert found.funnel[0] == Step("with sale or view in the window", 3)


@pytest.mark.parametrize(
    ("data", "there"), [({"kind": "event"}, '"sale"?'), ({}, "allowed: event")]
)
def test_a_type_that_no_event_has_is_refused(tmp_path: Path, data: Any, there: str) -> None:
    with refusal(UsageError, '[evaluation] hits: no event is of the type "sales"', there):
        evaluation_set(tmp_path, data=data, evaluation={"hits": ["sales"]})


def test_a_grade_is_the_highest_value_of_a_pair_and_0_is_not_relevant(tmp_path: Path) -> None:
    data = {"kind": "event", "value": "stars"}
    found = evaluation_set(tmp_path, data=data, evaluation={"hits": ["sale"]})
    assert truth(found) == {"ann": "c"}  # bob's sale of a has the value 0
    assert found.grades is not None
    assert found.outside_grades is not None
    assert found.grades.tolist() == [3.0]
    assert found.outside_grades.tolist() == [1.0]
    assert found.relevant.tolist() == [2]


def test_graded_metrics_take_values_as_grades(tmp_path: Path) -> None:
    """Popular is b, c, a. Cid's a, grade 5, is third; the ideal list has it first: 1/log2(4)."""
    metrics = ["NDCG(gain=exponential)@3", "NDCG(gain=linear)@3", "NDCG@3"]
    settings = small.config(
        tmp_path, log=LOG, data={"value": "stars"}, evaluation={"metrics": metrics, "k": 3}
    )
    found = run(settings)
    assert not any("no exact chance" in note for note in found.notes)
    users = found.users["user"].to_list()
    values = {str(m): of[0] for m, of in found.models[0].scores.values.items()}
    assert [values[name][users.index("cid")] for name in metrics] == pytest.approx([0.5] * 3)
    # Ann: b (grade 1) first, c (3) second; best c, b, z (1): (1 + 3·d)/(3 + 1·d + 1/2), d = 0.6309.
    d = 0.6309297535714575
    assert values["NDCG(gain=linear)@3"][users.index("ann")] == pytest.approx(
        (1 + 3 * d) / (3 + d + 0.5)
    )
    assert values["NDCG(gain=exponential)@3"][users.index("ann")] == pytest.approx(
        (1 + 7 * d) / (7 + d + 0.5)
    )


def test_grades_are_told_apart_by_the_fingerprint(tmp_path: Path) -> None:
    sets = [evaluation_set(tmp_path, data=data) for data in ({}, {"value": "stars"})]
    plain, graded = (found.fields for found in sets)
    assert set(graded) - set(plain) == {"grades"}
    other = make_task(
        small.config(tmp_path, log=LOG.replace("sale,3", "sale,4"), data={"value": "stars"})
    ).evaluation_set
    assert {n for n, digest in other.fields.items() if digest != graded[n]} == {"grades"}


def test_metrics_that_need_grades_are_refused_without_values(tmp_path: Path) -> None:
    with refusal(
        UsageError,
        "[evaluation] metrics: NDCG(gain=linear)@2 needs grades",
        "with [data] value, or leave gain out",
    ):
        small.config(tmp_path, log=LOG, evaluation={"metrics": ["NDCG(gain=linear)@2"]})


def test_p_found_refuses_grades_that_are_no_probabilities(tmp_path: Path) -> None:
    settings = small.config(
        tmp_path, log=LOG, data={"value": "stars"}, evaluation={"metrics": ["pFound@2"]}
    )
    with refusal(DataError, "[data] value: found the grade 5", "pFound@2", "from 0 to 1"):
        make_task(settings)


def test_scores_of_a_file_are_graded_like_those_of_a_run(cli: Cli, here: Path) -> None:
    metric = "NDCG(gain=linear)@3"
    evaluation = {"metrics": [metric], "k": 3}
    text = small.toml(data={"value": "stars", "cache": True}, evaluation=evaluation)
    small.write(here, {"log.csv": LOG, "c.toml": text})
    status, _, _ = cli("submit", "c.toml", "--model", "popular", "--out", "s.csv")
    assert status == 0
    scores = [cli("score", "s.csv", "--config", "c.toml", "--format", "csv") for _ in range(2)]
    assert scores[0][:2] == scores[1][:2]  # read again from the cache
    found = run("c.toml").models[0].scores.of_users(parse(metric)).mean()
    assert f"{found:.4f}" in scores[0][1]
    none = here / "c.toml"
    none.write_text(small.toml(data={"value": "stars"}, evaluation=evaluation), encoding="utf-8")
    is_refused(
        cli("score", "s.csv", "--config", "c.toml", "--metric", "pFound@3"),
        "found the grade 5",
        "from 0 to 1",
    )


def test_the_metric_of_tuning_is_held_to_the_grades(tmp_path: Path) -> None:
    settings = small.config(
        tmp_path,
        {**small.POPULAR, "space": {"window_days": [1, 2]}},
        log=small.TO_TUNE.replace("\n", ",5\n").replace("time,5", "time,stars"),
        data={"value": "stars"},
        tune={"metric": "pFound@2"},
    )
    with refusal(DataError, "[data] value: found the grade 5", "pFound@2"):
        tune(settings)


def test_a_list_is_explained_by_metrics_that_its_grades_allow(cli: Cli, here: Path) -> None:
    """The grade 5 is no probability, so pFound means nothing; graded NDCG was asked for."""
    evaluation = {"metrics": ["NDCG(gain=linear)@3"], "k": 3}
    text = small.toml(data={"value": "stars"}, evaluation=evaluation)
    small.write(here, {"log.csv": LOG, "c.toml": text})
    assert cli("run", "c.toml", "--out", "r")[0] == 0
    status, out, _ = cli("explain", "r", "--model", "popular", "--user", "cid", "--format", "json")
    assert status == 0
    assert "pFound" not in out
    assert '"NDCG(gain=linear)@3": 0.5' in out
