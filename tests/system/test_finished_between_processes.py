"""Finished models between processes: killed, at once, and with other files from run to run."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import small
from small import POPULAR

from harness.experiment import run_folder
from harness.experiment.run import run
from harness.tuning.tuning import tune


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where finished models are kept, of files that were written just now as well."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    return tmp_path / "cache/models"


SLOW = """
import time
from pathlib import Path
from baselines.popular import Popular

class Slow(Popular):
    def fit(self, train):
        Path(__file__).with_name("reached").touch()
        time.sleep(600)
"""


def test_what_was_finished_before_a_run_was_killed_is_kept(tmp_path: Path, kept: Path) -> None:
    models = POPULAR, {"name": "slow", "use": "slow:Slow"}
    text = small.toml(*models, data={"cache": True})
    small.write(tmp_path, {"log.csv": small.MANY, "slow.py": SLOW, "exam.toml": text})
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "run", str(tmp_path / "exam.toml")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 300
    while not ((tmp_path / "reached").exists() and len(list(kept.glob("[!.]*"))) == 1):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    found = run(small.config_of(tmp_path, POPULAR, small.RANDOM, data={"cache": True}))
    assert [model.name for model in found.models if model.reused] == ["popular"], found.changed


# Two runs meet after they have read, and each writes when both have evaluated.
MEETING = """
import sys, time
from pathlib import Path
from harness.cli import main
from harness.experiment.finished import Finished
from harness.experiment.result import Result

FOLDER, WHICH = sys.argv[1:3]

def meet(place):
    Path(FOLDER, f"{place}-{WHICH}").touch()
    end = time.monotonic() + 300
    while len(list(Path(FOLDER).glob(f"{place}-*"))) < 2:
        assert time.monotonic() < end
        time.sleep(0.01)

def before(function, place):
    def met(*given, **named):
        meet(place)
        return function(*given, **named)
    return met

Finished.keep = before(Finished.keep, "keep")
Result.write = before(Result.write, "write")
sys.argv = ["harness", "run", *sys.argv[3:]]
main()
"""


@pytest.mark.parametrize("out", [[], ["--out", "mine"]])
def test_two_processes_on_one_run(tmp_path: Path, kept: Path, out: list[str]) -> None:
    small.write(tmp_path, {"log.csv": small.MANY})
    small.write(tmp_path, {"exam.toml": small.toml(POPULAR, data={"cache": True})})
    (tmp_path / "met").mkdir()
    arguments = [sys.executable, "-c", MEETING, str(tmp_path / "met")]
    both = [
        subprocess.Popen(
            [*arguments, which, str(tmp_path / "exam.toml"), *out],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for which in "ab"
    ]
    printed = [process.communicate(timeout=600) for process in both]
    ended = [(process.returncode, told[1]) for process, told in zip(both, printed, strict=True)]
    assert ended == [(0, ""), (0, "")]
    runs = [tmp_path / "mine"] if out else sorted((tmp_path / "runs").iterdir())
    found = [run_folder.read(folder).record.models[0].metrics for folder in runs]
    # Neither takes the other's folder from it, unless both were told to write there.
    assert len(runs) == (1 if out else 2)
    assert all(metrics == found[0] for metrics in found)
    assert not [path for path in tmp_path.rglob("*") if "part" in path.name]
    (model,) = run(small.config_of(tmp_path, POPULAR, data={"cache": True})).models
    assert model.reused


MINE = "from baselines.popular import Popular\n{}\nclass Mine(Popular): pass\n"


def in_a_process(folder: Path, path: str, script: str = "", name: str = "exam.toml") -> list[str]:
    """Return the models that a run in a process of its own takes from earlier ones."""
    code = (
        "import sys; from pathlib import Path\n"
        "import harness\n"
        f"found = harness.run({name!r})\n{script}\n"
        "print(*sorted(model.name for model in found.models if model.reused))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([path, *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def shop_of(folder: Path, files: dict[str, str], *names: str) -> Path:
    """Write a config of models name:Mine, its log and these files into a folder of their own."""
    models = ({"name": name, "use": f"{name}:Mine"} for name in names)
    settings = small.toml(*models, data={"cache": True})
    return small.write(folder / "shop", {"log.csv": small.MANY, "exam.toml": settings, **files})


LATE = """
from baselines.popular import Popular
class Mine(Popular):
    def fit_steps(self, train):
        try:
            {}
        except ImportError:
            pass
        yield from super().fit_steps(train)
"""
NAMED = "import importlib; importlib.import_module('named_{}')"

AFTERWARDS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "beside": (  # a file beside the config comes before an installed module
        {"../lib/beside.py": MINE.format("")},
        {"beside.py": MINE.format("")},
    ),
    "package": (  # a package comes before a module of its name
        {"package.py": MINE.format("import shelf"), "../lib/shelf.py": ""},
        {"../lib/shelf/__init__.py": ""},
    ),
    "missing": (  # a module that was missing
        {"missing.py": MINE.format("try: import maybe\nexcept ImportError: pass")},
        {"../lib/maybe.py": ""},
    ),
    "outside": (  # a helper outside the config's folder
        {"outside.py": MINE.format("import helped"), "../lib/helped.py": ""},
        {"../lib/helped.py": "x = 1\n"},
    ),
    "late": (  # a module of a package that is imported late
        {"late.py": LATE.format("from pack import perhaps"), "../lib/pack/__init__.py": ""},
        {"../lib/pack/perhaps.py": "x = 1\n"},
    ),
    "named": (  # a helper that is named when it is imported
        {"named.py": MINE.format(NAMED.format("first")), "../lib/named_first.py": ""},
        {"../lib/named_first.py": "x = 1\n"},
    ),
    "named_late": (  # a helper that is named when the model learns
        {"named_late.py": LATE.format(NAMED.format("later")), "../lib/named_later.py": ""},
        {"../lib/named_later.py": "x = 1\n"},
    ),
    "from_other": (  # a class of another module
        {
            "from_other.py": "from other.own import Mine\n",
            "../lib/other/__init__.py": "",
            "../lib/other/own.py": MINE.format("from . import more"),
            "../lib/other/more.py": "",
        },
        {"../lib/other/more.py": "x = 1\n"},
    ),
    "linked": (  # a link beside the config is the file that it names
        {"linked.py": MINE.format("import link"), "../elsewhere.py": ""},
        {"../elsewhere.py": "x = 1\n"},
    ),
    "in_archive": (  # a module in an archive
        {"in_archive.py": MINE.format("import packed")},
        {},
    ),
}


def test_what_is_imported_now_counts(tmp_path: Path, kept: Path) -> None:
    """Each model's files change in another way; one that is not changed is taken all along."""
    files = {name: text for first, _ in AFTERWARDS.values() for name, text in first.items()}
    shop = shop_of(tmp_path, files | {"same.py": MINE.format("")}, "same", *AFTERWARDS)
    (shop / "link.py").symlink_to(tmp_path / "elsewhere.py")
    archive = tmp_path / "packed.zip"
    path = os.pathsep.join(map(str, [tmp_path / "lib", archive, shop]))
    for text in ("x = 1\n", "x = 2\n"):
        with zipfile.ZipFile(archive, "w") as lib:
            lib.writestr("packed.py", text)
        if text == "x = 2\n":
            for _, then in AFTERWARDS.values():
                small.write(shop, then)
            assert in_a_process(shop, path) == ["same"]
        else:
            assert in_a_process(shop, path) == []
        assert in_a_process(shop, path) == sorted(["same", *AFTERWARDS])


def test_a_helper_that_is_in_memory_as_it_was_is_not_believed(tmp_path: Path, kept: Path) -> None:
    """It is edited between two runs of one process: the second runs the old one."""
    shop = shop_of(tmp_path, {"mine.py": MINE.format("import helped"), "helped.py": ""}, "mine")
    edited = "Path('helped.py').write_text('x = 1')\nfound = harness.run('exam.toml')"
    assert in_a_process(shop, str(shop), edited) == []
    assert in_a_process(shop, str(shop)) == []
    assert in_a_process(shop, str(shop)) == ["mine"]


def test_two_searches_at_once_find_the_same_and_share_what_they_found(
    tmp_path: Path,
) -> None:
    model = small.POPULAR | {"space": {"window_days": {"low": 1.5, "high": 9.5}}}
    sections = {"data": {"cache": True}, "tune": {"trials": 8}}
    text = small.toml(model, **sections)
    small.write(tmp_path, {"log.csv": small.TO_TUNE, "exam.toml": text})
    command = [sys.executable, "-m", "harness", "tune", str(tmp_path / "exam.toml")]
    both = [
        subprocess.Popen(
            [*command, "--out", out, "--format", "json"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for out in ("one.toml", "other.toml")
    ]
    told = [process.communicate(timeout=600)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    (last,) = tune(tmp_path / "exam.toml").to_dict()["models"]
    assert [result["reused"] for result in last["results"]] == [True] * 9
    for out in told:
        (model,) = json.loads(out)["models"]
        assert [r["mean"] for r in model["results"]] == [r["mean"] for r in last["results"]]
