"""The page of commands: what the program's own help shows, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import typer

from harness.cli import app


class Markdown:
    """What the help of a command is written to, in place of columns of text."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write_usage(self, program: str, arguments: str) -> None:
        """Write how the command is called."""
        self.parts.append(f"```\n{program} {arguments}\n```")

    def write_paragraph(self) -> None:
        """Do nothing: all parts are paragraphs."""

    def indentation(self) -> Any:
        """Do nothing: paragraphs are not indented."""
        return nullcontext()

    def write_text(self, text: str) -> None:
        """Write what the command does."""
        self.parts.append(_escaped(text))

    @contextmanager
    def section(self, title: str) -> Iterator[None]:
        """Write the title of a group of options."""
        self.parts.append(f":::{{rubric}} {title}\n:::")
        yield

    def write_dl(self, rows: Sequence[tuple[str, str]], **_: Any) -> None:
        """Write options, each with an anchor."""
        for option, text in rows:
            self.parts.append(
                f":::{{option}} {option}\n:no-contents-entry:\n\n{_escaped(text)}\n:::"
            )


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", text)


def page() -> str:
    """Return a section for each command, with its arguments and options in groups."""
    page = Markdown()
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        page.parts.append(f"## {name}\n\n:::{{program}} harness {name}\n:::")
        command.format_help(typer.Context(command, info_name=f"harness {name}"), page)
    return "\n\n".join(page.parts)
