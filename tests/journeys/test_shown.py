"""Every result in a notebook, in Markdown, LaTeX and pandas; names that do no harm."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import small

import harness
from harness.core import table
from harness.core.table import Sheet, Shown

NAME = "a|b <i>&_%#"
TRUTH = "user,items\nann,a b\nbob,c\n"
LISTS = "user,items\nann,a x\nbob,y c\n"
LOG = "user,item,time\nann,a,2020-01-01\nbob,b,2020-01-01\nann,b,2020-01-08\nbob,a,2020-01-08\n"
CONFIG = small.toml(
    {"name": NAME, "use": "baselines.popular:Popular"},
    {"name": "again", "use": "baselines.repurchase:Repurchase"},
    evaluation={"k": 12},
)


class Tags(HTMLParser):
    """The tags of a page and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.said += data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small.write(tmp_path, {"truth.csv": TRUTH, "lists.csv": LISTS})
    small.write(tmp_path, {"log.csv": LOG, "shop.toml": CONFIG})
    return tmp_path


def shown(folder: Path, kind: str) -> Shown:
    match kind:
        case "run":
            return harness.run(folder / "shop.toml")
        case "score":
            return harness.score(folder / "lists.csv", solution=folder / "truth.csv")
        case "validate":
            return harness.validate(folder / "lists.csv", solution=folder / "truth.csv")
        case _:
            harness.run(folder / "shop.toml").write(folder / "run")
            compared = {"compare": harness.compare, "leaderboard": harness.leaderboard}
            return compared[kind](folder / "run")


@pytest.mark.parametrize("kind", ["run", "score", "validate", "compare", "leaderboard"])
def test_every_result_in_every_form(folder: Path, kind: str) -> None:
    result = shown(folder, kind)
    page = Tags(result._repr_html_())
    assert set(page.tags) <= {"pre", "table", "thead", "tbody", "tr", "th", "td"}
    assert page.tags.count("table") == len(result.sheets())
    for one in result.sheets():
        for cell in (cell for row in one.rows for cell in row):
            assert cell in page.said
    assert isinstance(result.to_pandas(), pd.DataFrame)
    assert len(result.to_pandas()) == len(result.records())
    assert result.to_latex().count("\\begin{tabular}") == len(result.sheets())
    assert all(line for line in result.to_markdown().splitlines() if line.startswith("|"))
    assert repr(result)


def test_names_do_no_harm() -> None:
    one = Sheet(["model", "mean"], [[NAME, "0.5"]], heading=["lists  <b>"], footing=["100 %"])
    html = table.html(one)
    assert "a|b &lt;i&gt;&amp;_%#" in html
    assert "&lt;b&gt;" in html
    latex = table.latex(one).splitlines()
    assert latex[:2] == ["% lists  <b>", "% 100 %"]
    assert "a\\textbar{}b \\textless{}i\\textgreater{}\\&\\_\\%\\# & 0.5 \\\\" in latex
    assert "\\begin{tabular}{lr}" in latex
