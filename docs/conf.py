"""How Sphinx makes the site: ``make docs`` writes it to build/site, with warnings as errors."""

import os
import re
import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx

from harness.cli import app

os.environ["HARNESS_ROOT"] = str(Path(__file__).resolve().parent.parent)
"""Where the gallery finds data/."""

project = "submission-harness"
html_title = project
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["pictures", "gallery/*.md"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}
html_show_sourcelink = False
html_copy_source = False
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
}
suppress_warnings = [
    "config.cache",  # the gallery's settings hold functions
    "ref.python",  # words such as frame in types are no classes
]


def _prepared(_app: Sphinx, page: str, source: list[str]) -> None:
    """Put the commands' help into their page; make links that leave docs/ the paths they name."""
    if page == "cli":
        source[0] += _help()
    source[0] = re.sub(
        r"\[([^\]]*)\]\(\.\./([^)]*)\)",
        lambda link: link[1] if link[1].startswith("`") else f"`{link[2]}`",
        source[0],
    )


def _help() -> str:
    """Return what each command prints with --help."""
    plain = os.environ | {"COLUMNS": "96", "NO_COLOR": "1", "TERM": "dumb"}
    pages = []
    for command in app.registered_commands:
        name = command.name or command.callback.__name__.strip("_")
        call = [sys.executable, "-m", "harness", name, "--help"]
        text = subprocess.run(call, env=plain, capture_output=True, text=True, check=True).stdout
        pages.append(f"\n## {name}\n\n```\n{text.strip()}\n```\n")
    return "".join(pages)


def setup(app: Sphinx) -> None:
    """Say what is done to each page before it is read."""
    app.connect("source-read", _prepared)
