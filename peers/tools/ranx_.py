"""ranx, with `make_comparable`: every user of the truth, those without a list at 0."""

import ranx

from tools import Case, Scores, trec

MEASURES = {
    "MAP(divisor=trec)": "map@{k}",
    "Precision": "precision@{k}",
    "Recall": "recall@{k}",
    "F1": "f1@{k}",
    "HitRate": "hit_rate@{k}",
    "MRR": "mrr@{k}",
    "RPrecision": "r-precision",
    "NDCG(gain=linear)": "ndcg@{k}",
    "NDCG(gain=exponential)": "ndcg_burges@{k}",
}


def score(case: Case) -> Scores:
    """Score the lists cut at k, so that r-precision has the cut-off too; map has its own."""
    measures = {text: measure.format(k=case["k"]) for text, measure in MEASURES.items()}
    of_whole = {text: m for text, m in measures.items() if text.startswith("MAP")}
    of_cut = {text: m for text, m in measures.items() if text not in of_whole}
    return _evaluate(case, of_whole, whole=True) | _evaluate(case, of_cut)


def _evaluate(case: Case, measures: dict[str, str], whole: bool = False) -> Scores:
    qrels, run = ranx.Qrels(trec.qrels(case)), ranx.Run(_filled(trec.run(case, whole)))
    ranx.evaluate(qrels, run, list(measures.values()), make_comparable=True)
    return {
        text: (dict(run.scores[measure]), float(run.mean_scores[measure]))
        for text, measure in measures.items()
    }


def _filled(run: dict) -> dict:
    """Leave empty lists out: ranx cannot build a run from one."""
    return {user: scores for user, scores in run.items() if scores}
