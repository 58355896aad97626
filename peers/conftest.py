"""Every exam scored, by the peers in one subprocess of their own environment and by us here."""

import json
import os
import re
import subprocess
import warnings
from pathlib import Path

import pandas as pd
import pytest
from exams import at_random, literal
from scored import Scored

import harness

HERE = Path(__file__).parent
PEERS_PYTHON = os.environ.get("PEERS_PYTHON", HERE.parent / ".venv-peers/bin/python")
CASES = int(os.environ.get("PEERS_CASES", "1000"))
OF_ALL_LISTS = ("Coverage", "Gini")

collect_ignore = ["recommending.py", "scorers.py", "tools"]  # they import the peers


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exam(lists, truth, k): the literal exam of a test")


@pytest.fixture(scope="session")
def everything(request: pytest.FixtureRequest) -> tuple[list[Scored], dict[str, Scored]]:
    """Score the random exams and those of the tests' marks, all in one go."""
    marks = {item.nodeid: item.get_closest_marker("exam") for item in request.session.items}
    marked = {name: literal(*mark.args, **mark.kwargs) for name, mark in marks.items() if mark}
    exams = [*marked.values(), *at_random(seed=20220222, number=CASES)]
    results = zip(exams, score_with_peers(exams), strict=True)
    scored = [Scored(exam, peers | {"ours": ours(exam, peers)}) for exam, peers in results]
    return scored[len(marked) :], dict(zip(marked, scored, strict=False))


@pytest.fixture(scope="session")
def random_exams(everything: tuple) -> list[Scored]:
    """Return the random exams."""
    return everything[0]


@pytest.fixture
def scored(everything: tuple, request: pytest.FixtureRequest) -> Scored:
    """Return the literal exam of this test's mark."""
    return everything[1][request.node.nodeid]


def score_with_peers(exams: list[dict]) -> list[dict]:
    """Run scorers.py under the peers' interpreter."""
    if not Path(PEERS_PYTHON).exists():
        pytest.fail(f"there is no {PEERS_PYTHON}; `make peers` sets it up", pytrace=False)
    command = [PEERS_PYTHON, HERE / "scorers.py"]
    run = subprocess.run(command, input=json.dumps(exams), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    return json.loads(run.stdout)


def ours(exam: dict, peers: dict) -> dict:
    """Score the exam by every metric that a peer has, in the form of the peers' results."""
    texts = {text for figures in peers.values() for text in figures} - {"error"}
    metrics = {text: f"{_as_asked(text, exam)}@{exam['k']}" for text in sorted(texts)}
    means = _evaluate(exam, list(metrics.values()))
    of_users = [metrics[text] for text in metrics if text not in OF_ALL_LISTS]
    per_user = _evaluate(exam, of_users, per_user=True).to_dict()
    return {
        text: {"users": per_user.get(metric), "mean": float(means[metric])}
        for text, metric in metrics.items()
    }


def _evaluate(exam: dict, metrics: list[str], **options: bool) -> pd.DataFrame | pd.Series:
    attributes = pd.DataFrame(exam["attributes"]).T.rename_axis("item").add_prefix("v")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # users outside the truth are meant
        return harness.evaluate(
            exam["scores"] or exam["lists"],
            as_truth(exam),
            metrics,
            train=pd.DataFrame(exam["train"], columns=["user", "item"]),
            candidates=exam["catalogue"],
            attributes=attributes.reset_index(),
            **options,
        )


def _as_asked(text: str, exam: dict) -> str:
    """Return a metric as it is asked for: without grades every gain is 1 to the tools."""
    return text if has_grades(exam) else re.sub(r"\(gain=\w+\)", "", text)


def has_grades(exam: dict) -> bool:
    """Return whether a true item has another grade than 1."""
    return any(grade != 1 for graded in exam["truth"].values() for _, grade in graded)


def as_truth(exam: dict) -> dict:
    """Return graded truth as mappings, other truth as lists, repeated items and all."""
    rows = exam["truth"].items()
    if has_grades(exam):
        return {user: dict(graded) for user, graded in rows}
    return {user: [item for item, _ in graded] for user, graded in rows}
