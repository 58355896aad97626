"""The documents of the repository: files, modules and layers that they name are there."""

import json
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_imports import LAYERS, ROOT

import harness

PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/how-to/*.md"), *ROOT.glob("[a-z]*/*.md")})
NOT_OURS = {"config.toml", "module.py", "my_metrics.py", "my_model.py", "path/to/module.py"}
NOT_OURS |= {"setup.py", "shop/shop.toml", "my_layout.py", "events.toml"}
"""What a user or another project writes, or a run leaves."""
FOLDERS = ("harness", "baselines", "benchmarks", "configs", "docs", "peers", "tests")
NAMES = {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}


def named() -> Iterator[tuple[Path, str]]:
    """Yield what stands between backticks in the text of pages, without their blocks of code."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        yield from ((page, words) for words in re.findall(r"`([^`\n]+)`", text))


def test_files_that_are_named_exist() -> None:
    for page, path in named():
        if re.fullmatch(r"[\w./-]+\.(py|pyx|pxd|md|toml)", path) and path not in NOT_OURS:
            beside = (ROOT / path).is_file() or (page.parent / path).is_file()
            assert beside or ("/" not in path and path in NAMES), f"{page}: {path}"


def anchors(page: Path) -> set[str]:
    """Return what links call the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    link = re.compile(r"\]\((?!https:)([^)#\s]*)#?([^)\s]*)")
    for page in PAGES:
        for path, anchor in link.findall(page.read_text(encoding="utf-8")):
            there = page.parent / path if path else page
            assert there.exists(), f"{page}: {path}"
            assert not anchor or anchor in anchors(there), f"{page}: {path}#{anchor}"


def test_the_citation_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, flags=re.M) == [project["version"]]


def test_modules_that_are_named_can_be_imported() -> None:
    for page, name in named():
        old = page.name == "CHANGELOG.md"  # an entry speaks of the names of its time
        if not old and re.fullmatch(r"(harness|baselines)(\.[a-z]\w*){2,}", name):
            pkgutil.resolve_name(name)


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = re.findall(r"^```\n(.*?)^```", ARCHITECTURE, flags=re.M | re.S)
DEPTH = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}


def test_the_layers_are_drawn_as_they_are() -> None:
    drawing = (ROOT / "docs/pictures/architecture.svg").read_text(encoding="utf-8")
    drawn = [f"harness.{name}" for name in re.findall(r'class="name"[^>]*>(\w+)<', drawing)]
    assert {*drawn} == DEPTH.keys() - {"harness.__main__"}
    assert drawn == sorted(drawn, key=DEPTH.__getitem__)


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_has_its_files_and_goes_down(walk: str) -> None:
    """Each file is there, in the layer of the file that calls it or below."""
    total = re.findall(r": (\d+) files\n\n```\n" + re.escape(walk), ARCHITECTURE)
    callers: list[tuple[int, int]] = []
    for line in walk.splitlines():
        number, path = re.findall(r"(\d+)\s+(\S+/\S*)", line)[0]
        assert list((ROOT / "harness").glob(f"{path.rstrip('/')}*")), path
        floor, indent = DEPTH[f"harness.{path.split('/')[0]}"], line.index(path)
        callers = [(deep, above) for deep, above in callers if deep < indent]
        assert all(above <= floor for _, above in callers), line
        callers.append((indent, floor))
    assert total == [number]


def test_the_api_page_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^\.\. auto\w+:: harness\.(\w+)(?:\(\))?$", page, flags=re.M)
    assert sorted(named) == harness.__all__


def test_every_variable_of_the_environment_is_documented() -> None:
    files = [ROOT / "setup.py", *(ROOT / "harness").rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    read = set(re.findall(r"environ(?:\.get\(|\[)\"((?:HARNESS|XDG)_\w+)\"", code))
    page = (ROOT / "docs" / "runs.md").read_text(encoding="utf-8")
    assert read == set(re.findall(r"^\| `((?:HARNESS|XDG)_\w+)` \|", page, flags=re.M)) != set()


def test_the_settings_that_the_security_notes_name_exist() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    files = [*(ROOT / "harness").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    settings = set(re.findall(r"\b(?:HARNESS|XDG|FUZZ)_[A-Z_]+", text))
    assert len(settings) == 5
    assert [name for name in settings if name not in code] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    goals = set(re.findall(r"`make (\w+)`", text))
    assert [goal for goal in goals if f"\n{goal}:" not in makefile] == []


def test_seeded_faults_stand_in_the_code() -> None:
    for fault in json.loads((ROOT / ".ci" / "mutants.json").read_text(encoding="utf-8")):
        lines = (ROOT / fault["file"]).read_text(encoding="utf-8").splitlines()
        assert fault["before"] in map(str.strip, lines), fault
