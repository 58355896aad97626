"""The metric of a competition on Kaggle: its figure, and what participants are told."""

import inspect
import typing
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from conftest import refusal

from harness.kaggle import HostVisibleError, ParticipantVisibleError, score


def lists(**rows: str) -> pd.DataFrame:
    return pd.DataFrame({"id": list(rows), "items": list(rows.values())})


SOLUTION = lists(ann="secret1 secret2", bob="secret3", cid="").assign(Usage="Public")
GOOD = lists(ann="secret1 x", bob="y secret3", cid="z")


def test_the_mean_over_users_with_true_items() -> None:
    """Ann 1/2 (one of two at the first place), bob 1/2 (at the second); cid has nothing to hit."""
    assert score(SOLUTION, GOOD, "id") == (1 / 2 + 1 / 2) / 2
    assert score(SOLUTION.iloc[::-1], GOOD.iloc[[1, 0, 2]], "id") == 1 / 2
    assert score(SOLUTION, GOOD, "id", keep_users_without_items=True) == (1 / 2 + 1 / 2) / 3
    assert score(SOLUTION, GOOD, "id", metric="HitRate@1") == 1 / 2


def test_it_is_called_as_kaggle_calls_it() -> None:
    hints = typing.get_type_hints(score, vars(typing) | {"pd": pd})
    assert [*hints][:3] == ["solution", "submission", "row_id_column_name"]
    assert [*hints] == [*inspect.signature(score).parameters, "return"]
    assert hints["return"] is float


@pytest.mark.parametrize(
    ("submission", "words"),
    [
        (GOOD.drop(index=1), ["missing ids: 1, first bob"]),
        (lists(ann="x", bob="y", cid="z", dee="w"), ['row 4, id: "dee"']),
        (pd.concat([GOOD, GOOD]), ['row 4, id: the row of "ann" is repeated', "3 times"]),
        (GOOD.rename(columns={"items": "item"}), ['no column "items"', 'the column "item"']),
        (lists(ann="x,y", bob="y", cid="nan"), ['row 1, items: "x,y"', 'row 3, items: "nan"']),
        (pd.DataFrame({"id": [True], "items": [1.5]}), ["id (Boolean)"]),
    ],
)
def test_participants_are_told_their_mistakes_and_nothing_of_the_solution(
    submission: pd.DataFrame, words: list[str]
) -> None:
    with refusal(ParticipantVisibleError, words) as caught:
        score(SOLUTION, submission, "id")
    assert "secret" not in str(caught.value)


def test_that_an_item_is_true_changes_no_message() -> None:
    for item in ("odd,item", "other,item"):
        with pytest.raises(ParticipantVisibleError, match="holds a separator"):
            score(lists(ann="odd,item", bob="a b c"), lists(ann=item, bob="a"), "id")


def test_ids_that_look_like_known_ones_are_told_with_users_and_catalogue_alone(
    tmp_path: Path,
) -> None:
    """A participant has the sample's users and all items; which items are true nobody says."""
    solution = lists(**{"007": "0012", "ann": "0013"})
    users = lists(**{"7": "0012", "ann\u200b": "0013"})
    with refusal(ParticipantVisibleError, '"7" is damaged', '"007" is known (2 times)') as caught:
        score(solution, users, "id")
    assert "--" not in str(caught.value)
    with refusal(ParticipantVisibleError, "none of the ids"):
        score(solution, lists(**{"70": "0012", "bob": "0013"}), "id")
    lost = lists(**{"007": "12", "ann": "x"})
    assert score(solution, lost, "id") == 0  # 12 may be an item
    (tmp_path / "items.csv").write_text("item\n0012\n0013\nx\n014\n")
    with refusal(ParticipantVisibleError, '"12" lost its leading zeros; "0012" is known'):
        score(solution, lost, "id", items_path=str(tmp_path / "items.csv"))


def test_items_in_parquet_are_refused(tmp_path: Path) -> None:
    """Their reader would be a second process, in the host's kernel."""
    pl.DataFrame({"item": ["0012"]}).write_parquet(tmp_path / "items.parquet")
    with refusal(HostVisibleError, "items.parquet is Parquet; write it as CSV"):
        score(lists(ann="0012"), lists(ann="0012"), "id", items_path=f"{tmp_path}/items.parquet")


@pytest.mark.parametrize(
    ("solution", "options", "message"),
    [
        (SOLUTION, {"metric": "MAP@x"}, "MAP@x"),
        (SOLUTION, {"metric": "Novelty@3"}, "training"),
        (SOLUTION, {"items_path": "gone.csv"}, "gone.csv"),
        (SOLUTION.drop(columns="items"), {}, 'no column "items"'),
        (SOLUTION.rename(columns={"id": "user"}), {}, 'no column "id"'),
        (pd.concat([SOLUTION, SOLUTION]), {}, "are there twice"),
        (SOLUTION.assign(items=""), {}, "score such users as 0: keep_users_without_items=True$"),
        (SOLUTION.assign(id=["ann", None, "cid"]), {}, "missing; .* keep_default_na=False"),
        (lists(ann="a,b", bob="c", cid="d"), {}, '"a,b" .* between them. write one space'),
        (lists(ann="[a]", bob="[c]", cid=""), {}, "quotes and commas$"),
    ],
)
def test_hosts_are_told_theirs(
    solution: pd.DataFrame, options: dict[str, str], message: str
) -> None:
    with pytest.raises(HostVisibleError, match=message):
        score(solution, GOOD, "id", **options)  # type: ignore[arg-type]


def test_a_participant_is_told_what_a_participant_can_do() -> None:
    """Nobody on Kaggle has the options of a command; the columns' names can be chosen."""
    rows = {"id": ["ann", "ann", "bob", "cid"], "items": ["x", "secret1", "secret3", "z"]}
    submission = pd.DataFrame(rows | {"prediction": [0.1, 0.9, 0.5, 0.5]})
    with refusal(ParticipantVisibleError, 'name it "score" (highest first)') as caught:
        score(SOLUTION, submission, "id")
    assert "--" not in str(caught.value)
    # Ann 1/2 (one of two, at the first place), bob 1.
    assert score(SOLUTION, submission.rename(columns={"prediction": "score"}), "id") == 3 / 4
