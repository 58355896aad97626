"""The page of a run, read without a browser: what it shows, and what no name can do to it."""

import json
import re
import shutil
from collections import defaultdict
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import HOSTILE, Cli, is_refused, refusal, tells
from small import POPULAR

from harness.cli import report as command
from harness.core.errors import UsageError
from harness.evaluation.run import run
from harness.report.page import page
from harness.results import run as runs
from harness.results import wording
from harness.results.folder import FILES, is_run
from harness.results.plots import label, labels

SECTIONS = "results differences growth users slices coverage leaderboard one-by-one repeat"
VOID = {"meta", "link", "img", "br", "wbr", "input", "hr"}


class Page(HTMLParser):
    """A page taken apart: its elements, its text by section, its rows by table, its scripts.

    `hovers` are the hover texts of each chart, as wide as a page.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.section = ""
        self.texts: dict[str, str] = defaultdict(str)
        self.scripts: list[str] = []
        self.rows: list[list[str]] = []
        self.chart = ""
        self.hovers: dict[str, list[str]] = defaultdict(list)
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self.section = str(dict(attrs)["id"])
        if tag == "div" and dict(attrs).get("class") in ("chart", "narrow"):
            self.chart = str(dict(attrs).get("id", "")).removeprefix("chart-")
        if tag == "title":
            self.hovers[self.chart].append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        data = data.replace("\N{NO-BREAK SPACE}", " ")
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data
            return
        if self.open[-1:] == ["style"]:
            return
        if self.open[-1:] == ["title"]:
            self.hovers[self.chart][-1] += data
            return
        self.texts[self.section] += data
        if {"td", "th"} & set(self.open[-6:]):
            self.rows[-1][-1] += data

    def row(self, name: str) -> list[str]:
        return next(row for row in self.rows if row and row[0].partition(" × ")[0] == name)


@cache
def text_of(folder: Path) -> str:
    return page(runs.read(folder))


@cache
def page_of(folder: Path) -> Page:
    return Page(text_of(folder))


def document(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


@pytest.fixture
def copied(demo_run: Path, tmp_path: Path) -> Path:
    """Return a run folder to be spoiled."""
    return shutil.copytree(demo_run, tmp_path / "copy")


def changed(folder: Path, **parts: Any) -> Page:
    """Return the page of a run whose document has other parts."""
    (folder / "result.json").write_text(json.dumps(document(folder) | parts), encoding="utf-8")
    return Page(page(runs.read(folder)))


def page_of_models(folder: Path, *models: dict[str, Any], **sections: Any) -> Page:
    run(small.config(folder, models=models, **sections)).write(folder / "run")
    return page_of(folder / "run")


# What it shows.


def test_the_heading_and_every_section(demo_run: Path) -> None:
    shown, evaluation = page_of(demo_run), document(demo_run)["evaluation"]
    assert [a["id"] for tag, a in shown.tags if tag == "section"] == SECTIONS.split()
    links = [a["href"] for tag, a in shown.tags if tag == "a"]
    assert links == [f"#{section}" for section in SECTIONS.split()[1:]]
    assert all(len(shown.texts[section].split()) > 20 for section in SECTIONS.split())
    assert not shown.open
    head = " ".join(shown.texts[""].split())
    scores, *facts = wording.facts(runs.read(demo_run).record)
    assert [text for text in (scores, *facts) if text not in head] == []
    assert head.startswith("hm-sample · 7 days from 2020-09-16 best repurchase: MAP@12 0.0502")
    assert f"{evaluation['users']}of 955 in the window" in head
    assert shown.hovers[""][:1] == [f"hm-sample, {evaluation['window']}: best {scores}"]
    how = [(demo_run / "config.toml").read_text(encoding="utf-8").strip()]
    how += [*evaluation["fields"].values(), runs.read(demo_run).environment["polars"]]
    assert [text for text in how if text not in shown.texts["repeat"]] == []


def test_models_and_pairs_stand_in_tables_with_their_figures(demo_run: Path) -> None:
    report, record = page_of(demo_run), document(demo_run)
    for model in record["models"]:
        row, first = report.row(model["name"]), model["metrics"]["MAP@12"]
        low, high = first["ci95"]
        spread = f"{low:.4f} … {high:.4f}"
        if model["repeats"] > 1:
            spread = f"± {first['sd_repeats']:.4f}"
        lift = f"{model['vs_random']['lift']:.1f}"
        assert row[1:2] + row[3:5] == [f"{first['mean']:.4f}", lift, spread]
    verdicts = [report.row(name)[2] for name in ("repurchase", "popular", "random")]
    luck = "no better than chance"
    assert verdicts == ["best", f"behind, {luck}", f"{luck}, z +0.5"]
    chance, pairs = record["chance"]["MAP@12"], record["comparison"]["pairs"]
    assert report.row("chance (exact)")[1] == f"{chance['mean']:.4f}"
    assert f"± {chance['sd']:.4f}" in report.texts[""]
    for pair in pairs:
        row = next(row for row in report.rows if row[:2] == [pair["one"], pair["other"]])
        assert row[4:6] == [pair["verdict"], f"{pair['p_adjusted']:.4f}"]
    text = report.texts["differences"]
    assert "Holm over 6 pairs" in text
    # A public leaderboard of few users is not shown.
    assert "1 % public (9 of 854 users): not shown, too few users (under 30)" in text
    assert "30 % public (256 of 854 users): the public and the private leader differ" in text


def test_charts_draw_the_figures_of_the_run(demo_run: Path) -> None:
    shown, record = page_of(demo_run).hovers, document(demo_run)
    models = record["models"]
    for model, text in zip(models, shown["chance"], strict=True):
        low, high = model["metrics"]["MAP@12"]["ci95"]
        mean = model["metrics"]["MAP@12"]["mean"]
        assert text == f"{model['name']}: {mean:.4f} ({low:.4f} … {high:.4f})"
    best, *rest = [model["name"] for model in models]
    assert [text.partition(":")[0] for text in shown["differences"]] == [
        f"{name} − {best}" for name in rest
    ]
    assert f"{best}, k = 12: {models[0]['curve']['12']:.4f}" in shown["growth"]
    assert len(shown["coverage"]) == 4
    parts = [part for part in record["slices"] if part["by"] == record["slices"][0]["by"]]
    assert len(shown["slices-0"]) == len(parts) * 4


def test_bars_count_every_user(demo_run: Path) -> None:
    scores = pl.read_parquet(demo_run / "per_user.parquet").group_by("model", "user")
    means, shown = scores.agg(zero=pl.col("MAP@12").mean() == 0), page_of(demo_run)
    for model in document(demo_run)["models"]:
        share = means.filter(model=model["name"])["zero"].mean()
        assert (
            f"{model['name']}: {share:.0%} of users at 0".replace("%", " %")
            in shown.hovers["users"]
        )
    assert "over folds" not in shown.texts["users"]


# What is not there.


def test_a_single_model_and_a_metric_of_all_lists(tmp_path: Path) -> None:
    asked = {"evaluation": {"metrics": ["Coverage@2", "MAP@2"]}, "data": {"name": "A shop"}}
    shown = page_of_models(tmp_path, POPULAR, **asked)
    assert "A shop · " in shown.texts[""]
    assert "differences" not in shown.hovers
    assert "the only model" in shown.texts["differences"]
    assert "one value for all lists" in shown.texts["users"]
    assert "is not 0 for users without lists" in shown.texts["leaderboard"]


def test_empty_parts_say_so(copied: Path, no_charts: None) -> None:
    nothing = {"curve": {}, "described": {}, "vs_random": None}
    models = [model | nothing for model in document(copied)["models"]]
    shown = changed(copied, models=models, chance={}, slices=[], shake_up=[], comparison=None)
    for section, words in (
        ("results", "No exact chance value"),
        ("differences", "nothing to compare"),
        ("growth", "no curve"),
        ("slices", "No groups of users"),
        ("coverage", "not measured"),
    ):
        assert words in shown.texts[section]


def test_a_file_that_is_gone_costs_its_part_alone(copied: Path, no_charts: None) -> None:
    gone = {"per_user.parquet": "users", "config.toml": "repeat", "environment.json": "repeat"}
    for name in gone:
        (copied / name).unlink()
    shown = Page(page(runs.read(copied)))
    for name, where in gone.items():
        assert re.search(rf"{name}\s+cannot\s+be\s+read|has no {name}", shown.texts[where])
    assert shown.row("repurchase")[2] == "best"


SPLIT = {"strategy": "time", "valid_days": 1, "folds": 2}
TWO_FOLDS: dict[str, Any] = {"split": SPLIT, "evaluation": {"k": 1, "metrics": ["MAP@1"]}}


def test_folds_have_columns_and_a_table_of_their_own(tmp_path: Path, no_charts: None) -> None:
    """On the 8th both want b: popular puts a first, the last two days b. On the 9th it is a."""
    late = POPULAR | {"name": "late", "params": {"window_days": 2}}
    log = small.TO_TUNE + "dan,a,2020-01-01\neve,a,2020-01-01\n"
    shown = page_of_models(tmp_path, POPULAR, late, log=log, **TWO_FOLDS)
    titles = ["model", "fold 1", "fold 2", "best is better in"]
    first = shown.rows.index(titles) + 1
    rows = {row[0]: row[1:3] for row in shown.rows[first : first + 2]}
    assert rows == {"popular": ["0.0000", "1.0000"], "late": ["1.0000", "0.0000"]}
    assert {row[3] for row in shown.rows[first : first + 2]} == {"", "1 of 2 folds"}
    assert "result.json has the groups of each" in shown.texts["slices"]
    for fold in ("fold 1: 2 users", "fold 2: 2 users", "1 day from 2020-01-08", "2020-01-09"):
        assert fold in shown.texts["results"]


# What no name can do, and what a browser is told to load.


def test_hostile_names_are_text(hostile_run: Path) -> None:
    report, text = page_of(hostile_run), text_of(hostile_run)
    shown = {row[0] for row in report.rows if row}
    assert set(labels(HOSTILE, 60).values()) <= shown
    assert not [tag for tag, _ in report.tags if tag in ("img", "iframe", "object")]
    assert not [a for _, a in report.tags if any(key.startswith("on") for key in a)]
    assert "alert(1)</script>" not in text
    assert len(report.scripts) == 1
    hovers = [text.partition(": coverage")[0] for text in report.hovers["coverage"]]
    assert {label(name, 240) for name in HOSTILE} >= {*hovers} > {"<script>alert(1)</script>"}


def test_nothing_is_loaded_from_anywhere(hostile_run: Path) -> None:
    shown, text = page_of(hostile_run), text_of(hostile_run)
    loading = {"src", "srcset", "action", "data", "poster", "background", "xlink:href"}
    for tag, attrs in shown.tags:
        assert loading.isdisjoint(attrs), tag
        assert (attrs.get("href") or "#").startswith(("#", "data:,"))
    assert not re.search(r"url\((?!#)|@import", text.split("<style>")[1].split("</style>")[0])
    (policy,) = (str(attrs["content"]) for _, attrs in shown.tags if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'")
    assert policy.count("'sha256-") == 1
    assert not re.search(r"script-src[^;]*unsafe|https?:|\*|eval", policy)
    assert len(text.encode()) < 1_000_000


# The command.


def test_the_page_is_written_into_the_run_which_may_still_be_replaced(
    copied: Path, no_charts: None
) -> None:
    command.report(copied)
    assert is_run(copied)
    names = {*FILES, "recommendations.parquet", "report.html"}
    assert {path.name for path in copied.iterdir()} == names
    before = {name: (copied / name).read_bytes() for name in FILES}
    for name in FILES:
        with refusal(UsageError, "is an input of this command"):
            command.report(copied, copied / name)
    assert {name: (copied / name).read_bytes() for name in FILES} == before


def test_the_page_is_written_elsewhere_and_replaces_nothing_else(
    demo_run: Path, tmp_path: Path, cli: Cli, no_charts: None
) -> None:
    out = tmp_path / "a" / "b.html"
    tells(cli("report", str(demo_run), "--out", str(out)), 0, f"written to {out}")
    assert out.read_text(encoding="utf-8") == page(runs.read(demo_run))
    assert not (demo_run / "report.html").exists()
    is_refused(cli("report", str(demo_run), "--out", str(tmp_path / "a")), "is not a regular file")
    (tmp_path / "target").write_text("kept")
    (tmp_path / "link.html").symlink_to(tmp_path / "target")
    (tmp_path / "own.html").write_text("<!DOCTYPE html>\n<html>mine</html>")
    mine = cli("report", str(demo_run), "--out", str(tmp_path / "own.html"))
    is_refused(mine, "own.html: already exists and is not a report; name another --out", "--force")
    tells(cli("report", str(demo_run), "--out", str(out)), 0, f"written to {out}")  # once more
    names = {"link.html": "is not a regular file", "/dev/null": "is not a regular file"}
    names |= {"users.parquet": "a run has a file of this name", "a" * 300: "cannot be written"}
    for name, message in names.items():
        with refusal(UsageError, message):
            command.report(demo_run, tmp_path / name)
    assert (tmp_path / "target").read_text() == "kept"
    assert Path("/dev/null").is_char_device()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "link.html", "own.html", "target"}
