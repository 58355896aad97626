"""Finished models: asked once while all that their lists follow from is the same, else anew."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from small import POPULAR, RANDOM, timeless

from harness.config import Config
from harness.core import cache
from harness.core.errors import UsageError
from harness.data import bucketing
from harness.experiment import finished, memory, run_folder
from harness.experiment.result import Findings
from harness.experiment.run import run

COUNTED = """
from pathlib import Path
from baselines.popular import Popular
import {helper}

class Counted(Popular):
    def __init__(self, file, half_life_days=None):
        super().__init__(half_life_days=half_life_days)
        self.file = file

    def fit_steps(self, train):
        with open(self.file, "a") as handle:
            handle.write("fit ")
        yield from super().fit_steps(train)

class Late(Counted):
    def fit_steps(self, train):
        import {helper}_late
        yield from super().fit_steps(train)

class Raises(Popular):
    def fit_steps(self, train):
        raise ValueError("no")
"""


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where finished models are kept, of files that were written just now as well."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "cache/models"


def counted(folder: Path, use: str = "Counted", **params: Any) -> dict[str, Any]:
    """Return a model that writes down each time that it learns."""
    helper = f"helper_{abs(hash(folder)):x}x"
    for name in (helper, f"{helper}_late"):
        if not (folder / f"{name}.py").exists():
            small.write(folder, {f"{name}.py": "NUMBER = 1\n"})
    if not (folder / "own.py").exists():
        small.write(folder, {"own.py": COUNTED.replace("{helper}", helper)})
    return {"name": "mine", "use": f"own:{use}", "params": {"file": str(folder / "fits"), **params}}


def config(folder: Path, *models: dict[str, Any], **sections: Any) -> Config:
    own = models or (counted(folder), {**RANDOM, "repeats": 3})
    data = {"cache": True, **sections.pop("data", {})}
    if not (folder / "log.csv").exists():
        small.write(folder, {"log.csv": small.MANY})
    return small.config_of(folder, *own, data=data, **sections)


def fits(folder: Path) -> int:
    """Return how often the model has learnt."""
    return (folder / "fits").read_text().count("fit")


def figures(found: Findings) -> Any:
    """Return all that is recorded but seconds, and who was asked."""
    record = timeless(found.to_dict())
    for part in (record, *record["folds"]):
        for model in part["models"]:
            del model["reused"]
    return record


def reused(found: Findings) -> list[str]:
    return sorted(model.name for model in found.models if model.reused)


def test_a_finished_model_is_not_asked_again(tmp_path: Path) -> None:
    first = run(config(tmp_path))
    assert (reused(first), fits(tmp_path)) == ([], 1)
    second = run(config(tmp_path))
    assert (reused(second), fits(tmp_path)) == (["mine", "random"], 1)
    assert figures(second) == figures(first)
    assert "reused  mine, random × 3, of an earlier run; --fresh" in str(second).replace(
        "random × 3, mine", "mine, random × 3"
    )


def test_fresh_asks_all_anew_and_keeps_them(tmp_path: Path) -> None:
    run(config(tmp_path))
    assert reused(run(config(tmp_path), fresh=True)) == []
    assert reused(run(config(tmp_path))) == ["mine", "random"]
    assert fits(tmp_path) == 2


def test_without_the_cache_nothing_is_kept(tmp_path: Path, kept: Path) -> None:
    for _ in range(2):
        assert reused(run(config(tmp_path, data={"cache": False}))) == []
    assert not kept.exists()


def test_other_parameters_are_another_model(tmp_path: Path) -> None:
    run(config(tmp_path))
    more = counted(tmp_path, half_life_days=2.0), {**RANDOM, "repeats": 3}
    assert reused(run(config(tmp_path, *more))) == ["random"]
    assert reused(run(config(tmp_path, more[0], {**RANDOM, "repeats": 4}))) == ["mine"]


def test_a_table_that_changed_has_other_models(tmp_path: Path) -> None:
    people = {"users": "people.csv"}
    small.write(tmp_path, {"people.csv": "user,town\nuser1,x\n"})
    run(config(tmp_path, data=people))
    assert reused(run(config(tmp_path, data=people))) == ["mine", "random"]
    small.write(tmp_path, {"people.csv": "user,town\nuser1,y\n"})
    assert reused(run(config(tmp_path, data=people))) == []


@pytest.mark.parametrize("file", ["own.py", "helper"])
def test_changed_source_is_asked_anew_and_told(tmp_path: Path, file: str) -> None:
    run(config(tmp_path))
    (path,) = tmp_path.glob(f"{file}*[!e].py" if file == "helper" else file)
    path.write_text(path.read_text() + "# a comment\n")
    found = run(config(tmp_path))
    assert (reused(found), fits(tmp_path)) == (["random"], 2)
    assert f"evaluated anew: mine ({path.name} has changed)" in str(found)


def test_so_is_what_was_imported_late(tmp_path: Path) -> None:
    for _ in range(2):
        found = run(config(tmp_path, counted(tmp_path, "Late"), RANDOM))
    assert reused(found) == ["mine", "random"]
    (late,) = tmp_path.glob("helper*_late.py")
    late.write_text("NUMBER = 2\n")
    assert reused(run(config(tmp_path, counted(tmp_path, "Late"), RANDOM))) == ["random"]


EDITED = """
from pathlib import Path
from baselines.popular import Popular

own = Path(__file__)
if own.with_name("edit").exists():
    own.with_name("edit").unlink()
    own.write_text(own.read_text().replace("half_life_days=None", "half_life_days=1"))

class Edited(Popular):
    def __init__(self, half_life_days=None):
        super().__init__(half_life_days=half_life_days)
"""


def test_a_file_that_is_written_while_it_is_imported_is_not_believed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Python has read the old text, and the file has the new one."""
    small.write(tmp_path, {"edited.py": EDITED, "edit": ""})
    model = {"name": "mine", "use": "edited:Edited"}
    first = run(config(tmp_path, model))
    told = "not kept for later runs, so that the same command evaluates anew: mine (edited.py was "
    assert caplog.messages == [f"{told}written while it was in use)"]
    second = run(config(tmp_path, model))
    assert reused(second) == []
    assert figures(second) != figures(first)
    assert figures(second) == figures(run(config(tmp_path, model), fresh=True))
    assert reused(run(config(tmp_path, model))) == ["mine"]


def test_a_model_follows_from_its_base_models(tmp_path: Path) -> None:
    both = {"name": "both", "use": "baselines.blend:Blend", "of": ["mine", "lists"]}
    lists = {"name": "lists", "lists": "lists.csv"}
    small.write(tmp_path, {"lists.csv": "user,item\nuser1,a\n"})
    run(config(tmp_path, counted(tmp_path), lists, both))
    assert reused(run(config(tmp_path, counted(tmp_path), lists, both))) == ["both", "mine"]
    slower = counted(tmp_path, half_life_days=9.0)
    assert reused(run(config(tmp_path, slower, lists, both))) == []
    small.write(tmp_path, {"lists.csv": "user,item\nuser1,b\n"})
    assert reused(run(config(tmp_path, counted(tmp_path), lists, both))) == ["mine"]


KILLED = """
import sys, time
from pathlib import Path
from harness.experiment.run import run
run(Path(sys.argv[1]))
"""
SLOW = """
import time
from pathlib import Path
from baselines.popular import Popular

class Slow(Popular):
    def fit(self, train):
        Path(__file__).with_name("reached").touch()
        time.sleep(60)
"""


def test_what_was_finished_before_a_run_was_killed_is_kept(tmp_path: Path, kept: Path) -> None:
    small.write(tmp_path, {"log.csv": small.MANY, "slow.py": SLOW})
    models = counted(tmp_path), {"name": "slow", "use": "slow:Slow"}
    text = small.toml(*models, data={"cache": True})
    small.write(tmp_path, {"exam.toml": text})
    arguments = [sys.executable, "-c", KILLED, str(tmp_path / "exam.toml")]
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(arguments, env={**os.environ, "PYTHONPATH": path})
    end = time.monotonic() + 60
    while not ((tmp_path / "reached").exists() and len(list(kept.glob("[!.]*"))) == 1):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    found = run(config(tmp_path, counted(tmp_path), POPULAR))
    assert (reused(found), fits(tmp_path)) == (["mine"], 1), found.changed


def test_a_model_that_failed_is_asked_again(tmp_path: Path) -> None:
    models = counted(tmp_path), {"name": "raises", "use": "own:Raises"}
    for _ in range(2):
        found = run(config(tmp_path, *models))
        assert [one.name for one in found.failed] == ["raises"]
    assert reused(found) == ["mine"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "notes", "seconds"])
def test_a_damaged_finished_model_is_asked_anew(tmp_path: Path, kept: Path, damage: str) -> None:
    whole = figures(run(config(tmp_path, counted(tmp_path))))
    (entry,) = kept.iterdir()
    lists = entry / ("meta.json" if damage in ("notes", "seconds") else "lists-0.npy")
    held = lists.read_bytes()
    if damage == "seconds":
        notes = json.loads(held) | {"seconds": "x"}
        lists.write_text(json.dumps(notes))
    elif damage == "gone":
        lists.unlink()
    else:
        lists.write_bytes(held[:-3] if damage == "cut" else held[:-3] + b"\1\0\0")
    found = run(config(tmp_path, counted(tmp_path)))
    assert (reused(found), fits(tmp_path)) == ([], 2)
    assert anew(found) == "mine (what was kept of it is damaged)"
    assert figures(found) == whole
    assert reused(run(config(tmp_path, counted(tmp_path)))) == ["mine"]


def test_a_full_disk_keeps_nothing_and_costs_nothing(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    settings = config(tmp_path, counted(tmp_path))
    run(settings, fresh=True)
    with monkeypatch.context() as patched:
        patched.setattr(np, "save", full)
        changed = config(tmp_path, counted(tmp_path, half_life_days=3.0))
        assert len(run(changed).models) == 1
    assert len(list(kept.iterdir())) == 1


def test_the_models_that_were_not_used_for_longest_make_room(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(config(tmp_path, counted(tmp_path)))
    (first,) = kept.iterdir()
    size = sum(file.stat().st_size for file in first.iterdir())
    monkeypatch.setattr(finished, "_MOST", size + size // 2)
    run(config(tmp_path, counted(tmp_path, half_life_days=3.0)))
    (left,) = kept.iterdir()
    assert left != first
    assert reused(run(config(tmp_path, counted(tmp_path, half_life_days=3.0)))) == ["mine"]


def test_lists_are_those_of_a_run_in_buckets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = config(tmp_path, *small.MODELS)
    names = sorted(model["name"] for model in small.MODELS)
    whole = run(own, memory="1TB")
    monkeypatch.setattr(bucketing, "bucket_count", lambda events: 3)
    monkeypatch.setattr(memory, "needed", lambda layout: 10**15)
    again = run(own)
    assert reused(again) == names
    assert figures(again) == figures(whole)
    anew = run(own, fresh=True)
    assert reused(anew) == []
    assert figures(run(own)) == figures(anew) == figures(whole)


def test_a_finished_model_needs_no_memory_for_all_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It learns from all events at once, and would be refused where they are in buckets."""
    whole = config(tmp_path, {"name": "als", "use": "baselines.item_knn:ItemKNN"}, POPULAR)
    run(whole, memory="1TB")
    monkeypatch.setattr(memory, "needed", lambda layout: 10**15)
    assert reused(run(whole)) == ["als", "popular"]


@pytest.mark.parametrize("lost", [0, 1])
def test_a_model_that_one_fold_alone_must_learn_is_refused_in_buckets(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    model = {"name": "knn", "use": "baselines.item_knn:ItemKNN"}
    split = {"strategy": "time", "valid_days": 2, "folds": 2}
    run(config(tmp_path, model, split=split))
    shutil.rmtree(sorted(kept.iterdir())[lost])
    monkeypatch.setattr(memory, "needed", lambda layout: 10**15)
    with pytest.raises(UsageError, match="1 model learns from all events at once: knn; allow"):
        run(config(tmp_path, model, split=split))


def test_each_fold_has_its_own(tmp_path: Path) -> None:
    def folds(number: int) -> Config:
        split = {"strategy": "time", "valid_days": 2, "folds": number}
        return config(tmp_path, split=split)

    first = run(folds(2))
    assert fits(tmp_path) == 2
    second = run(folds(2))
    assert (reused(second), fits(tmp_path)) == (["mine", "random"], 2)
    assert figures(second) == figures(first)
    third = run(folds(3))
    assert fits(tmp_path) == 3
    assert [reused(fold) for fold in third.folds] == [[], ["mine", "random"], ["mine", "random"]]
    assert reused(third) == []


def test_some_models_alone(tmp_path: Path) -> None:
    both = {"name": "both", "use": "baselines.blend:Blend", "of": ["mine", "popular"]}
    models = counted(tmp_path), POPULAR, both, RANDOM
    settings = config(tmp_path, *models, compare={"baseline": "random"})
    assert [m.name for m in run(settings, models=["random"]).models] == ["random"]
    found = run(settings, models=["both"])
    assert sorted(m.name for m in found.models) == ["both", "mine", "popular"]
    assert [m["name"] for m in found.config["models"]] == ["mine", "popular", "both"]
    assert reused(run(settings)) == ["both", "mine", "popular", "random"]
    with pytest.raises(UsageError, match=r'no model "randm" in the config; did you mean "random"'):
        run(settings, models=["randm"])


def test_equal_names_in_other_folders_are_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = set()
    for name in "aba":
        small.write(tmp_path / name, {"log.csv": small.MANY})
        monkeypatch.chdir(tmp_path / name)
        entries.add(cache.entry("events", [Path("log.csv")]).path)
    assert len(entries) == 2


# Two runs meet after they have read, and each writes when both have evaluated.
MEETING = """
import sys, time
from pathlib import Path
from harness.cli import main
from harness.experiment import finished, result

FOLDER, WHICH = sys.argv[1:3]

def meet(place):
    Path(FOLDER, f"{place}-{WHICH}").touch()
    end = time.monotonic() + 60
    while len(list(Path(FOLDER).glob(f"{place}-*"))) < 2:
        assert time.monotonic() < end
        time.sleep(0.01)

def before(function, place):
    def met(*given, **named):
        meet(place)
        return function(*given, **named)
    return met

finished._keep = before(finished._keep, "keep")
result.Result.write = before(result.Result.write, "write")
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
    printed = [process.communicate(timeout=120) for process in both]
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
        "print(*(model.name for model in found.models if model.reused))\n"
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


def shop_of(folder: Path, files: dict[str, str]) -> Path:
    """Write a config of the model mine:Mine, its log and these files into a folder of their own."""
    settings = small.toml({"name": "mine", "use": "mine:Mine"}, data={"cache": True})
    small.write(folder / "shop", {"log.csv": small.MANY, "exam.toml": settings, **files})
    return folder / "shop"


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
NAMED = "import importlib; importlib.import_module('helped')"

AFTERWARDS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a file beside the config comes before an installed module": (
        {"../lib/mine.py": MINE.format("")},
        {"mine.py": MINE.format("")},
    ),
    "a package comes before a module of its name": (
        {"mine.py": MINE.format("import helped"), "../lib/helped.py": ""},
        {"../lib/helped/__init__.py": ""},
    ),
    "a module that was missing": (
        {"mine.py": MINE.format("try: import maybe\nexcept ImportError: pass")},
        {"../lib/maybe.py": ""},
    ),
    "a helper outside the config's folder": (
        {"mine.py": MINE.format("import helped"), "../lib/helped.py": ""},
        {"../lib/helped.py": "x = 1\n"},
    ),
    "a module of a package that is imported late": (
        {"mine.py": LATE.format("from pack import maybe"), "../lib/pack/__init__.py": ""},
        {"../lib/pack/maybe.py": "x = 1\n"},
    ),
    "a helper that is named when it is imported": (
        {"mine.py": MINE.format(NAMED), "../lib/helped.py": ""},
        {"../lib/helped.py": "x = 1\n"},
    ),
    "a helper that is named when the model learns": (
        {"mine.py": LATE.format(NAMED), "../lib/helped.py": ""},
        {"../lib/helped.py": "x = 1\n"},
    ),
    "a class of another module": (
        {
            "mine.py": "from outside.own import Mine\n",
            "../lib/outside/__init__.py": "",
            "../lib/outside/own.py": MINE.format("from . import more"),
            "../lib/outside/more.py": "",
        },
        {"../lib/outside/more.py": "x = 1\n"},
    ),
}


@pytest.mark.parametrize("name", AFTERWARDS)
def test_what_is_imported_now_counts(tmp_path: Path, kept: Path, name: str) -> None:
    files, then = AFTERWARDS[name]
    shop, lib = shop_of(tmp_path, files), str(tmp_path / "lib")
    assert in_a_process(shop, lib) == []
    assert in_a_process(shop, lib) == ["mine"]
    small.write(shop, then)
    assert in_a_process(shop, lib) == []


def test_a_module_in_an_archive_counts(tmp_path: Path, kept: Path) -> None:
    shop = shop_of(tmp_path, {"mine.py": MINE.format("import packed")})
    archive = str(shop / "lib.zip")
    for text in ("x = 1\n", "x = 2\n"):
        with zipfile.ZipFile(archive, "w") as lib:
            lib.writestr("packed.py", text)
        assert [in_a_process(shop, archive) for _ in range(2)] == [[], ["mine"]]


def test_files_that_a_class_runs_by_itself_are_not_known(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs = "import importlib.util\nimportlib.util.spec_from_file_location('helped', 'helped.py')"
    small.write(tmp_path, {"mine.py": MINE.format(runs)})
    model = {"name": "mine", "use": "mine:Mine"}
    assert [reused(run(config(tmp_path, model))) for _ in range(2)] == [[], []]
    assert set(caplog.messages) == {
        "not kept for later runs, so that the same command evaluates anew: mine (mine.py runs "
        "files that need not be modules (spec_from_file_location))"
    }


def test_data_that_was_written_just_now_keeps_nothing_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "1000")
    assert reused(run(config(tmp_path))) == []
    (told,) = caplog.messages
    assert told.endswith(
        f"mine, random ({tmp_path}/log.csv was written less than 1000 seconds before)"
    )


def test_data_that_is_gone_keeps_nothing_and_that_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = MINE.format("from pathlib import Path").replace("pass", "")
    own += (
        "\n    def fit_steps(self, train):\n        Path(__file__).with_name('log.csv').unlink()\n"
    )
    own += "        yield from super().fit_steps(train)\n"
    small.write(tmp_path, {"mine.py": own})
    run(config(tmp_path, {"name": "mine", "use": "mine:Mine"}))
    (told,) = caplog.messages
    assert told.endswith(f"mine ({tmp_path}/log.csv cannot be read any more)")


def test_a_link_beside_the_config_is_the_file_that_it_names(tmp_path: Path, kept: Path) -> None:
    shop = shop_of(tmp_path, {"mine.py": MINE.format("import linked")})
    small.write(tmp_path, {"elsewhere.py": ""})
    (shop / "linked.py").symlink_to(tmp_path / "elsewhere.py")
    assert [in_a_process(shop, str(shop)) for _ in range(2)] == [[], ["mine"]]
    small.write(tmp_path, {"elsewhere.py": "x = 1\n"})
    assert in_a_process(shop, str(shop)) == []


def test_a_helper_that_is_in_memory_as_it_was_is_not_believed(tmp_path: Path, kept: Path) -> None:
    """It is edited between two runs of one process: the second runs the old one."""
    shop = shop_of(tmp_path, {"mine.py": MINE.format("import helped"), "helped.py": ""})
    edited = "Path('helped.py').write_text('x = 1')\nfound = harness.run('exam.toml')"
    assert in_a_process(shop, str(shop), edited) == []
    assert in_a_process(shop, str(shop)) == []
    assert in_a_process(shop, str(shop)) == ["mine"]


def anew(found: Findings) -> str:
    """Return what a run says of models that it had to evaluate anew."""
    return str(found).partition("evaluated anew: ")[2].partition("\n")[0]


def test_it_is_said_why_a_model_is_evaluated_anew(tmp_path: Path) -> None:
    """Not of one that no run has finished."""
    run(config(tmp_path))
    assert anew(run(config(tmp_path, counted(tmp_path), POPULAR))) == ""
    other = counted(tmp_path, half_life_days=7.0)
    assert anew(run(config(tmp_path, other))) == "mine (its settings have changed)"
    other_seed = config(tmp_path, other, evaluation={"seed": 7})
    why = "the evaluation, the seed, our code or packages have changed"
    assert anew(run(other_seed)) == f"mine ({why})"
    with (tmp_path / "log.csv").open("a") as log:
        log.write("user1,a,2020-01-02,sale,1,0.1\n")
    assert anew(run(config(tmp_path, other))) == "mine (the data has changed)"


def test_a_place_that_cannot_be_written_is_told(
    tmp_path: Path, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept.parent.mkdir(mode=0o700)
    kept.write_text("a file in its place")
    assert len(run(config(tmp_path)).models) == 2
    assert caplog.messages == [
        "not kept for later runs, so that the same command evaluates anew: mine, random (nothing "
        f"can be written to {kept}; make room there, or set HARNESS_CACHE_DIR to a folder of your "
        "own)"
    ]
