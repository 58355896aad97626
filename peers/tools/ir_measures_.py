"""ir_measures: one front for trec_eval and others; it averages over every user of the truth."""

import ir_measures
from ir_measures import AP, RR, P, R, Rprec, Success, nDCG

from tools import Case, Scores, trec

MEASURES = {
    "MAP(divisor=trec)": lambda k: AP @ k,
    "Precision": lambda k: P @ k,
    "Recall": lambda k: R @ k,
    "HitRate": lambda k: Success @ k,
    "MRR": lambda k: RR @ k,
    "RPrecision": lambda k: Rprec,
    "NDCG(gain=linear)": lambda k: nDCG @ k,
}


def score(case: Case) -> Scores:
    """Score the lists cut at k, so that Rprec has the cut-off too; AP has its own."""
    measures = {text: of_k(case["k"]) for text, of_k in MEASURES.items()}
    whole = {text for text in measures if text.startswith("MAP")}
    return _calc(case, {text: measures[text] for text in whole}, whole=True) | _calc(
        case, {text: measure for text, measure in measures.items() if text not in whole}
    )


def _calc(case: Case, measures: dict, whole: bool = False) -> Scores:
    run = trec.run(case, whole)
    mean, values = ir_measures.calc(measures.values(), trec.qrels(case), run)
    per_user = {text: {} for text in measures}
    text_of = {str(measure): text for text, measure in measures.items()}
    for value in values:
        per_user[text_of[str(value.measure)]][value.query_id] = value.value
    return {text: (per_user[text], mean[measure]) for text, measure in measures.items()}
