"""Which event types are truth, and values as grades: worked out by hand."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal, words_of

from harness.core.errors import DataError, UsageError
from harness.protocol.evaluation_set import EvaluationSet, Step
from harness.protocol.task import make_task
from harness.tuning.inner import inner_tasks

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


def test_truth_is_of_the_types_that_are_hits_and_all_types_make_users_known(tmp_path: Path) -> None:
    result = evaluation_set(tmp_path, data={"kind": "event"}, evaluation={"hits": ["sale"]})
    assert words_of(result, result.truth) == {"ann": "c", "bob": "a"}
    assert result.candidate_ids.to_list() == ["a", "b", "c"]  # a and c were only viewed
    assert result.outside_ids.to_list() == ["z"]
    assert result.funnel == (
        Step("with sale in the window", 2),
        Step("seen in train", 2),
        Step("with a candidate hit", 2),
    )


def test_several_types_may_be_hits(tmp_path: Path) -> None:
    hits = {"hits": ["sale", "view"]}
    result = evaluation_set(tmp_path, data={"kind": "event"}, evaluation=hits)
    assert words_of(result, result.truth) == {"ann": "bc", "bob": "ac", "cid": "a"}
    assert result.funnel[0].step == "with sale or view in the window"


@pytest.mark.parametrize(
    ("data", "there"), [({"kind": "event"}, '"sale"?'), ({}, "allowed: event")]
)
def test_a_type_that_no_event_has_is_refused(tmp_path: Path, data: Any, there: str) -> None:
    with refusal(
        UsageError, '[evaluation] hits: no event has the type "sales"', there, "[data] where"
    ):
        evaluation_set(tmp_path, data=data, evaluation={"hits": ["sales"]})


def test_a_grade_is_the_highest_value_of_a_pair_and_0_is_not_relevant(tmp_path: Path) -> None:
    data = {"kind": "event", "value": "stars"}
    result = evaluation_set(tmp_path, data=data, evaluation={"hits": ["sale"]})
    assert words_of(result, result.truth) == {"ann": "c"}  # bob's sale of a has the value 0
    grades, outside = result.grades, result.outside_grades
    assert grades is not None and outside is not None
    assert (grades.tolist(), outside.tolist(), result.relevant.tolist()) == ([3.0], [1.0], [2])


def test_grades_are_told_apart_by_the_fingerprint(tmp_path: Path) -> None:
    sets = [evaluation_set(tmp_path, data=data) for data in ({}, {"value": "stars"})]
    plain, graded = (result.fields for result in sets)
    assert set(graded) - set(plain) == {"grades"}
    log = LOG.replace("sale,3", "sale,4")
    other = make_task(small.config(tmp_path, log=log, data={"value": "stars"})).evaluation_set
    assert {n for n, digest in other.fields.items() if digest != graded[n]} == {"grades"}


def test_metrics_that_need_grades_are_refused_without_values(tmp_path: Path) -> None:
    words = "[evaluation] metrics: NDCG(gain=linear)@2 needs grades"
    with refusal(UsageError, words, "as [data] value, or remove gain"):
        small.config(tmp_path, evaluation={"metrics": ["NDCG(gain=linear)@2"]})


NO_PROBABILITY = "[data] value: found the grade 5", "pFound@2", "from 0 to 1"


def test_p_found_refuses_grades_that_are_no_probabilities(tmp_path: Path) -> None:
    with refusal(DataError, NO_PROBABILITY):
        evaluation_set(tmp_path, data={"value": "stars"}, evaluation={"metrics": ["pFound@2"]})


def test_the_metric_of_tuning_is_held_to_the_grades(tmp_path: Path) -> None:
    log = small.TO_TUNE.replace("\n", ",5\n").replace("time,5", "time,stars")
    with refusal(DataError, NO_PROBABILITY):
        tune = {"metric": "pFound@2"}
        inner_tasks(small.config(tmp_path, log=log, data={"value": "stars"}, tune=tune))
