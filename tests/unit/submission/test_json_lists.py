"""Lists and true items in JSON: which rows each form has, on which lines, and what is refused."""

import gzip
import io
from pathlib import Path

import pytest

from harness.core.errors import DataError
from harness.delimited.stream import Refused
from harness.submission import json_lists, solution
from harness.submission.expected import Against, of_tables
from harness.submission.fix import fix
from harness.submission.format import Named, TrueColumns
from harness.submission.validate import examine

ANN = '{"user": "ann", "items": ["a", "b"]}\n'
RANKED = [("ann", "a", "0.5", "1"), ("ann", "b", "2", "2")]


def table(text: str, *, truth: bool = False) -> tuple[list[str], list[tuple[object, ...]]]:
    result = json_lists.table(io.BufferedReader(io.BytesIO(text.encode())), truth=truth)
    rows = [
        (line, *row)
        for frame, n in result.frames
        for line, row in zip(n, frame.rows(), strict=True)
    ]
    return list(result.kinds), rows


FORMS: dict[str, tuple[str, list[tuple[object, ...]]]] = {
    "a row a line": (
        ANN + '{"items": [1, 2.0]}\n',
        [(1, "ann", ["a", "b"]), (2, None, ["1", "2.0"])],
    ),
    "blank lines, rows over several": (
        '\n{"user": "ann",\n "items": ["a"]}\r\n\n{"user": 1, "items": []} ',
        [(2, "ann", ["a"]), (5, "1", [])],
    ),
    "an array": (f"[\n{ANN}, {ANN}]", [(2, "ann", ["a", "b"]), (3, "ann", ["a", "b"])]),
    "users": (
        '{"ann": ["a"],\n"bob": null, "cem": ["x y", null]}',
        [(1, "ann", ["a"]), (2, "bob", []), (2, "cem", ["x y", None])],
    ),
    "texts": ('{"ann": "a b", "bob": "c"}', [(1, "ann", "a b"), (1, "bob", "c")]),
    "scores": ('{"ann": {"a": 0.5},\n"bob": {}}', [(1, "ann", "a", "0.5"), (2, "bob", None, None)]),
    "pairs": ('{"ann": [["a", 0.5], ["b", 2]]}', [(1, *row) for row in RANKED]),
    "objects": (
        '{"user": "ann", "recs": [{"item": "a", "score": 0.5}, {"item": "b", "score": 2}]}',
        [(1, *row) for row in RANKED],
    ),
    "numbers as they stand": (
        '{"user": 9007199254740993, "item": 1e5, "score": NaN}',
        [(1, "9007199254740993", "1e5", "NaN")],
    ),
    "escapes": ('{"\\u0061nn": ["\\ud83d\\ude00"]}', [(1, "ann", ["😀"])]),
    "nobody": ("{}", []),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form: str) -> None:
    text, rows = FORMS[form]
    assert table(text)[1] == rows


def test_true_items_have_grades_and_no_ranks() -> None:
    for text in ('{"ann": {"a": 1}}', '{"ann": [["a", 1]]}'):
        assert table(text, truth=True) == (["user", "items", "grade"], [(1, "ann", "a", "1")])


REFUSED = {
    '{"ann": ["a"],\n"ann": ["b"]}': (2, 'the key "ann" is there twice'),
    ANN + '{"user": "bob", "items": ["c"], "user": "cem"}': (2, 'the key "user" is there twice'),
    '{"ann": {"a": 1, "a": 2}}': (1, 'the key "a" is there twice'),
    ANN + '{"user": "bob", "items": ["c"]': (2, "found the end of the file"),
    ANN + '{"user": "bob", "items": "c"}': (2, 'found "c", expected a list of items'),
    ANN + '{"user": "bob", "items": [["c"]]}': (2, "expected a list of items"),
    ANN * 9_999 + '{"user": "bob", "items": [], "rank": 1}': (10_000, 'key "rank" is in none'),
    ANN + "[1]": (2, "expected an object"),
    '{"ann": ["a"]} {"bob": ["b"]}': (1, 'found {"bob": ["b"]} after the end'),
    '{"ann": ["a"], bob: ["b"]}': (1, "found bob"),
    '{"user": {"0": "ann"}, "item": {"0": "a"}}': (1, 'orient="records"'),
    '{"ann": ["\\ud800"]}': (1, "half a character"),
    '{"ann": ' + "[" * 100_000: (1, "nested too deeply"),
    '{"ann": ["' + "a" * json_lists.LONGEST: (1, "longer than 16,777,216 letters"),
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(text: str) -> None:
    line, words = REFUSED[text]
    with pytest.raises(Refused) as refused:
        table(text)
    assert (refused.value.fault, refused.value.line) == ("json", line)
    assert words in refused.value.value


def test_files_of_many_parts_are_read_as_small_ones_are() -> None:
    """Of five megabytes, with what ends a part anywhere in a row, and a fault at the end."""
    rows = [(f"user {n}", [f"item {n}"] * 50) for n in range(10_000)]
    lines = "".join(f'{{"user": "{u}", "items": {items}}}\n'.replace("'", '"') for u, items in rows)
    whole = ", ".join(f'"{u}": {items}'.replace("'", '"') for u, items in rows)
    assert table(lines)[1] == [(line, *row) for line, row in enumerate(rows, 1)]
    assert table(f"{{{whole}}}")[1] == [(1, *row) for row in rows]
    with pytest.raises(Refused, match="json") as refused:
        table(lines + ANN[:-3])
    assert refused.value.line == 10_001


def test_lists_are_checked_and_mended_as_those_of_a_csv(tmp_path: Path) -> None:
    path, out = tmp_path / "lists.jsonl.gz", tmp_path / "fixed.csv"
    rows = '{"user": "ann", "items": ["a", "b", "a"]}\n\n{"user": "bob", "items": ["nan", "c"]}\n'
    path.write_bytes(gzip.compress(rows.encode()))
    result = examine(path, Against(), None).validation
    assert [(p.code, p.line, p.value) for p in result.problems] == [
        ("SUB308", 3, "nan"),
        ("SUB303", 1, "a"),
    ]
    fix(path, Against(), out)
    assert out.read_text() == "user,items\nann,a b\nbob,c\n"


def test_users_of_one_object_need_no_names_of_columns(tmp_path: Path) -> None:
    path, sample = tmp_path / "lists.json", tmp_path / "sample.csv"
    path.write_text('{"ann": ["a"], "bob": []}')
    sample.write_text("customer_id,sku\nann,a\nbob,b\ncem,b\n")
    result = examine(path, of_tables(sample), None).validation
    assert [p.code for p in result.problems] == ["SUB201", "SUB110", "SUB301", "SUB404"]
    named = Against(named=Named("who", "what"))
    assert [p.code for p in examine(path, named, None).validation.problems] == ["SUB301", "SUB404"]
    assert len(solution.of_file(path, TrueColumns("who", "what")).users) == 2


def test_half_a_character_is_refused_wherever_a_part_ends() -> None:
    for spaces in range((1 << 18) - 12, (1 << 18) - 4):
        with pytest.raises(Refused, match="json"):
            table(" " * spaces + '{"ann": ["\\ud800"]}')


def test_an_item_of_many_on_a_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lists.json"
    path.write_text('{"ann": {"a": 2, "b": 1, "c": 1},\n "bob": {"d": 1}}')
    (tie,) = examine(path, Against(), None).validation.problems
    assert (tie.code, tie.line, tie.value) == ("SUB315", 1, "c")


@pytest.mark.parametrize(
    "text",
    [
        '{"ann": ["a", "b"], "bob": ["c"]}',
        '{"ann": {"a": 1, "b": 1, "d": 0}, "bob": {"c": 2}}',
        ANN + '{"user": "bob", "items": ["c"]}',
    ],
)
def test_true_items(tmp_path: Path, text: str) -> None:
    path = tmp_path / "truth.json"
    path.write_text(text)
    result = solution.of_file(path)
    assert (result.users.to_list(), result.judgments.relevant.tolist()) == (["ann", "bob"], [2, 1])


def test_a_user_with_two_lists_of_true_items_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "truth.jsonl"
    path.write_text(ANN + ANN)
    with pytest.raises(DataError, match="user ann has two rows with a list"):
        solution.of_file(path)
