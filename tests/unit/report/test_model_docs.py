"""What is listed of models: classes, parameters, and what cannot be imported."""

import inspect
import sys
from pathlib import Path

import pytest
import small

from harness.report import model_docs

STARS = '''
class Stars:
    """Those of most stars, over
    two lines.

    A second paragraph.

    Parameters
    ----------
    least : int
        Stars that count.
    models : sequence
    """

    def __init__(self, models, least=3): ...
    def recommend(self): ...
'''


def test_a_class_is_told_by_its_docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = "raise ModuleNotFoundError('it needs stars: pip install stars')\n"
    small.write(tmp_path, {"sky/__init__.py": "", "sky/stars.py": STARS, "sky/moons.py": broken})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sky", raising=False)
    moons, stars = model_docs.models("sky")
    assert (moons.use, moons.missing) == ("sky.moons", "it needs stars: pip install stars")
    assert (stars.use, stars.missing) == ("sky.stars:Stars", "")
    assert stars.summary == "Those of most stars, over two lines."
    assert [(p.name, p.default, p.meaning) for p in stars.parameters] == [
        ("least", 3, "Stars that count."),
        ("models", inspect.Parameter.empty, "sequence"),
    ]


def test_the_document_says_what_is_required() -> None:
    baselines = {one["use"]: one for one in model_docs.document()["baselines"]}
    window, *_ = baselines["baselines.popular:Popular"]["parameters"]
    found = (window["name"], window["required"], window["default"])
    assert found == ("window_days", False, None)
