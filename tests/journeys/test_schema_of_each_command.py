"""Every command that prints JSON has a schema."""

import re

from typer.main import get_command

from harness.cli import app
from harness.report.documents import DOCUMENTS


def test_every_command_with_a_format_has_one() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    asked = {name for name, one in commands.items() if "format_" in {p.name for p in one.params}}
    titles = [document.title for document in DOCUMENTS.values()]
    printed = [re.match(r"harness (\w+) .*--format json", title) for title in titles]
    assert asked == {match[1] for match in printed if match}
