"""How Sphinx makes the site: ``make docs`` writes it to build/site, with warnings as errors."""

import os
import re
import tomllib
from pathlib import Path

import typer.cli
from sphinx.application import Sphinx

from harness.cli import app as harness

DOCS = Path(__file__).resolve().parent
PROJECT = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
os.environ["HARNESS_ROOT"] = str(DOCS.parent)
"""Where the gallery finds data/."""

project = PROJECT["name"]
html_title = project
highlight_language = "text"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["pictures", "gallery", "static"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_selector = "div:not(.sphx-glr-script-out) > div.highlight pre"
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_sidebars = {"tutorial": [], "index": []}  # no other pages belong to them
html_static_path = ["static"]
html_css_files = ["site.css"]
html_use_index = False
html_domain_indices = False
html_show_sourcelink = False
html_copy_source = False
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "copyfile_regex": r"index\.rst",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
}
suppress_warnings = [
    "config.cache",  # the gallery's settings hold functions
    "ref.python",  # words such as frame in types are no classes
]


def _prepared(_app: Sphinx, page: str, source: list[str]) -> None:
    """Put the commands into their page; a link that leaves docs/ becomes the path it names."""

    def outside(link: re.Match[str]) -> str:
        path = Path(os.path.normpath((DOCS / page).parent / link[2]))
        within = path.is_relative_to(DOCS)
        return link[0] if within else f"`{path.relative_to(DOCS.parent).as_posix()}`"

    if page == "cli":
        source[0] += _commands()
    source[0] = re.sub(r"\[([^\]]*)\]\((\.\./[^)#]*)[^)]*\)", outside, source[0])


def _commands() -> str:
    """Return every command with its options, as Typer writes them."""
    group = typer.main.get_command(harness)
    text = typer.cli.get_docs_for_click(obj=group, ctx=typer.Context(group), name="harness")
    return re.sub(r"^## `harness (.*)`$", r"## \1", text[text.index("## ") :], flags=re.M)


def setup(app: Sphinx) -> None:
    """Say what is done to each page before it is read."""
    app.connect("source-read", _prepared)
