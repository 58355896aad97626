"""Every case scored, by the peers in one subprocess of their own environment and by us here."""

import json
import os
import re
import subprocess
import warnings
from pathlib import Path

import pandas as pd
import pytest
from cases import at_random, literal
from scored import Scored

import harness

HERE = Path(__file__).parent
PEERS_PYTHON = os.environ.get("PEERS_PYTHON", HERE.parent / ".venv-peers/bin/python")
CASES = int(os.environ.get("PEERS_CASES", "1000"))
OF_ALL_LISTS = ("Coverage", "Gini", "MicroRecall")

collect_ignore = [
    "neighbours.py",
    "recommending.py",
    "scorers.py",
    "tools",
]  # they import the peers


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "case(lists, truth, k): the literal case of a test")


@pytest.fixture(scope="session")
def everything(request: pytest.FixtureRequest) -> tuple[list[Scored], dict[str, Scored]]:
    """Score the random cases and those of the tests' markers, all in one go."""
    marks = {item.nodeid: item.get_closest_marker("case") for item in request.session.items}
    marked = {name: literal(*mark.args, **mark.kwargs) for name, mark in marks.items() if mark}
    cases = [*marked.values(), *at_random(seed=20220222, number=CASES)]
    results = zip(cases, score_with_peers(cases), strict=True)
    scored = [Scored(case, peers | {"ours": ours(case, peers)}) for case, peers in results]
    return scored[len(marked) :], dict(zip(marked, scored, strict=False))


@pytest.fixture(scope="session")
def random_cases(everything: tuple) -> list[Scored]:
    """Return the random cases."""
    return everything[0]


@pytest.fixture
def scored(everything: tuple, request: pytest.FixtureRequest) -> Scored:
    """Return the literal case of this test's marker."""
    return everything[1][request.node.nodeid]


def score_with_peers(cases: list[dict]) -> list[dict]:
    """Run scorers.py under the peers' interpreter."""
    if not Path(PEERS_PYTHON).exists():
        pytest.fail(f"there is no {PEERS_PYTHON}; `make peers` sets it up", pytrace=False)
    command = [PEERS_PYTHON, HERE / "scorers.py"]
    run = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    return json.loads(run.stdout)


def ours(case: dict, peers: dict) -> dict:
    """Score the case by every metric that a peer has, in the form of the peers' results."""
    texts = {text for values in peers.values() for text in values} - {"error"}
    metrics = {text: f"{_as_asked(text, case)}@{case['k']}" for text in sorted(texts)}
    means = _evaluate(case, list(metrics.values()))
    of_users = [metrics[text] for text in metrics if text not in OF_ALL_LISTS]
    per_user = _evaluate(case, of_users, per_user=True).to_dict()
    return {
        text: {"users": per_user.get(metric), "mean": float(means[metric])}
        for text, metric in metrics.items()
    }


def _evaluate(case: dict, metrics: list[str], **options: bool) -> pd.DataFrame | pd.Series:
    attributes = pd.DataFrame(case["attributes"]).T.rename_axis("item").add_prefix("v")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # users outside the truth are meant
        return harness.evaluate(
            case["scores"] or case["lists"],
            as_truth(case),
            metrics,
            train=pd.DataFrame(case["train"], columns=["user", "item"]),
            candidates=case["catalogue"],
            attributes=attributes.reset_index(),
            **options,
        )


def _as_asked(text: str, case: dict) -> str:
    """Return a metric as it is asked for: without grades every gain is 1 to the tools."""
    return text if has_grades(case) else re.sub(r"\(gain=\w+\)", "", text)


def has_grades(case: dict) -> bool:
    """Return whether a true item has another grade than 1."""
    return any(grade != 1 for graded in case["truth"].values() for _, grade in graded)


def as_truth(case: dict) -> dict:
    """Return graded truth as mappings, other truth as lists, repeated items and all."""
    rows = case["truth"].items()
    if has_grades(case):
        return {user: dict(graded) for user, graded in rows}
    return {user: [item for item, _ in graded] for user, graded in rows}
