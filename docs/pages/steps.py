"""What a reader does on a page: save files, type commands and run Python, in order."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.M | re.S)
FILE = re.compile(r"# ([\w./-]+\.(?:py|toml))(?:, (at the end|in \[\w+\]))?\n")


class Step(NamedTuple):
    """One step: ``kind`` is save, type or python.

    ``text`` is what you save, type or run; ``expected`` is the output that the page shows, or "".
    ``file`` is the file to save, and ``place`` says where in it: "" for the whole file,
    "at the end", or "in [section]".
    """

    kind: str
    text: str
    expected: str = ""
    file: str = ""
    place: str = ""


def steps(page: Path) -> Iterator[Step]:
    """Yield the steps of a page; blocks of ``sh`` and ``yaml`` belong to other machines.

    The first line of a block of Python or TOML may name a file, as ``# events.toml, at the end``.
    A block of ``text`` below one of Python is its output.
    """
    for language, text, output in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "console":
            for typed in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, _, expected = typed.partition("\n")
                yield Step("type", command, expected)
        elif language in ("python", "toml") and (named := FILE.match(text)):
            yield Step("save", text[named.end() :], "", named[1], named[2] or "")
        elif language == "python":
            yield Step("python", text, output)
        elif language not in ("sh", "yaml"):
            raise ValueError(f"{page}: nothing is done with this block of {language}:\n{text}")


def save(step: Step, folder: Path) -> None:
    """Do what a step of kind save says, in a folder."""
    path = folder / step.file
    old = path.read_text(encoding="utf-8") if step.place else ""
    text = f"{old}\n{step.text}"
    if step.place.startswith("in "):
        before, section, after = old.partition(f"{step.place.removeprefix('in ')}\n")
        text = before + section + step.text + after
        if not section:
            raise ValueError(f"{step.file} has no section {step.place}")
    path.write_text(text, encoding="utf-8")
