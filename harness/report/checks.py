"""The checks of submissions: ``harness list checks`` and docs/submission-checks.md."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from harness.report.sheet import Sheet
from harness.submission.against import Against, of_tables
from harness.submission.check import Check
from harness.submission.checks import CHECKS
from harness.submission.examples import BAD, GOOD, ITEMS, SAMPLE
from harness.submission.formats import FORMATS
from harness.submission.problems import Problem
from harness.submission.validate import validate

_LONGEST = 400


def document() -> dict[str, Any]:
    """Return the JSON document."""
    return {"schema": 1, "checks": [{"code": c, **_facts(check)} for c, check in CHECKS.items()]}


def sheet() -> Sheet:
    """Return the checks as a table."""
    rows = [
        [code, check.severity, check.name, _plain(check.hint), "--fix" if check.fixed else ""]
        for code, check in CHECKS.items()
    ]
    return Sheet(
        ["check", "severity", "what", "how to mend it", "mended by"],
        rows,
        left=frozenset({0, 1, 2, 3, 4}),
        kept=4,
        wrapped=frozenset({2, 3}),
    )


def _facts(check: Check) -> dict[str, Any]:
    names = ("name", "severity", "says", "hint", "of", "column", "fixed")
    return {name: getattr(check, name) for name in names}


def page() -> str:
    """Return docs/submission-checks.md."""
    with tempfile.TemporaryDirectory() as folder:
        sections = [_section(code, check, Path(folder)) for code, check in CHECKS.items()]
    formats = "\n".join(
        f"| {name} | `{','.join(f.columns)}` | {f.k} | {f.metric} | {f.source} |"
        for name, f in FORMATS.items()
    )
    head = _HEAD.strip().format(
        sample=_block(SAMPLE.encode()), items=_block(ITEMS.encode()), good=_block(GOOD.encode())
    )
    return "\n\n".join([head, *sections, _FORMATS.strip() + "\n" + formats]) + "\n"


_HEAD = """
# What is looked at in a submission

Made by `make docs` from the declarations in `harness/submission/`; `harness list checks` prints the
same facts. Codes never change their meaning. An error is what a platform refuses, or what scores
wrong in silence; a warning is worth a look (`--strict` makes them errors).

The examples are checked with `harness validate submission.csv --sample sample.csv --items
articles.csv`, where the sample and the articles are

{sample}

{items}

and this file is good (of bad ones only the lines that differ are shown; SUB210 and SUB312 are found
where nobody says which ids there are, without sample and articles):

{good}
"""

_FORMATS = """
## Formats

Known by the header of the sample, or else of the file itself.

| format | header | longest list | metric | competition |
| :-- | :-- | --: | :-- | :-- |
"""


_BY_ITSELF = ", or `--fix OUT`"


def _section(code: str, check: Check, folder: Path) -> str:
    lines = [
        f"## {code} {check.name}",
        "",
        f"{check.severity}; to mend it: {_plain(check.hint)}{_BY_ITSELF * check.fixed}",
    ]
    if code in BAD:
        problem = _found(code, folder)
        place = "" if problem.line is None else f"line {problem.line}: "
        lines += ["", *_shown(BAD[code]), "", f"> {place}{problem.message}"]
    return "\n".join(lines)


def _found(code: str, folder: Path) -> Problem:
    (folder / "sample.csv").write_text(SAMPLE, encoding="utf-8")
    (folder / "articles.csv").write_text(ITEMS, encoding="utf-8")
    path = folder / "submission.csv"
    path.write_bytes(BAD[code])
    known = of_tables(folder / "sample.csv", folder / "articles.csv")
    # Where nobody says which ids there are, their shape alone can be looked at.
    against = Against(format=FORMATS["hm"]) if code in ("SUB210", "SUB312") else known
    return next(p for p in validate(path, against).problems if p.code == code)


def _plain(hint: str) -> str:
    return hint.format(
        allowed="customer_id,prediction",
        k="k",
        between="one space",
        quoted="NAME",
        between_items="put one space between items",
        apart="put one space between items",
        joined="join the items: ' '.join(items)",
    )


def _shown(content: bytes) -> list[str]:
    """Return the lines of a bad file that the good one has not, as a block."""
    if not _is_text(content):
        return []
    good = GOOD.encode().splitlines(keepends=True)
    odd = [line for line in content.splitlines(keepends=True) if line not in good]
    return [_block(b"".join(odd) or content)]


def _is_text(content: bytes) -> bool:
    return len(content) < _LONGEST and content[:2] not in (b"PK", b"\x1f\x8b", b"\xff\xfe", b"Ra")


def _block(content: bytes) -> str:
    lines = content.decode("utf-8", "backslashreplace").split("\n")
    shown = [
        line.encode("unicode_escape").decode() if not line.isprintable() else line for line in lines
    ]
    return "```\n" + "\n".join(shown).rstrip("\n") + "\n```"
