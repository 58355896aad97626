"""pytrec_eval: trec_eval itself, compiled into Python."""

import pytrec_eval

from tools import Case, Scores, averaged, trec

MEASURES = {
    "MAP(divisor=trec)": "map_cut.{k}",
    "Precision": "P.{k}",
    "Recall": "recall.{k}",
    "HitRate": "success.{k}",
    "MRR": "recip_rank",
    "RPrecision": "Rprec",
    "NDCG": "ndcg_cut.{k}",
}


def score(case: Case) -> Scores:
    """Score the lists cut at k, for recip_rank and Rprec have no cut-off; map_cut has its own."""
    run, whole = trec.run(case), trec.run(case, whole=True)
    scores = {
        text: _evaluate(
            whole if text.startswith("MAP") else run,
            trec.qrels(case, lambda grade: min(grade, 1)),
            measure.format(k=case["k"]),
        )
        for text, measure in MEASURES.items()
    }
    linear = f"ndcg_cut.{case['k']}"
    scores["NDCG(gain=linear)"] = _evaluate(run, trec.qrels(case), linear)
    return scores


def _evaluate(run: dict, qrels: dict, measure: str) -> tuple[dict[str, float], float]:
    values = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    column = measure.replace(".", "_")
    return averaged({user: scores[column] for user, scores in values.items()})
