"""The help of a command: its options by group, each beside what it does, as wide as a terminal."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

from harness.cli.forms import name_of

GROUPS = {
    "Config and truth": "solution config set sample items",
    "Models": "model repeat fold fresh fail-fast jobs",
    "Memory and Spark": "memory engine master remote buckets tables",
    "How files are read": "separator encoding header user-column item-column time-column "
    "time-format rank-column score-column row-order truth-user-column truth-item-column "
    "grade-column keep-users-without-items ids",
    "Output": "out fix recommendations codabench evalai force strict debug quiet verbose format "
    "help",
}
"""The options of each group, whatever command they belong to."""
_GROUP_OF = {f"--{name}": title for title, names in GROUPS.items() for name in names.split()}
_TYPE = re.compile("<([^<>]*)>")
_VALUES = {"path": "PATH", "int": "N", "int range": "N", "str": "TEXT", "list[str]": "TEXT"}
_VALUES |= {"float": "X", "list[float]": "X", "list[Path]": ""}
"""What the value of an option is called, by its type; choices are named as they are."""
_LEFT = 28
"""Columns of an option and its value; a longer one has a line of its own."""


class Commands(TyperGroup):
    """All commands; its help shows the first sentence of each, whole."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, each beside what it does."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(999)) for name, command in self.commands.items()]
            )


class Command(TyperCommand):
    """A command whose help is plain text in two columns, with a title above each group."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what stands behind the command's name in its usage."""
        arguments = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        names = (name_of(p) if p.required else f"[{name_of(p)}]" for p in arguments)
        return ["[OPTIONS]", *names]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the command's own options, and the groups that it shares."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        groups |= {title: [] for title in GROUPS}
        has_config = any("--config" in param.opts for param in self.get_params(ctx))
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            title = _GROUP_OF.get(max(param.opts, key=len), "Options")
            if title == "Config and truth" and not has_config:  # --items of synth is a number
                title = "Options"
            if record is not None and param.param_type_name == "argument":
                groups["Arguments"].append((name_of(param), record[1]))
            elif record is not None:
                option, text = record
                option = _TYPE.sub(lambda kind: _VALUES.get(kind[1], kind[1]), option).strip()
                groups[title].append((option, text))
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records, col_max=_LEFT)
