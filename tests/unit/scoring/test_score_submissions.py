"""A submission is validated and scored; the quick reader and the explained one give the same."""

from pathlib import Path

import pytest
import small
from conftest import refusal
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from harness.metrics import parse
from harness.scoring.submissions import Scored, Scorer, SubmissionError, lists_on_terms, score_lists
from harness.scoring.terms import Terms

METRICS = tuple(parse(text) for text in ("MAP@3", "NDCG@3", "Recall@2", "MRR"))
SOLUTION = "user,items,Usage\nann,a b,Public\nbob,c,Private\ncem,d,Private\ndee,a,Ignored\n"


@pytest.fixture
def solution(tmp_path: Path) -> Path:
    (tmp_path / "solution.csv").write_text(SOLUTION)
    return tmp_path / "solution.csv"


def scored(solution: Path, content: str, *, force: bool = False) -> Scored:
    path = solution.with_name("lists.csv")
    path.write_text(content)
    return Scorer.of(Terms({"solution": solution}), METRICS).score(path, force=force)


def test_a_file_with_errors_is_scored_by_force_alone(solution: Path) -> None:
    content = "user,items\nann,b a\nann,c\nbob,c\n"
    with refusal(SubmissionError, "SUB203 line 3") as caught:
        scored(solution, content)
    assert [p.code for p in caught.value.validation.errors] == ["SUB203"]
    result = scored(solution, content, force=True)
    assert result.metrics["MAP@3"].mean == 2 / 3  # the first list of a user counts
    problems = result.to_dict()["problems"]
    assert (problems["errors"], problems["forced"]) == (1, True)


def test_a_file_with_another_header_than_the_sample_is_read_by_its_names(solution: Path) -> None:
    texts = {"sample.csv": "user,items\nann,\nbob,\n", "lists.csv": "uid,items\nann,b a\nbob,c\n"}
    folder = small.write(solution.parent, texts)
    terms = Terms({"solution": solution, "sample": folder / "sample.csv"})
    result = Scorer.of(terms, METRICS).score(folder / "lists.csv", force=True)
    assert [p.code for p in result.validation.errors] == ["SUB101", "SUB102"]
    assert (
        result.metrics["MAP@3"].mean == scored(solution, texts["lists.csv"]).metrics["MAP@3"].mean
    )


LISTS = st.dictionaries(
    st.sampled_from(["ann", "bob", "cem", "dee", "zed"]),
    st.lists(st.sampled_from(["a", "b", "c", "d", "x", "unheardof"]), max_size=5),
    min_size=1,
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings.default.max_examples // 2,  # a tenth of a second each
)
@given(lists=LISTS, data=st.data())
def test_every_shape_gives_the_same_scores(
    solution: Path, lists: dict[str, list[str]], data: st.DataObject
) -> None:
    """Wide, quoted or not; long by rank; and the lists that are explained."""
    known = set(lists) - {"zed"}
    assume(known)
    quote = data.draw(st.sampled_from(["", '"']))
    wide = "user,items\n" + "".join(
        f"{quote}{user}{quote},{quote}{' '.join(items)}{quote}\n" for user, items in lists.items()
    )
    rows = [f"{user},{item},{rank}\n" for user in lists for rank, item in enumerate(lists[user], 1)]
    long = "user,item,rank\n" + "".join(data.draw(st.permutations(rows)))
    path = small.write(solution.parent, {"wide.csv": wide}) / "wide.csv"
    _, submitted = lists_on_terms(path, Terms({"solution": solution}))
    explained = score_lists(submitted, METRICS, 3, conventions=True)
    for content in (wide, long) if any(lists[user] for user in known) else (wide,):
        result = scored(solution, content, force=True)
        assert result.metrics == explained.metrics
        assert result.leaderboards == explained.leaderboards
