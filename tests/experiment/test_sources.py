"""What is known of the source of classes."""

import os
from pathlib import Path

import pytest
import small

from harness.core import plugins
from harness.experiment.sources import sources_of


def test_a_package_that_is_written_between_two_imports_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was imported with its first module; the second one was imported after the edit."""
    own = "class Model:\n    pass\n"
    small.write(tmp_path, {"shelf/__init__.py": "", "shelf/one.py": own, "shelf/two.py": own})
    monkeypatch.syspath_prepend(tmp_path)
    uses = ["shelf.one:Model", "shelf.two:Model"]
    config = small.config(tmp_path, small.POPULAR)
    plugins.load("model", uses[0], tmp_path, "class")
    assert sources_of({"mine": uses[:1]}, config)["mine"].known() is not None
    (tmp_path / "shelf/__init__.py").write_text("# edited\n")
    os.utime(tmp_path / "shelf/__init__.py")
    plugins.load("model", uses[1], tmp_path, "class")
    monkeypatch.setattr("harness.experiment.sources._when_met", lambda name, file: _now(file))
    assert sources_of({"mine": uses}, config)["mine"].known() is None


def _now(file: str) -> str:
    """Return the digest of a file, as if its module were looked at for the first time."""
    from harness.experiment.sources import digests

    return digests([Path(file)])[file]
