"""What competitions ask for: headers that tell them, their metrics, and configs that add to it."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import exactly, refusal

import harness
from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.scoring.submissions import Scored
from harness.scoring.terms import Terms
from harness.submission.format import FORMATS, Format, of_competition

ROWS = {  # a user and a list of each competition
    "hm": ("0a" * 32, "0706016001 0706016002"),
    "ponpare": ("0a" * 16, "0b0b 0c0c"),
    "kion": ("176549", "9728 15297"),
    "santander": ("15889", "ind_cco_fin_ult1 ind_recibo_ult1"),
    "expedia": ("12", "5 99"),
    "outbrain": ("16874594", "66758 150083"),
    "eedi": ("1869_B", "1672 2315"),
    "llm-exam": ("0", "D A E"),
    "instacart": ("17", "39276 None"),
    "otto": ("12899779_clicks", "59625 1253524"),
}


def fits(known: Format, user: str, items: str) -> Format | None:
    """Return the competition of a file with the header of a known one, and one row."""
    cells = dict(zip(known.columns, ([user], [items]), strict=True))
    return of_competition(known.columns, lambda column, most: cells[column])


@pytest.mark.parametrize("name", FORMATS)
def test_a_competition_is_known_by_its_header_and_its_ids(name: str) -> None:
    known = FORMATS[name]
    user, items = ROWS[name]
    assert fits(known, user, items) == known
    padded = [f" {column.upper()} " for column in known.columns]
    cells = dict(zip(padded, ([text] for text in ROWS[name]), strict=True))
    assert of_competition(padded, lambda column, most: cells[column]) == known
    assert of_competition(["who", "what"], lambda column, most: cells[column]) is None


@pytest.mark.parametrize(
    ("name", "user", "items"),
    [
        ("llm-exam", "u0", "p44 p47"),  # anyone's id,prediction
        ("llm-exam", "0", "p44 p47"),
        ("llm-exam", "0", "A B C D"),  # lists of four
        ("hm", "ann", "0706016001"),
        ("kion", "u1", "1 2"),
        ("kion", "1", "a b"),
        ("kion", "1", "1 2 3 4 5 6 7 8 9 10 11"),  # lists of eleven
        ("instacart", "4000000", "1 2"),  # beyond the last order
        ("kion", "1", "9" * 5000),
    ],
)
def test_a_general_header_is_anyones(name: str, user: str, items: str) -> None:
    assert fits(FORMATS[name], user, items) is None


def write(folder: Path, **files: str) -> None:
    small.write(folder, {f"{name}.csv": text for name, text in files.items()})


def scored(folder: Path, **options: Any) -> Scored:
    return harness.score(folder / "lists.csv", solution=folder / "solution.csv", **options)


def test_instacart(tmp_path: Path) -> None:
    """F1: 2·1/(2 + 1), 2·1/(1 + 1) for the literal None, and 2·2/(2 + 3)."""
    write(
        tmp_path,
        solution="order_id,products\n1,10 20\n2,None\n3,10 30\n",
        lists="order_id,products\n1,10\n2,None\n3,30 10 99\n",
    )
    result = scored(tmp_path)
    assert result.metrics["SetF1"].mean == exactly((2 / 3 + 1 + 4 / 5) / 3)
    assert result.validation is not None
    assert result.validation.problems == ()
    assert harness.validate(tmp_path / "lists.csv").problems == ()


OTTO = """session_type,labels,Usage
1_clicks,10,Public
2_clicks,20,Public
1_carts,30 40,Private
1_orders,50,Private
"""


def test_otto(tmp_path: Path) -> None:
    """Clicks 1 of 2, carts 1 of 2, orders 1 of 1: 0.1·1/2 + 0.3·1/2 + 0.6·1, or 3 of 5.

    Public has clicks alone: 0.1·1/2; private carts and orders.
    """
    lists = "session_type,labels\n1_clicks,10 9\n2_clicks,8 7\n1_carts,9 40\n1_orders,50 9\n"
    write(tmp_path, solution=OTTO, lists=lists)
    result = scored(tmp_path, metrics=["TotalRecall@20", "MicroRecall@20"])
    assert result.metrics["TotalRecall@20"].mean == exactly(0.8)
    assert result.metrics["MicroRecall@20"].mean == 3 / 5
    means = {name: board["TotalRecall@20"].mean for name, board in result.leaderboards.items()}
    assert means == {"Public": exactly(0.05), "Private": exactly(0.75)}
    write(tmp_path, solution=OTTO + "3_views,1,Public\n")
    with refusal(DataError, '"3_views" has no event type; ids must end with _clicks, _carts'):
        scored(tmp_path)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("id,prediction\n1,A B F\n2,E D\n", "SUB304"),  # letters from A to E
        ("id,hotel_cluster\n1,99 100\n2,3 4\n", "SUB304"),  # clusters from 0 to 99
        ("session_type,labels\n1_clicks,1 2\n2_CLICKS,3 1\n", "SUB210"),
        ("USER_ID_hash,PURCHASED_COUPONS\n" + "a1" * 16 + ",\n" + "b2" * 15 + ",c d\n", "SUB210"),
    ],
)
def test_what_ids_look_like(tmp_path: Path, content: str, code: str) -> None:
    write(tmp_path, lists=content)
    problems = harness.validate(tmp_path / "lists.csv").problems
    assert [problem.code for problem in problems] == [code]


# What is refused.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"config": "own", "solution": "s.csv"},
            "a config already sets this: remove --solution",
        ),
        ({"config": "own", "sample": "a.csv", "items": "b.csv"}, "remove --sample and --items"),
        ({"config": "own", "separator": ";"}, "or add --set 'submission.separator=\";\"'"),
        (
            {"config": "own", "keep_users_without_items": True},
            "remove --keep-users-without-items",
        ),
        ({"separator": "/"}, "--separator is '/'; expected one of ' ' (one space)"),
        (
            {"user_column": "a", "item_column": "a"},
            "one column is named for two roles: a, a; name two columns",
        ),
        (
            {"rank_column": "a", "score_column": "b"},
            "by rank, by score or by row",
        ),
        ({"score_column": "a", "row_order": True}, "by rank, by score or by row"),
        (
            {"overrides": ["data.path=x"]},
            "--set data.path=x overrides a key of a config; name the config",
        ),
        ({"sample": 3}, "found int, expected a file; give its path"),
    ],
)
def test_things_that_do_not_go_together(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    if "config" in options:
        options = options | {"config": evaluation_set(tmp_path)}
    with refusal(UsageError, words):
        Terms(options)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"user_column": 3}, "user_column is 3; expected a valid string"),
        ({"row_order": "yes"}, "row_order is 'yes'; expected a valid boolean"),
        ({"overrides": "k=1"}, "overrides is 'k=1'; "),
    ],
)
def test_an_option_of_another_type(option: dict[str, Any], words: str) -> None:
    for function in (harness.validate, harness.score):
        with refusal(UsageError, words):
            function("lists.csv", **option)


def test_something_to_score_against_is_needed(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[submission]\nseparator = ";"\n')
    with refusal(UsageError, "solution=); this config has no [data]"):
        Terms({"config": tmp_path / "own.toml"}).scored_against()


@pytest.mark.parametrize("k", [0, True, 2.5, "many"])
def test_a_cut_off_is_a_whole_number(tmp_path: Path, k: Any) -> None:
    write(tmp_path, lists="user,items\nann,a\n", solution="user,items\nann,a\n")
    with refusal(UsageError, f"k is {k!r}; expected a whole number, 1 or more"):
        scored(tmp_path, k=k)


# A config.

LOG = "user,item,time\nann,a,2020-01-01\nbob,b,2020-01-02\nann,b,2020-01-09\nbob,a,2020-01-09\n"


def evaluation_set(folder: Path, **sections: Any) -> Config:
    return small.config(folder, log=LOG, **sections)


def test_a_sample_and_columns_of_a_config(tmp_path: Path) -> None:
    files = {"sample": "who,what\nann,\nbob,\n", "lists": "who,what\nann,b;a\nbob,a;007\n"}
    write(tmp_path, **files)
    submission = {"sample": "sample.csv", "user": "who", "items": "what", "separator": ";"}
    config = evaluation_set(tmp_path, submission=submission)
    assert harness.validate(tmp_path / "lists.csv", config=config).problems == ()
    assert harness.score(tmp_path / "lists.csv", config=config).metrics["MAP@2"].mean == 1
    write(tmp_path, lists="who,what\nann,b a\nbob,a;b\n")
    (problem,) = harness.validate(tmp_path / "lists.csv", config=config).problems
    assert (problem.code, problem.hint) == ("SUB309", "put a semicolon between items")
    with refusal(UsageError, '[submission] has no key "smple"; did you mean "sample"'):
        evaluation_set(tmp_path, submission={"smple": "sample.csv"})


def test_an_evaluation_set_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Zed, whom no table has, may be in it."""
    write(tmp_path, users="user\nann\n", lists="user,items\nann,b\nzed,a\n")
    config = small.config(tmp_path, log=LOG + "ann,b,soon\n", data={"users": "users.csv"})
    result = harness.validate(tmp_path / "lists.csv", config=config)
    (problem,) = [problem for problem in result.problems if problem.code == "SUB202"]
    assert problem.value == "zed"
    assert "; checked without the evaluation set: " in result.checked
    assert 'log.csv: line 6, column "time": found "soon"' in result.checked


# What only a solution tells.

NEW, OLD = "SUB402", "SUB403"


@pytest.mark.parametrize(
    ("lists", "code", "words"),
    [
        (["new other"] * 120, "", ""),
        (["other"] * 120, NEW, "evaluated users with a hit: 0 of 120"),
        (["old new"] * 120, "", ""),  # half of all positions hold what the user has
        (["old"] * 119 + ["new"], OLD, "already has in training: 119 of 120"),
    ],
)
def test_hardly_a_hit_or_bought_already(
    tmp_path: Path, lists: list[str], code: str, words: str
) -> None:
    """Everyone has `old`, and everyone's true item is `new`."""
    days = [("zed,new", 1), ("zed,other", 1)]
    days += [(f"u{n},{item}", day) for n in range(120) for item, day in (("old", 1), ("new", 9))]
    log = "user,item,time\n" + "".join(f"{pair},2020-01-0{day}\n" for pair, day in days)
    write(tmp_path, lists="user,items\n" + "".join(f"u{n},{lists[n]}\n" for n in range(120)))
    result = harness.score(tmp_path / "lists.csv", config=small.config(tmp_path, log=log))
    assert result.validation is not None
    messages = {p.code: p.message for p in result.validation.problems if p.code in (NEW, OLD)}
    assert list(messages) == ([code] if code else [])
    assert words in messages.get(code, "")
