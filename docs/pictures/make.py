"""Make the pictures of the README and the tutorial: type the tutorial, and keep what it shows."""

import io
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pages.steps import save, steps
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
COLUMNS, LINES = 108, 28
TERMINALS = {
    "run.svg": "harness run events.toml",
    "explain.svg": "harness explain runs/mine",
}
"""Pictures, and how the commands of the tutorial begin whose output they show."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def on_a_terminal(command: str, folder: Path) -> str:
    """Return what a command writes to a terminal in a folder, with its colours."""
    name, *words = shlex.split(command)
    program = [sys.executable, "-m", "harness"] if name == "harness" else [name]
    parent, child = pty.openpty()
    environment = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    environment |= {"HARNESS_CACHE_DIR": str(folder / "cache")}
    with subprocess.Popen(
        [*program, *words], cwd=folder, env=environment, stdout=child, stderr=subprocess.DEVNULL
    ) as process:
        os.close(child)
        output = b"".join(iter(lambda: _read(parent), b""))
    os.close(parent)
    if process.returncode:
        sys.exit(f"{command} ended with status {process.returncode}")
    return f"$ {command}\n" + output.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # what Linux answers when the last writer has closed a terminal
        return b""


def svg(text: str, name: str) -> str:
    """Return a picture of the first lines of a terminal that loads no font; all are of one size."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    lines = (text.rstrip() + "\n" * LINES).split("\n")[:LINES]
    console.print(Text.from_ansi("\n".join(lines)))
    picture = console.export_svg(title="submission-harness", unique_id=name)
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def photograph(page: Path, out: Path, ratio: float) -> None:
    """Write what a browser shows first of a page, so many times as wide as high."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"no browser ({', '.join(BROWSERS)}); make browser installs one")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": 1090, "height": round(1090 / ratio)})
        view.goto(page.as_uri())
        view.wait_for_selector("#results svg, #results table")
        view.screenshot(path=out)
        chromium.close()


def main() -> None:
    """Type the tutorial in a folder of its own, and write its pictures beside this file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "shop"  # the report names it
        for needed in ("configs", "data"):
            shutil.copytree(ROOT / needed, folder / needed)
        picture = ""
        for step in steps(ROOT / "docs" / "tutorial.md"):
            if step.kind == "save":
                save(step, folder)
                continue
            shown = on_a_terminal(step.text, folder)
            for file, command in TERMINALS.items():
                if step.text.startswith(command):
                    picture = svg(shown, Path(file).stem)
                    (HERE / file).write_text(picture, encoding="utf-8")
        box = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)[0]
        ratio = float(box[0]) / float(box[1])
        photograph(folder / "runs" / "mine" / "report.html", HERE / "report.png", ratio)


if __name__ == "__main__":
    main()
