"""pytrec_eval: trec_eval itself, compiled into Python."""

import pytrec_eval

from tools import Exam, Scores, averaged, trec

MEASURES = {
    "MAP(divisor=trec)": "map_cut.{k}",
    "Precision": "P.{k}",
    "Recall": "recall.{k}",
    "HitRate": "success.{k}",
    "MRR": "recip_rank",
    "RPrecision": "Rprec",
    "NDCG": "ndcg_cut.{k}",
}


def score(exam: Exam) -> Scores:
    """Score the lists cut at k, for recip_rank and Rprec have no cut-off; map_cut has its own."""
    run, whole = trec.run(exam), trec.run(exam, whole=True)
    scores = {
        text: _evaluate(
            whole if text.startswith("MAP") else run,
            trec.qrels(exam, lambda grade: min(grade, 1)),
            measure.format(k=exam["k"]),
        )
        for text, measure in MEASURES.items()
    }
    linear = f"ndcg_cut.{exam['k']}"
    scores["NDCG(gain=linear)"] = _evaluate(run, trec.qrels(exam), linear)
    return scores


def _evaluate(run: dict, qrels: dict, measure: str) -> tuple[dict[str, float], float]:
    values = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
    column = measure.replace(".", "_")
    return averaged({user: marks[column] for user, marks in values.items()})
