"""What the files of these tests are checked against, and what is found in them."""

from pathlib import Path
from typing import Any

from harness.scoring.terms import Terms
from harness.submission.expected import Against, of_tables
from harness.submission.format import FORMATS
from harness.submission.problems import Problem, Validation
from harness.submission.rules import ITEMS, SAMPLE
from harness.submission.validate import Examined, examine, validate

HEAD = "customer_id,article_id,rank\n"
LONG = HEAD + "bob,0706016003,2\nann,0706016001,1\nbob,0706016002,1\ncem,0706016001,1\n"
"""A file with a row an item that keeps every rule."""
SCORES = LONG.replace("rank", "score")
THIRTEEN = "".join(f"ann,0706016001,{rank}\n" for rank in range(2, 14))
SAME = "".join(f"{u},0706016001,1\n{u},0706016002,2\n" for u in ("ann", "bob", "cem"))
ROWS: dict[str, tuple[str, int | None, str, int]] = {
    "SUB102": (LONG.replace("\n", ",x\n"), 1, "article_id", 2),
    "SUB107": ("," + LONG.replace("\n", "\n0,", 4), 1, "", 1),
    "SUB201": (LONG.replace("cem,0706016001,1\n", ""), None, "cem", 1),
    "SUB204": (LONG + "ann,0706016001\n", 6, "ann,0706016001", 1),
    "SUB205": (LONG + "ann,0706016001,0706016002,2\n", 6, "ann,0706016001,0706016002,2", 1),
    "SUB206": (LONG + "\n", 6, "", 1),
    "SUB207": (LONG.replace("cem", " cem"), 5, " cem", 1),
    "SUB301": (LONG.replace("cem,0706016001", "cem,"), 5, "", 1),
    "SUB302": (LONG + THIRTEEN, 17, "0706016001", 1),
    "SUB303": (LONG + "bob,0706016003,3\n", 6, "0706016003", 1),
    "SUB304": (LONG.replace("0706016003", "0999999999"), 2, "0999999999", 1),
    "SUB309": (LONG.replace("0706016003", "0706016003 0706016001"), 2, "0706016003 0706016001", 1),
    "SUB310": (LONG.replace("0706016003", "['0706016003']"), 2, "['0706016003']", 1),
    "SUB313": (LONG.replace("3,2", "3,second"), 2, "second", 1),
    "SUB314": (LONG.replace("3,2", "3,1"), 4, "0706016002", 1),
    "SUB315": (SCORES.replace("3,2", "3,1"), 4, "0706016002", 1),
    "SUB316": (LONG.replace("3,2", "3,4"), 2, "0706016003", 1),
    "SUB401": (HEAD + SAME, None, "", 3),
    "SUB404": (HEAD + "ann,0706016001,1\nbob,0706016002,1\ncem,0706016003,1\n", None, "", 3),
}
"""Files with a row an item by the rule that each breaks: line, value and count of the fault.

Headers and users are checked as where a row holds a list.
"""


def against(folder: Path, code: str = "") -> Against:
    """Return what the example of a rule is checked against: three customers, three articles."""
    if code in ("SUB210", "SUB312"):  # where nobody says which ids there are
        return Against(format=FORMATS["hm"])
    if code == "SUB112":  # where nobody says which columns there are
        return Against()
    (folder / "sample.csv").write_text(SAMPLE)
    (folder / "articles.csv").write_text(ITEMS)
    return of_tables(folder / "sample.csv", folder / "articles.csv").cut_at(12)


def checked(
    folder: Path,
    content: str | bytes,
    known: Against | None = None,
    name: str = "submission.csv",
    strict: bool = False,
) -> Validation:
    """Write a file, and return what is wrong with it."""
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return validate(folder / name, known or against(folder), strict=strict)


def by_solution(path: Path, solution: str) -> Examined:
    """Return what is found in a file, and its lists, by a solution of these lines."""
    truth = path.parent / "solution.csv"
    truth.write_text(solution)
    terms = Terms({"solution": truth})
    answers = terms.scored_against()
    return examine(path, terms.against().scored_by(answers), answers)


def brief(problem: Problem) -> tuple[str, int | None, str, int, int]:
    return problem.code, problem.line, problem.value, problem.count, problem.lines


def findings(*arguments: Any, **keys: Any) -> list[tuple[str, int | None, str, int, int]]:
    return [brief(problem) for problem in checked(*arguments, **keys).problems]


def codes(*arguments: Any, **keys: Any) -> list[str]:
    return [problem.code for problem in checked(*arguments, **keys).problems]
