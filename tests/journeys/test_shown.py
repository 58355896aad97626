"""Every result in a notebook, in Markdown, LaTeX and pandas; names that do no harm."""

import html
import re
from pathlib import Path

import small

import harness
from harness.core.table import Shown

NAME = "a|b <i>&_%#"


def results(folder: Path) -> dict[str, Shown]:
    models = {"name": NAME, "use": small.POPULAR["use"]}, small.RANDOM
    run = harness.run(small.config(folder, models=models, compare={"resamples": 100}))
    run.write(folder / "run")
    truth, lists = "user,items\nann,a b\nbob,c\n", "user,items\nann,a x\nbob,y c\n"
    small.write(folder, {"truth.csv": truth, "lists.csv": lists})
    submission = {"solution": folder / "truth.csv"}
    return {
        "run": run,
        "score": harness.score(folder / "lists.csv", **submission),
        "validate": harness.validate(folder / "lists.csv", **submission),
        "compare": harness.compare(folder / "run"),
        "leaderboard": harness.leaderboard(folder / "run"),
    }


def test_every_result_in_every_form(tmp_path: Path) -> None:
    for kind, result in results(tmp_path).items():
        page = result._repr_html_()  # what a notebook calls
        tags = re.findall(r"<([^/>\s]+)", page)
        assert set(tags) <= {"pre", "table", "thead", "tbody", "tr", "th", "td", "img"}, kind
        assert tags.count("img") == (kind == "run")  # every model's mean, as a chart
        assert tags.count("table") == len(result.sheets())
        text = html.unescape(re.sub(r"<[^>]*>", "", page))
        cells = [cell for sheet in result.sheets() for row in sheet.rows for cell in row]
        assert [cell for cell in cells if cell not in text] == []
        assert kind in ("score", "validate") or NAME in cells
        assert len(result.to_pandas()) == len(result.records())
        assert result.to_latex().count("\\begin{tabular}") == len(result.sheets())
        assert result.to_markdown().count("| :--") >= len(result.sheets())
        assert repr(result)
