"""docs/submission-checks.md: every rule of submissions, its bad file, and what is said of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness.listing.tables import plain
from harness.submission.expected import Against, of_tables
from harness.submission.format import FORMATS
from harness.submission.rules import GOOD, ITEMS, RULES, SAMPLE, Rule
from harness.submission.validate import validate

_LONGEST = 400
"""Bytes of an example that is shown."""
_HEAD = """
# Checks of submissions

`make pages` writes this page from the rules in `harness/submission/`. `harness list checks` prints
the same facts. A code never changes its meaning.

- An error is something that a platform refuses, or that gives a wrong score without a message.
- A warning may be right or wrong: check it. `--strict` turns warnings into errors.

The examples come from `harness validate submission.csv --sample sample.csv --items articles.csv
--k 12`. This is the sample, then the articles:

{sample}

{items}

This submission is good. The bad examples below show only the lines that differ. SUB210 and SUB312
appear only if the ids are unknown, so their examples have no sample and no articles.

{good}
"""

_FORMATS = """
## Formats

harness knows a format by the header of the sample, else by the header of the file.

| format | header | longest list | metric | competition |
| :-- | :-- | --: | :-- | :-- |
"""
_BY_ITSELF = ", or `--fix OUT`"


def page() -> str:
    """Return docs/submission-checks.md."""
    with tempfile.TemporaryDirectory() as folder:
        sections = [_section(rule, Path(folder)) for rule in RULES.values()]
    formats = "\n".join(
        f"| {name} | `{','.join(f.columns)}` | {f.k} | {f.metric} | {f.source} |"
        for name, f in FORMATS.items()
    )
    head = _HEAD.strip().format(
        sample=_block(SAMPLE.encode()), items=_block(ITEMS.encode()), good=_block(GOOD.encode())
    )
    return "\n\n".join([head, *sections, _FORMATS.strip() + "\n" + formats]) + "\n"


def _section(rule: Rule, folder: Path) -> str:
    lines = [
        f"## {rule.code} {rule.name}",
        "",
        f"{rule.severity}; to fix it: {plain(rule.hint)}{_BY_ITSELF * rule.fixed}",
    ]
    example = rule.example
    if example is None:
        return "\n".join(lines)
    (folder / "sample.csv").write_text(SAMPLE, encoding="utf-8")
    (folder / "articles.csv").write_text(ITEMS, encoding="utf-8")
    path = folder / "submission.csv"
    path.write_bytes(example)
    known = of_tables(folder / "sample.csv", folder / "articles.csv").cut_at(12)
    # Where nobody says which ids there are, their shape alone can be looked at; and a sample would
    # have said which column is which.
    shape = Against(format=FORMATS["hm"])
    less = {"SUB112": Against(), "SUB210": shape, "SUB312": shape}
    problems = validate(path, less.get(rule.code, known)).problems
    problem = next((p for p in problems if p.code == rule.code), None)
    if problem is None:
        raise ValueError(f"{rule.code} does not find its example")
    place = "" if problem.line is None else f"line {problem.line}: "
    lines.append("")
    is_text = example[:2] not in (b"PK", b"\x1f\x8b", b"\xff\xfe", b"Ra")
    if is_text and len(example) < _LONGEST:  # the lines that the good file has not
        good = GOOD.encode().splitlines(keepends=True)
        odd = [line for line in example.splitlines(keepends=True) if line not in good]
        lines.append(_block(b"".join(odd) or example))
    return "\n".join([*lines, "", f"> {place}{problem.message}"])


def _block(content: bytes) -> str:
    lines = content.decode("utf-8", "backslashreplace").split("\n")
    shown = [
        line.encode("unicode_escape").decode() if not line.isprintable() else line for line in lines
    ]
    return "```\n" + "\n".join(shown).rstrip("\n") + "\n```"
