"""What the README, the landing page, the tutorial and the how-to pages say is what happens.

`make demo` and `make test` of the README are run by .ci/run on a clone of its own;
tests/system/spark follows the page on Spark.
"""

import re
import shlex
from pathlib import Path

import pytest
from conftest import COMMAND, ROOT, Cli
from reader import follow

NOT_HERE = {"how-to/index.md", "how-to/spark.md"}
HOW_TO = sorted(f"how-to/{path.name}" for path in (ROOT / "docs/how-to").glob("*.md"))
FOLLOWED = ["index.md", "tutorial.md", "comparison.md", "folds.md", *HOW_TO]
FOLLOWED = ["README.md", *(f"docs/{page}" for page in FOLLOWED if page not in NOT_HERE)]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
PAGES += [f"docs/{page}" for page in HOW_TO]


@pytest.mark.parametrize("page", FOLLOWED)
def test_a_page_works_as_written(
    page: str,
    here: Path,
    cli: Cli,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    at_once: None,
) -> None:
    monkeypatch.syspath_prepend(str(here))
    follow(page, here, cli, capfd)


@pytest.mark.parametrize("page", PAGES)
def test_commands_for_other_machines_have_their_options(page: str) -> None:
    """Blocks of sh and yaml, and code within text, are not run, so their options are looked up."""
    text = (ROOT / page).read_text(encoding="utf-8")
    called = rf"harness (?:{'|'.join(COMMAND.commands)}) "
    shown = re.findall(rf"^\s*(?:- run: |entry: .* )?({called}.*)$", text, re.M)
    for command in [*shown, *re.findall(rf"`({called}[^`]*)`", text)]:
        _, name, *words = shlex.split(command, comments=True)
        known = {flag for param in COMMAND.commands[name].params for flag in param.opts}
        flags = [word.partition("=")[0] for word in words if re.match("--?[a-z]", word)]
        assert [flag for flag in flags if flag not in known] == [], command
