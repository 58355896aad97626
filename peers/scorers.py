"""Score cases with the peers: a JSON document of cases in, one of their results out.

Runs under the peers' interpreter and imports none of our code:

    .venv-peers/bin/python peers/scorers.py < cases.json > results.json

The document in is a list of cases (cases.py); the one out is, for each case, tool -> metric text ->
{"users": {user: value} or null, "mean": value}.
"""

import contextlib
import json
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType

from tools import (
    inequality_,
    ir_measures_,
    ml_metrics_,
    pytrec_eval_terrier,
    ranx_,
    recommenders_,
    rectools_,
    replay_,
    sklearn_,
)

TOOLS = {
    "inequality": inequality_,
    "ir_measures": ir_measures_,
    "ml_metrics": ml_metrics_,
    "pytrec_eval": pytrec_eval_terrier,
    "ranx": ranx_,
    "recommenders": recommenders_,
    "rectools": rectools_,
    "replay": replay_,
    "sklearn": sklearn_,
}


def score(case: dict) -> dict:
    """Return what every tool says of one case."""
    return {tool: _scores(module, case) for tool, module in TOOLS.items()}


def _scores(module: ModuleType, case: dict) -> dict:
    try:
        scores = module.score(case)
    except Exception as error:  # a tool may refuse what others score: that is a result too
        return {"error": {"users": None, "mean": repr(error)}}
    return {text: {"users": users, "mean": mean} for text, (users, mean) in scores.items()}


def main() -> None:
    """Read, score on every core, write; what tools print goes to standard error."""
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr), ProcessPoolExecutor() as pool:
        results = list(pool.map(score, json.load(sys.stdin), chunksize=20))
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
