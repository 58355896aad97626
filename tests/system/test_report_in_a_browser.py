"""The page of a run in a real browser, and a notebook: loads nothing, fits every screen, prints."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import nbformat
import polars as pl
import pytest
import small
from axe_playwright_python.sync_playwright import Axe
from conftest import HOSTILE
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor
from playwright.sync_api import Browser, Page, sync_playwright

from harness.evaluation.run import run
from harness.report.page import page as page_of
from harness.results.plots import labels
from harness.results.run import read

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OFF = ("gpu", "background-networking", "component-update", "sync", "quic")
PAPER = "rgb(255, 255, 255)"
OPTIONS = ["--no-sandbox", "--no-first-run", *(f"--disable-{what}" for what in OFF)]


def executable() -> str:
    """Return where a browser is; without one, skip, or fail where one is required."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is not None:
        return program
    missing = f"no browser ({', '.join(BROWSERS)}) is installed; make browser installs one"
    if os.environ.get("HARNESS_BROWSER") == "required":
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable(), args=OPTIONS)
        yield launched
        launched.close()


Files = dict[str, Path]


@pytest.fixture(scope="module")
def files(demo_run: Path, hostile_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    runs = {"demo": demo_run, "hostile": hostile_run}
    pages = {f"{name}.html": page_of(read(folder)) for name, folder in runs.items()}
    folder = small.write(tmp_path_factory.mktemp("pages"), pages)
    return {name: folder / f"{name}.html" for name in runs}


class Watched:
    """A page, and all that went on while it was open."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_default_timeout(120_000)  # milliseconds: a busy machine is slow
        self.printed: list[str] = []
        self.requested: list[str] = []
        page.on("console", lambda message: self.printed.append(message.text))
        page.on("pageerror", lambda error: self.printed.append(str(error)))
        page.on("request", lambda request: self.requested.append(request.url))
        page.on("dialog", lambda dialog: (self.printed.append("dialog"), dialog.dismiss()))

    def open(self, path: Path) -> None:
        self.page.goto(path.as_uri())

    def names(self) -> list[str]:
        """Return the models of the main table that are shown, in its order."""
        return [
            row.inner_text().splitlines()[0].strip()
            for row in self.page.query_selector_all("#models tbody th")
            if row.is_visible()
        ]

    def rows_of_chart(self, name: str) -> list[str]:
        """Return what a chart has a point for, by its hover texts."""
        titles = self.page.locator(f"#chart-{name} .wide title").all_text_contents()
        return [title.rpartition(": ")[0] for title in titles]

    def count(self, selector: str) -> int:
        return self.page.locator(selector).count()

    def sort_by(self, column: int) -> None:
        self.page.click(f"#models thead th:nth-child({column}) button")


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    yield Watched(context.new_page())
    context.close()


@pytest.fixture
def demo(watched: Watched, files: Files) -> Watched:
    watched.open(files["demo"])
    return watched


@pytest.mark.parametrize("name", ["demo", "hostile"])
def test_it_asks_for_nothing(watched: Watched, files: Files, name: str) -> None:
    watched.open(files[name])
    watched.page.wait_for_load_state("networkidle")
    assert (watched.printed, watched.requested) == ([], [files[name].as_uri()])


def test_the_policy_lets_no_other_script_run(demo: Watched) -> None:
    added = """() => { const script = document.createElement("script");
        script.textContent = "window.ran = true"; document.body.append(script);
        document.body.setAttribute("onclick", "window.ran = true"); document.body.click();
        return window.ran === undefined }"""
    assert demo.page.evaluate(added)
    assert any("Content Security Policy" in text for text in demo.printed)


def test_titles_sort_by_click_and_by_key(demo: Watched) -> None:
    best_first = demo.names()
    assert best_first[0] == "repurchase"
    demo.sort_by(2)
    assert demo.names() == best_first[::-1]
    assert "chance (exact)" in demo.page.inner_text("#models tr:last-child >> nth=-1")
    demo.sort_by(2)
    assert demo.names() == best_first
    demo.sort_by(1)
    assert demo.names() == sorted(best_first)
    demo.page.keyboard.press("Tab")
    demo.page.keyboard.press("Enter")
    assert demo.names() == best_first


def test_figures_sort_as_numbers_and_say_so(demo: Watched) -> None:
    demo.sort_by(4)  # times chance, where 12.9 stands before 5.7
    shown = demo.page.locator("#models tbody td:nth-child(4)").all_inner_texts()
    values = list(map(float, shown))
    assert values == sorted(values, reverse=True)
    sorts = "#models thead th[aria-sort]"
    assert demo.count(sorts) == 1
    assert demo.page.get_attribute(sorts, "aria-sort") == "descending"
    first = demo.names()[0]
    demo.page.evaluate("document.querySelector('#models tbody td').textContent = ''")
    for _ in range(2):  # missing figures stand last in either order
        demo.sort_by(2)
        assert demo.names()[-1] == first


def test_pairs_of_one_model_and_slices_of_another_column(demo: Watched) -> None:
    demo.page.select_option("#pairs-of", label="pairs with random")
    shown = demo.page.locator("#pairs tbody tr:not([hidden])").all_inner_texts()
    assert ["random" in name for name in shown] == [True] * 3
    assert demo.page.is_visible("#chart-slices-0") and not demo.page.is_visible("#chart-slices-1")
    demo.page.select_option("#slices-by", label="truth")
    assert demo.page.is_visible("#chart-slices-1") and not demo.page.is_visible("#chart-slices-0")
    assert demo.count("#slices .part:not([hidden]) table") == 1


def test_hostile_names_are_shown_as_they_are(watched: Watched, files: Files) -> None:
    watched.open(files["hostile"])
    shown = {" ".join(name.split()) for name in watched.names()}
    assert {" ".join(name.split()) for name in labels(HOSTILE, 60).values()} <= shown
    assert "<script>alert(1)</script>" in watched.rows_of_chart("chance")
    assert watched.count("header a, main img, section a") == 0
    assert "dialog" not in watched.printed


@pytest.mark.parametrize("width", [1440, 800, 400])
def test_no_table_and_no_chart_is_cut(watched: Watched, files: Files, width: int) -> None:
    """A table too wide for the screen becomes cards, where each figure has its title above it."""
    watched.page.set_viewport_size({"width": width, "height": 900})
    watched.open(files["hostile"])
    watched.page.click("summary")
    cut = """all => all.filter((one) => one.scrollWidth > one.clientWidth
        || one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML)"""
    assert watched.page.eval_on_selector_all("html, .scroll, .chart svg", cut) == []
    cards = watched.page.locator("#models").evaluate("table => table.matches('.cards')")
    assert cards == (width == 400)
    title = "cell => getComputedStyle(cell, '::before').content"
    first = watched.page.locator("#models tbody td >> nth=0").evaluate(title)
    assert first == ('"MAP@12"' if cards else "none")
    watched.page.set_viewport_size({"width": 1440, "height": 900})
    watched.page.wait_for_function("!document.querySelector('#models').matches('.cards')")


@pytest.mark.parametrize("width", [1440, 400])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["demo", "hostile", "one by one"])
def test_it_is_accessible(
    watched: Watched,
    files: Files,
    one_by_one: Path,
    name: str,
    theme: Literal["light", "dark"],
    width: int,
) -> None:
    """axe-core finds nothing, in the folded part neither, nor among users one by one."""
    watched.page.set_viewport_size({"width": width, "height": 900})
    watched.page.emulate_media(color_scheme=theme)
    watched.open((files | {"one by one": one_by_one})[name])
    watched.page.click("summary")
    faults = [
        (fault["id"], node["html"], node["failureSummary"])
        for fault in Axe().run(watched.page).response["violations"]
        for node in fault["nodes"]
    ]
    assert faults == []


def test_paper_and_dark(demo: Watched) -> None:
    colour = "getComputedStyle(document.querySelector('#chart-chance text')).fill"
    light = demo.page.evaluate(colour)
    demo.page.emulate_media(color_scheme="dark")
    assert demo.page.evaluate(colour) != light
    assert not demo.page.is_visible("#config")  # it is folded on a screen, and open on paper
    assert demo.page.pdf().startswith(b"%PDF-")
    assert demo.page.is_visible("#config")
    demo.page.emulate_media(media="print")
    assert demo.page.evaluate("getComputedStyle(document.body).backgroundColor") == PAPER
    for control in ("nav", ".copy", ".choice"):
        assert not demo.page.is_visible(f"{control} >> nth=0")
    assert demo.page.is_visible("#chart-chance svg >> nth=0")
    demo.page.set_viewport_size({"width": 1032, "height": 700})  # an A4 sheet between its margins
    assert demo.page.evaluate("document.documentElement.scrollWidth") == 1032


@pytest.mark.parametrize("width", [1440, 800, 400])
def test_no_label_of_a_chart_is_cut_or_on_another(
    watched: Watched, files: Files, width: int
) -> None:
    watched.page.set_viewport_size({"width": width, "height": 900})
    watched.open(files["hostile"])
    bad = watched.page.evaluate(
        """() => [...document.querySelectorAll(".chart svg")].filter((svg) => svg.clientWidth)
            .flatMap((svg) => {
                const outer = svg.getBoundingClientRect();
                const texts = [...svg.querySelectorAll("text")];
                const boxes = texts.map((text) => text.getBoundingClientRect());
                return texts.filter((_, i) => boxes[i].left < outer.left - 1
                    || boxes[i].right > outer.right + 1 || boxes[i].top < outer.top - 1
                    || boxes[i].bottom > outer.bottom + 1 || boxes.slice(0, i).some((other) =>
                        Math.min(other.right, boxes[i].right) > Math.max(other.left, boxes[i].left)
                        && Math.min(other.bottom, boxes[i].bottom) - 3
                            > Math.max(other.top, boxes[i].top)));
            }).map((text) => text.textContent)"""
    )
    assert bad == []


def test_the_config_is_copied(demo: Watched, demo_run: Path) -> None:
    demo.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    demo.page.click("summary")
    demo.page.click(".copy")
    demo.page.wait_for_selector("text=Copied")
    copied = demo.page.evaluate("navigator.clipboard.readText()")
    assert copied == (demo_run / "config.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a run whose users, items, titles and event types are hostile."""
    folder = tmp_path_factory.mktemp("one-by-one")
    cid, bad, title, kind, other = HOSTILE
    rows = [
        ("ann", bad, "2020-01-01", kind),
        ("ann", "b", "2020-01-02", "sale"),
        (cid, "b", "2020-01-03", "sale"),
        ("ann", bad, "2020-01-08", "sale"),
        (cid, "b", "2020-01-08", "sale"),
        (other, bad, "2020-01-02", "sale"),
        (other, "b", "2020-01-08", "sale"),
    ]
    log = pl.DataFrame(rows, ["user", "item", "time", "event"], orient="row")
    log.write_csv(folder / "log.csv")
    pl.DataFrame({"item": [bad, "b"], "title": [title, ""]}).write_csv(folder / "items.csv")
    config = small.config_of(
        folder, small.POPULAR, small.RANDOM, data={"items": "items.csv", "kind": "event"}
    )
    run(config).write(folder / "run")
    small.write(folder, {"page.html": page_of(read(folder / "run"), 9)})
    return folder / "page.html"


def test_users_one_by_one_are_text_whatever_they_are_called(
    watched: Watched, one_by_one: Path
) -> None:
    """By native controls: a model, which users, one of them; each name is shown as it is."""
    cid, bad, title, kind, other = HOSTILE
    watched.open(one_by_one)
    page = watched.page
    page.select_option("#user-model", label="popular")
    page.select_option("#user-group", "all")
    users = page.locator("#user-choice option").all_text_contents()
    assert sorted(users) == sorted(["ann", cid, other])
    page.select_option("#user-choice", label="ann")
    history, truth, listed = (
        [row.locator("td").all_text_contents() for row in table.locator("tbody tr").all()]
        for table in page.locator("#user-shown table").all()
    )
    assert history == [["2020-01-02", "b", "", "sale"], ["2020-01-01", bad, title, kind]]
    assert [row[:2] for row in truth] == [[bad, title]]
    assert [row[-1] for row in listed if row[1] == bad] == ["hit"]
    assert [row[0] for row in listed] == [str(n + 1) for n in range(len(listed))]
    assert page.locator("#user-shown tr.hit").count() == 1
    page.focus("#user-search")
    page.keyboard.type("ALERT")
    assert page.locator("#user-choice option").all_text_contents() == [cid]
    assert f"User {cid}: MAP@2 of popular 0.5000" in page.inner_text("#user-summary")
    page.keyboard.type(" nobody")
    assert page.inner_text("#user-summary") == "No such user here."
    assert (
        page.locator("#user-shown").evaluate("it => it.querySelectorAll('script, img, a').length")
        == 0
    )
    assert (watched.printed, watched.requested) == ([], [one_by_one.as_uri()])


# A notebook, executed by Jupyter.


CELLS = ["import harness.results.run\nresult = harness.results.run.read('RUN')", "result"]
CELLS += ["result.comparison", "result.pairs[['one', 'other', 'difference', 'verdict']]"]


@pytest.fixture(scope="module")
def notebook(
    browser: Browser, demo_run: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    """Return the executed notebook as it stands in a window of 1,000 pixels."""
    cells = [nbformat.v4.new_code_cell(code.replace("RUN", str(demo_run))) for code in CELLS]
    executed = nbformat.v4.new_notebook(cells=cells)
    ExecutePreprocessor(timeout=300).preprocess(executed)
    text, _ = HTMLExporter(exclude_input=True).from_notebook_node(executed)
    file = tmp_path_factory.mktemp("notebook") / "notebook.html"
    file.write_text(text, encoding="utf-8")
    shown = browser.new_page(viewport={"width": 1000, "height": 1200})
    shown.route("http*://**", lambda route: route.abort())  # nbconvert's own scripts
    shown.goto(file.as_uri(), wait_until="domcontentloaded")
    yield shown
    shown.close()


def test_a_result_is_its_answer_its_table_and_a_chart(notebook: Page) -> None:
    text = notebook.inner_text("body")
    assert "BEST  repurchase: MAP@12 0.0502" in text
    chart = notebook.get_by_alt_text("Every model's mean, with chance")
    box = chart.bounding_box()
    assert box is not None
    assert box["width"] > 300
    assert notebook.evaluate("image => image.naturalWidth", chart.element_handle()) > 300


def test_a_comparison_fits_and_its_pairs_are_a_frame(notebook: Page) -> None:
    """Four models are six pairs."""
    matrix = notebook.locator("table", has_text="▲").last
    box = matrix.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] < 1000
    assert notebook.locator("table.dataframe tbody tr").count() == 6
    assert notebook.evaluate("document.documentElement.scrollWidth") <= 1000
