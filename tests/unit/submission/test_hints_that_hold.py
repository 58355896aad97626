"""A file is rid of a fault when you follow the hint on it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli, tells
from test_rules import against

from harness.submission import problems
from harness.submission.expected import Against, of_tables
from harness.submission.fix import NotFixedError, fix
from harness.submission.format import FORMATS, Named
from harness.submission.problems import Problem, Validation
from harness.submission.rules import EXAMPLES, RULES
from harness.submission.rules.rule import GOOD
from harness.submission.validate import validate

HEAD = "customer_id,article_id,rank\n"
LONG = HEAD + "bob,0706016003,2\nann,0706016001,1\nbob,0706016002,1\ncem,0706016001,1\n"
SCORES = LONG.replace("rank", "score")
OF_ROWS: dict[str, str] = {
    "SUB007": "\ufeff" + LONG,
    "SUB009": LONG.replace(",", ";"),
    "SUB102": "".join(f"{line},x\n" for line in LONG.splitlines()),
    "SUB103": LONG.replace("rank\n", "rank,rank\n").replace("1\n", "1,1\n"),
    "SUB104": "rank,article_id,customer_id\n1,0706016001,ann\n1,0706016001,bob\n1,0706016002,cem\n",
    "SUB105": LONG.replace(",rank", ", rank"),
    "SUB106": LONG.replace("rank", "Rank"),
    "SUB107": "".join(f"{number},{line}\n" for number, line in enumerate(LONG.splitlines()))[1:],
    "SUB201": LONG.replace("cem,0706016001,1\n", ""),
    "SUB202": LONG + "zed,0706016001,1\n",
    "SUB204": LONG + "ann,0706016001\n",
    "SUB205": LONG + "ann,0706016001,0706016002,2\n",
    "SUB206": LONG + "\n",
    "SUB207": LONG.replace("cem", " cem"),
    "SUB208": LONG + ",0706016001,1\n",
    "SUB209": LONG.replace("cem", "'cem'"),
    "SUB301": LONG.replace("cem,0706016001", "cem,"),
    "SUB302": HEAD + "".join(f"{user},0706016001,{n}\n" for user in ("ann", "bob", "cem")
                             for n in range(1, 14)),
    "SUB303": LONG + "bob,0706016003,3\n",
    "SUB304": LONG.replace("0706016003", "0999999999"),
    "SUB305": LONG.replace("0706016003", "706016003"),
    "SUB306": LONG.replace("0706016003", "0706016003.0"),
    "SUB307": LONG.replace("0706016003", "7.06016E+08"),
    "SUB308": LONG.replace("0706016003", "nan"),
    "SUB309": LONG.replace("0706016003", "0706016003 0706016001"),
    "SUB310": LONG.replace("0706016003", "['0706016003']"),
    "SUB313": LONG.replace("3,2", "3,second"),
    "SUB314": LONG.replace("3,2", "3,1"),
    "SUB315": SCORES.replace("3,2", "3,1"),
    "SUB316": LONG.replace("3,2", "3,3"),
}  # fmt: skip
"""The faults that rows of one item can have."""
NEW_BOB = b"customer_id,prediction\nann,0706016001 0706016002\nbob,0706016001\ncem,0706016002\n"
RENAMED = LONG.replace("article_id,rank", "prediction,rank")
OF_NOTHING = {"SUB301", "SUB401", "SUB404"}
"""What may be said of lists that nothing is left of."""
BOTH = GOOD.replace("bob,0706016003", "bob,0706016003 0706016001").encode()
FOLLOWED: dict[str, bytes] = {
    **dict.fromkeys(sorted(EXAMPLES), GOOD.encode()),
    "SUB203": NEW_BOB,
    **dict.fromkeys(["SUB205", "SUB309", "SUB310", "SUB311"], BOTH),
    **dict.fromkeys(["SUB313", "SUB314", "SUB316"], RENAMED.encode()),
    "SUB315": RENAMED.replace("rank", "score").encode(),
}
"""What a file is when somebody has done what the hint of each check says."""


def checked(folder: Path, content: bytes | str, known: Against) -> tuple[Validation, Path]:
    path = folder / "submission.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return validate(path, known), path


def fault(found: Validation, code: str) -> Problem:
    return next(problem for problem in found.problems if problem.code == code)


@pytest.mark.parametrize(
    ("code", "content"),
    [*EXAMPLES.items(), *OF_ROWS.items()],
    ids=[*EXAMPLES, *(f"{c}-rows" for c in OF_ROWS)],
)
def test_fix_does_what_it_is_said_to_do(tmp_path: Path, code: str, content: bytes | str) -> None:
    known, out = against(tmp_path, code), tmp_path / "fixed.csv"
    found, path = checked(tmp_path, content, known)
    problem = fault(found, code)
    assert ("or --fix OUT" in problems.text(found, None)) == any(p.fixed for p in found.problems)
    if found.blocked is not None:
        assert not any(p.fixed for p in found.problems)
        with pytest.raises(NotFixedError, match=found.blocked.code):
            fix(path, known, out)
        assert not out.exists()
        return
    fix(path, known, out)
    left = {problem.code for problem in validate(out, known).problems}
    assert not (problem.fixed and code in left)
    assert left <= {p.code for p in found.problems} | OF_NOTHING


@pytest.mark.parametrize("code", EXAMPLES)
def test_a_file_is_rid_of_what_its_hint_is_followed_on(tmp_path: Path, code: str) -> None:
    known = against(tmp_path, code)
    found, _ = checked(tmp_path, EXAMPLES[code], known)
    assert fault(found, code).hint
    content = FOLLOWED[code]
    if code in ("SUB210", "SUB312"):
        content = b"customer_id,prediction\n%064d,0706016001 0706016002\n" % 1
    after, _ = checked(tmp_path, content, known)
    assert code not in {problem.code for problem in after.problems}
    assert after.valid


@pytest.mark.parametrize("answer", [{"score": "votes"}, {"rank": "votes"}, {"row_order": True}])
def test_every_answer_to_what_orders_rows_is_one(tmp_path: Path, answer: dict[str, Any]) -> None:
    found, path = checked(tmp_path, EXAMPLES["SUB111"], against(tmp_path))
    assert fault(found, "SUB111").hint.count("--") == 3
    told = validate(path, replace(against(tmp_path), named=Named(**answer)))
    assert "SUB111" not in {problem.code for problem in told.problems}


def test_every_check_that_fix_mends_is_shown_here() -> None:
    assert {code for code, rule in RULES.items() if rule.fixed} - {"SUB317"} <= set(EXAMPLES)


ROW = f"write one item a row: {HEAD.strip()}"


@pytest.mark.parametrize(
    ("between", "code", "hint"),
    [
        (" ", "SUB205", "put one space between items"),
        (" ", "SUB310", "join the items: ' '.join(items)"),
        (",", "SUB205", "put the list in quotes"),
        (",", "SUB310", "join the items: ','.join(items)"),
        ("|", "SUB205", "put a bar between items"),
        *(("", code, ROW) for code in ("SUB205", "SUB309", "SUB310")),  # rows of one item
    ],
)
def test_a_hint_knows_what_stands_between_items(
    tmp_path: Path, between: str, code: str, hint: str
) -> None:
    known = against(tmp_path)
    assert known.format is not None
    if between:
        known = replace(known, format=replace(known.format, between=between))
    found, _ = checked(tmp_path, EXAMPLES[code] if between else OF_ROWS[code], known)
    assert fault(found, code).hint == hint


def test_notes_of_a_forced_score_are_words_apart(cli: Cli) -> None:
    """A padded id is one row of an evaluated user, not a row of somebody else's."""
    Path("truth.csv").write_text("user,items\nann,a b\nbob,d\n")
    Path("lists.csv").write_text("user,items\n ann,a b\nbob,d d\n")
    done = cli("score", "lists.csv", "--solution", "truth.csv", "--force")
    told = ['warning SUB303 "d" stands in the list already', "users without a list, who score 0: 1"]
    tells(done, 0, *told, 'error   SUB207 spaces stand around " ann"')
    assert "left out" not in done[1]


@pytest.mark.parametrize(("row", "code"), [(" zed,x y", "SUB202"), (" 'ann',x y", "SUB209")])
def test_an_id_has_one_fault(tmp_path: Path, row: str, code: str) -> None:
    (tmp_path / "sample.csv").write_text("user,items\nann,\nbob,\n")
    known = of_tables(tmp_path / "sample.csv")
    found, _ = checked(tmp_path, f"user,items\nbob,y\n{row}\nann,z x\n", known)
    own = [p.code for p in found.problems if p.column == "user" and p.code != "SUB203"]
    assert own == [code]


@pytest.mark.parametrize(
    ("sample", "file", "code", "said"),
    [
        ("ann bob cem", "ANN Bob CEM", "SUB213", 'found "ANN", asked for "ann"'),
        ("Ann Bob Cem", "ann bob cem", "SUB213", 'found "ann", asked for "Ann"'),
        ("ann bob cem", "yve zed zoe", "SUB212", 'found "yve", asked for "ann"'),
    ],
)
def test_a_file_of_ids_that_nobody_asks_for_is_not_doubled(
    tmp_path: Path, sample: str, file: str, code: str, said: str
) -> None:
    for name, ids in {"sample": sample, "file": file}.items():
        rows = "".join(f"{user},a b\n" for user in ids.split())
        (tmp_path / f"{name}.csv").write_text("user,items\n" + rows)
    known = of_tables(tmp_path / "sample.csv")
    assert said in fault(validate(tmp_path / "file.csv", known), code).message
    with pytest.raises(NotFixedError, match=code):
        fix(tmp_path / "file.csv", known, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_no_sample_is_spoken_of_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text("customer_id,age\nann,30\n")
    known = Against(
        format=FORMATS["hm"], ids=tmp_path / "customers.csv", user="customer_id"
    ).asking()
    found, _ = checked(tmp_path, "customer_id,prediction\nann,1 2\nzoe,1\n", known)
    problem = fault(found, "SUB202")
    assert "sample" not in problem.message + problem.hint


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ("ann,a b\nbob,b\ncem,a\n", "user,items"),
        ("ann,a\nbob,b\nbob,a\ncem,a\n", "user,item"),
    ],
)
def test_a_header_to_write_is_one(cli: Cli, rows: str, header: str) -> None:
    """No sample names the columns: the first row would be its own header."""
    Path("truth.csv").write_text("user,items\nann,a\nbob,b\ncem,a\n")
    Path("lists.csv").write_text(rows)
    by = ("validate", "lists.csv", "--solution", "truth.csv")
    tells(cli(*by), 1, f"write a header that names each column: {header}\n")
    Path("lists.csv").write_text(f"{header}\n{rows}")
    tells(cli(*by), 0, "0 errors, 0 warnings")
