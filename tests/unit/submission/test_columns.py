"""Users and items are found by the names of columns; by their place only where two are left."""

from pathlib import Path

import polars as pl
import pytest
import small
from conftest import refusal

import harness
from harness.core.errors import DataError, UsageError
from harness.delimited.stream import Refused
from harness.scoring.submissions import SubmissionError
from harness.submission.columns import item_column, users_and_items


@pytest.mark.parametrize(
    ("header", "user", "item"),
    [
        ("user,items", "user", "items"),
        ("movieId,userId,score", "userId", "movieId"),
        ("product_id,customer_id,score", "customer_id", "product_id"),
        (",who,what", "who", "what"),
        ("order_id,who,what", "who", "what"),
        ("t_dat,customer_id,article_id,price", "customer_id", "article_id"),
        ("timestamp,who,what", "who", "what"),
        ("session,uid,sku", "uid", "sku"),
        ("id,prediction", "id", "prediction"),
        ("id,item_id,prediction", "id", "item_id"),
        ("recs,id", "id", "recs"),
        ("who,what,rank", "who", "what"),
        ("who,what,rating", "who", "what"),  # a grade
        ("item_id,recommendations", "item_id", "recommendations"),  # of items for items
        ("item_idx,user_idx,score", "user_idx", "item_idx"),
        ("game,player,score", "player", "game"),
        ("query,target", "query", "target"),  # nothing else can be the item
        ("order_id,product_id", "order_id", "product_id"),  # nor the user
        (" user , items", "user", "items"),
    ],
)
def test_names_tell(header: str, user: str, item: str) -> None:
    assert users_and_items(header.split(",")) == (user, item)


@pytest.mark.parametrize("header", ["a,b,c", "user,b,c", "a,item,c", "who,what,where,rank"])
def test_more_than_two_columns_without_telling_names_are_refused(header: str) -> None:
    with pytest.raises(Refused, match="columns"):
        users_and_items(header.split(","))


@pytest.mark.parametrize("header", ["Unnamed: 0,items", ",items", "index,items", "date,items"])
def test_an_index_or_a_time_is_never_the_user(header: str) -> None:
    assert users_and_items(header.split(","))[0] == "user"  # a column that is not there


def test_named_columns_count_before_names() -> None:
    assert users_and_items(["a", "user", "item"], user="a") == ("a", "item")
    assert users_and_items(["a", "b", "c"], item="a", user="c") == ("c", "a")
    assert users_and_items(["a", "b"], item="a") == ("b", "a")


def test_the_ids_of_a_table_of_items() -> None:
    assert item_column(["Unnamed: 0", "name", "article_id"]) == "article_id"
    assert item_column(["", "what"]) == "what"


# In a solution and in lists. ann's list hits at 2 of 2: AP 1/2; bob's at 1: AP 1.

LISTS = pl.DataFrame({"what": ["x", "a", "b"], "who": ["ann", "ann", "bob"], "rank": [1, 2, 1]})
TRUE = pl.DataFrame({"thing": ["a", "b"], "person": ["ann", "bob"]})


@pytest.mark.parametrize(
    ("user", "item"), [("user_id", "item_id"), ("customer", "sku"), ("Kunde", "Artikel")]
)
def test_the_item_may_stand_first(tmp_path: Path, user: str, item: str) -> None:
    lists = LISTS.rename({"what": item, "who": user})
    true = TRUE.rename({"thing": item, "person": user})
    lists.write_csv(tmp_path / "lists.csv")
    true.write_csv(tmp_path / "true.csv")
    for submission, solution in ((lists, true), (tmp_path / "lists.csv", tmp_path / "true.csv")):
        scored = harness.score(submission, solution=solution, metrics="MAP@2")
        assert scored.metrics["MAP@2"].mean == 3 / 4
        assert harness.validate(submission, solution=solution).valid


def test_what_names_do_not_say_is_asked_for(tmp_path: Path) -> None:
    lists = LISTS.with_columns(place=pl.lit("y"))
    (problem,) = harness.validate(lists, solution=TRUE).errors
    assert (problem.code, "what, who, place" in problem.message) == ("SUB112", True)
    assert "--user-column" in problem.hint
    with refusal(SubmissionError, "SUB112"):
        harness.score(lists, solution=TRUE)
    options = "name them with --truth-user-column and --truth-item-column"
    for check in (harness.score, harness.validate):
        with refusal(DataError, "thing, place", options):
            check(LISTS, solution=TRUE.with_columns(place=pl.lit("y")))
    with refusal(UsageError, "name columns of --solution"):
        harness.validate(LISTS, truth_user_column="person")


@pytest.mark.parametrize(
    ("lists", "true"),
    [
        ("session_id,item_id", "user_id,session_id,item_id"),
        ("user_id,sku", "user_id,product_id,sku"),
        ("contact,place", "place,contact"),  # one order in one file, another in the other
    ],
)
def test_a_column_has_one_role_in_both_files(tmp_path: Path, lists: str, true: str) -> None:
    small.write(tmp_path, {"l.csv": f"{lists}\n1,2\n", "t.csv": f"{true}\n1,2,3\n"})
    if true.count(",") == 1:
        small.write(tmp_path, {"t.csv": f"{true}\n1,2\n"})
    for check in (harness.score, harness.validate):
        with refusal(UsageError, "of the lists, and", "--truth-"):
            check(tmp_path / "l.csv", solution=tmp_path / "t.csv")


def test_one_column_cannot_be_both(tmp_path: Path) -> None:
    (tmp_path / "sample.csv").write_text("who,what\nann,\n")
    with refusal(UsageError, 'column "who" cannot have both the users and the items'):
        harness.validate(LISTS, sample=tmp_path / "sample.csv", item_column="who")


# Grades of a solution: ann's a is relevant, x is not. MAP@2 is 1/2 if grades count, else 1.

GRADED = pl.DataFrame({"user": "ann", "item": ["a", "x"], "g": [1, 0]})
BOTH = pl.DataFrame({"user": "ann", "item": ["x", "a"], "rank": [1, 2]})


@pytest.mark.parametrize(
    ("name", "zero"),
    [
        ("relevance", "0"),
        ("Rating", "-1"),
        ("label", "False"),
        ("target", "false"),
        ("score", "0.0"),
        ("Quantity", "-1"),
        ("is_relevant", "False"),
        ("Book-Rating", "0"),
    ],
)
def test_zeros_of_a_column_that_may_hold_grades(tmp_path: Path, name: str, zero: str) -> None:
    path = tmp_path / "true.csv"
    path.write_text(f"user,item,{name}\nann,a,{'True' if 'alse' in zero else 1}\nann,x,{zero}\n")
    for check in (harness.score, harness.validate):
        with refusal(DataError, f'column "{name}" holds', f"--grade-column {name}", "column none"):
            check(BOTH, solution=path)
    everything = harness.score(BOTH, solution=path, metrics="MAP@2", grade_column="none")
    assert everything.metrics["MAP@2"].mean == 1
    graded = harness.score(BOTH, solution=path, metrics="MAP@2", grade_column=name)
    assert graded.metrics["MAP@2"].mean == 1 / 2
    below = " (1 below 0: not relevant)" if zero == "-1" else ""
    assert graded.truth == f'one row per item, grades in column "{name}"{below}, 1 user'


def test_other_columns_and_grades_above_zero_are_no_matter() -> None:
    indexes = {name: [0, 1] for name in ("", "Unnamed: 0", "index")}
    harmless = {"rating": [5, 1], "price": [0, 9], "comment": ["0", "good"], **indexes}
    for name, values in harmless.items():
        true = GRADED.drop("g").with_columns(pl.Series(name, values))
        assert harness.score(BOTH, solution=true, metrics="MAP@2").metrics["MAP@2"].mean == 1
    graded = harness.score(BOTH, solution=GRADED.rename({"g": "grade"}), metrics="MAP@2")
    assert graded.metrics["MAP@2"].mean == 1 / 2
    with refusal(DataError, 'no column "gr"; did you mean "g"'):
        harness.score(BOTH, solution=GRADED, grade_column="gr")


def test_zeros_and_ones_are_asked_about_whatever_they_are_called(tmp_path: Path) -> None:
    with refusal(DataError, 'column "bought_it" holds 0', "--grade-column bought_it"):
        harness.score(BOTH, solution=GRADED.rename({"g": "bought_it"}))
    path = tmp_path / "true.csv"
    for cells in (["3", "0", "n/a"], ["3", '"0,0"', "1"], ["yes", "no", "yes"]):
        rows = "".join(f"ann,{item},{cell}\n" for item, cell in zip("axb", cells, strict=True))
        path.write_text(f"user,item,rating\n{rows}")
        with refusal(DataError, 'column "rating" holds 0'):
            harness.score(BOTH, solution=path)


# Ids with spaces, commas and quotes. ann's second item hits, bob's first: MAP@2 3/4.

TITLES = ["Toy Story (1995)", 'Shoes, "red"', "O'Hara's hat"]


@pytest.mark.parametrize("several", [False, True])
def test_ids_with_spaces_are_not_split(tmp_path: Path, several: bool) -> None:
    lists = pl.DataFrame(
        {
            "user": ["ann", "ann", "bob"],
            "item": [TITLES[1], TITLES[0], TITLES[2]],
            "rank": [1, 2, 1],
        }
    )
    rows = {"user": ["ann", "bob"], "item": [TITLES[0], TITLES[2]]}
    true = pl.DataFrame(rows)
    if several:  # bob's other item is not in his list: AP@2 1/2
        true = pl.concat([true, pl.DataFrame({"user": ["bob"], "item": [TITLES[1]]})])
    true.write_csv(tmp_path / "true.csv")
    scored = harness.score(lists, solution=tmp_path / "true.csv", metrics="MAP@2")
    assert scored.metrics["MAP@2"].mean == (1 / 2 if several else 3 / 4)
    assert scored.truth == "one row per item, 2 users"
    assert "truth: one row per item, 2 users\n" in repr(scored)


@pytest.mark.parametrize(
    ("column", "cells", "truth"),
    [
        ("items", ["red shoe", "hat"], "lists with one space between items"),  # the name says so
        ("item", ["p1 p22", "p3"], "lists with one space between items"),  # as ids look
        ("item", ["red shoe", "hat"], "one row per item"),
        ("sku", ["12,345", "7"], "lists with a comma between items"),
    ],
)
def test_what_is_a_list(column: str, cells: list[str], truth: str) -> None:
    true = pl.DataFrame({"user": ["ann", "bob"], column: cells})
    assert harness.score(BOTH, solution=true).truth == f"{truth}, 2 users"


def test_ids_with_spaces_and_digits_where_a_separator_says_that_they_are_no_lists() -> None:
    """A list in a row beside a user with two rows may as well be a mistake: it is asked about."""
    true = pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["a1 b2", "c3 d4", "e5 f6"]})
    with refusal(DataError, "user ann has two rows", "--separator ';'"):
        harness.score(BOTH, solution=true)
    assert harness.score(BOTH, solution=true, separator=";").truth == "one row per item, 2 users"


def test_ids_or_lists_is_asked_where_nothing_tells() -> None:
    true = pl.DataFrame({"who": ["ann", "bob"], "what": ["red shoe", "hat"]})
    with refusal(DataError, 'found "red shoe"', "--separator ' '", "--separator ','"):
        harness.score(BOTH, solution=true)
    several = pl.DataFrame({"who": ["ann", "bob"], "what": ["red,shoe", "h;at"]})
    with refusal(DataError, 'found "red,shoe"', "--separator ','", "--separator ' '"):
        harness.score(BOTH, solution=several)
    assert harness.score(BOTH, solution=true, separator=" ").truth.startswith("lists")
    assert harness.score(BOTH, solution=true, separator=",").truth.startswith("one row per item")
