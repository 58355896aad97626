"""What a notebook shows of a run, executed by Jupyter and looked at in a browser."""

from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor
from playwright.sync_api import Page, sync_playwright
from test_report_in_a_browser import OPTIONS, executable

CELLS = ["import harness.results.run\nresult = harness.results.run.read('RUN')", "result"]
CELLS += ["result.comparison", "result.pairs[['one', 'other', 'difference', 'verdict']]"]


@pytest.fixture(scope="module")
def page(demo_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Return the executed notebook as it stands in a window of 1,000 pixels."""
    cells = [nbformat.v4.new_code_cell(code.replace("RUN", str(demo_run))) for code in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    ExecutePreprocessor(timeout=300).preprocess(notebook)
    text, _ = HTMLExporter(exclude_input=True).from_notebook_node(notebook)
    file = tmp_path_factory.mktemp("notebook") / "notebook.html"
    file.write_text(text, encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=OPTIONS)
        shown = browser.new_page(viewport={"width": 1000, "height": 1200})
        shown.route("http*://**", lambda route: route.abort())  # nbconvert's own scripts
        shown.goto(file.as_uri(), wait_until="domcontentloaded")
        yield shown
        browser.close()


def test_a_result_is_its_answer_its_table_and_a_chart(page: Page) -> None:
    text = page.inner_text("body")
    assert "BEST  repurchase: MAP@12 0.0502" in text
    chart = page.get_by_alt_text("Every model's mean, with chance")
    box = chart.bounding_box()
    assert box is not None
    assert box["width"] > 300
    assert page.evaluate("image => image.naturalWidth", chart.element_handle()) > 300


def test_a_comparison_fits_and_its_pairs_are_a_frame(page: Page) -> None:
    """Four models are six pairs."""
    matrix = page.locator("table", has_text="▲").last
    box = matrix.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] < 1000
    assert page.locator("table.dataframe tbody tr").count() == 6
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000
