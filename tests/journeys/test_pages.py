"""What the tutorial and the how-to pages say is what happens."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest
from conftest import COMMAND, ROOT, Cli

DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "how-to").glob("*.md"))
CHECKER = doctest.OutputChecker()
FENCE = re.compile(r"^```(\S+)?(?: (\w+))?\n(?::caption: ([^\n]+)\n)?(.*?)^```", re.M | re.S)


def blocks(page: Path, kind: str) -> list[str]:
    """Return a page's blocks of code of one kind."""
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [match[4] for match in found if (match[1] or "") == kind]


def test_the_tutorial(cli: Cli, here: Path, at_once: None) -> None:
    """Each file is written, each command typed, and what it prints compared; … is anything."""
    for name in ("configs", "data"):
        shutil.copytree(ROOT / name, here / name)
    for match in FENCE.finditer((DOCS / "tutorial.md").read_text(encoding="utf-8")):
        kind, _, caption, text = match.groups()
        if caption:
            with Path(caption.partition(",")[0]).open("a", encoding="utf-8") as file:
                file.write(f"\n{text}")
        if kind != "console":
            continue
        for typed in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, _, expected = typed.partition("\n")
            name, *words = shlex.split(command)
            if name == "cp":
                shutil.copy(*words)
                continue
            status, out, err = cli(*words)
            assert status == 0, err
            want = re.sub(r"(^|  )…$", r"\1...", expected, flags=re.M)
            assert not expected.strip() or CHECKER.check_output(want, out, doctest.ELLIPSIS), out


@pytest.mark.parametrize("page", [*PAGES, DOCS / "tutorial.md"], ids=lambda page: page.stem)
def test_commands_have_the_options_that_pages_name(page: Path) -> None:
    lines = "\n".join(blocks(page, "") + blocks(page, "console")).replace("$ ", "").splitlines()
    commands = [line.partition("  #")[0] for line in lines if line.startswith("harness ")]
    for name, *words in (shlex.split(command)[1:] for command in commands):
        options = {flag for param in COMMAND.commands[name].params for flag in param.opts}
        flags = [word.partition("=")[0] for word in words if word.startswith("-")]
        assert [flag for flag in flags if flag not in options] == [], commands


@pytest.mark.parametrize("name", ["own-metric", "own-model", "own-layout", "notebooks"])
def test_python_of_a_page_runs(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are those whose name a block begins with; other blocks are executed in turn."""
    monkeypatch.syspath_prepend(str(here))
    events = {"visitor": [7, 8], "sku": ["a", "b"], "when": [1_577_836_800_000] * 2}
    pl.DataFrame(events).write_csv(_made(here / "tests" / "shop" / "events.csv"))
    space: dict[str, object] = {}
    for text in blocks(DOCS / "how-to" / f"{name}.md", "python"):
        if file := re.match(r"# (\w+\.py)\n", text):
            Path(file[1]).write_text(text, encoding="utf-8")
        else:
            exec(compile(text, name, "exec"), space)  # noqa: S102


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    return path


def test_the_model_of_the_page_lists_the_favourite_colour_first(here: Path, cli: Cli) -> None:
    """Ann had two red items and bob a blue one; a is the most popular, then c, then d."""
    page = DOCS / "how-to" / "own-model.md"
    Path("my_model.py").write_text(blocks(page, "python")[0], encoding="utf-8")
    Path("shop.toml").write_text(blocks(page, "toml")[0], encoding="utf-8")
    rows = ["ann,a", "ann,c", "bob,d", "cem,a", "cem,c", "dan,a"]
    days = [f"{row},2020-01-01" for row in rows] + ["ann,d,2020-01-09", "bob,a,2020-01-09"]
    Path("events.csv").write_text("\n".join(["user,item,time", *days]), encoding="utf-8")
    Path("items.csv").write_text("sku,colour\na,red\nc,red\nd,blue\n", encoding="utf-8")
    assert cli("run", "shop.toml", "--out", "run")[0] == 0
    lists = pl.read_parquet("run/recommendations.parquet").sort("user")
    assert lists["items"].to_list() == [["a", "c", "d"], ["d", "a", "c"]]
