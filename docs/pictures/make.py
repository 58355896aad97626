"""Make the README's pictures from a run of the demo: its table in a terminal, and its report."""

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
COLUMNS = 102
RUN = ["run", "configs/demo.toml"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def on_a_terminal(arguments: list[str], folder: Path) -> str:
    """Return what ``harness`` writes to a terminal in a folder, with its colours."""
    parent, child = pty.openpty()
    environment = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    environment |= {"HARNESS_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-m", "harness", *arguments]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=child, stderr=subprocess.DEVNULL
    ) as process:
        os.close(child)
        output = b"".join(iter(lambda: _read(parent), b""))
    os.close(parent)
    if process.returncode:
        sys.exit(f"{command} ended with status {process.returncode}")
    return output.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # what Linux answers when the last writer has closed a terminal
        return b""


def svg(text: str) -> str:
    """Return a picture of the text of a terminal that loads no font."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(f"$ harness {' '.join(RUN)}\n{text}".rstrip()))
    picture = console.export_svg(title="submission-harness", unique_id="terminal")
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def photograph(page: Path, out: Path) -> None:
    """Write what a browser shows first of a page."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"no browser ({', '.join(BROWSERS)}); make browser installs one")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": 1090, "height": 890})
        view.goto(page.as_uri())
        view.wait_for_selector("#results svg, #results table")
        view.screenshot(path=out)
        chromium.close()


def main() -> None:
    """Write both pictures beside this file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for needed in ("configs", "data"):
            (folder / needed).symlink_to(ROOT / needed)
        table = on_a_terminal(RUN, folder)
        (HERE / "terminal.svg").write_text(svg(table), encoding="utf-8")
        [run] = folder.glob("runs/*")
        on_a_terminal(["report", str(run)], folder)
        photograph(run / "report.html", HERE / "report.png")


if __name__ == "__main__":
    main()
