"""Killed commands: ``make fuzz`` kills as many as FUZZ_KILLS says, and looks at what they leave.

Eight commands that write are killed at random: at any moment of their usual time, or at any step
at which they make, rename or remove a file. What has its final name then is the new output or the
older one, each whole; the same command, run again, gives what it gives undisturbed and leaves
nothing beside it.
"""

import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import small
import tomli_w

KILLS = int(os.environ.get("FUZZ_KILLS", "200"))
ROOT = Path(__file__).parents[3]
SIGNALS = [signal.SIGKILL] * 4 + [signal.SIGTERM, signal.SIGINT]
INTERRUPTED = 130

LINES = {
    "run": "run {}.toml --out work/out/run",
    "buckets": "run {}.toml --memory 1GB --out work/out/run",
    "tune": "tune {}.toml --trials 2 --force --out work/out/tuned.toml",
    "submit": "submit {}.toml --model popular --out work/out/lists.csv.gz",
    "validate": "validate {}.csv.gz --sample sample.csv.gz --fix work/out/fix.csv.gz",
    "score": "score {}.csv.gz --config new.toml --evalai work/out/e.json --codabench work/out/c",
    "report": "report {}-run --out work/out/page.html",
    "synth": "synth hm --users {users} --items 20 --events 900 --gzip --force --out work/out/made",
}
"""What writes; ``{}`` is the older or the newer of two inputs."""

STEPS = """
import atexit, os, sys
from harness.cli import main

last, number = int(sys.argv.pop(1)), int(sys.argv.pop(1))
done = 0

def step(event, given):
    global done
    writes = event == "open" and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes or event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"):
        done += 1
        if done == last:
            os.kill(os.getpid(), number)

sys.addaudithook(step)
atexit.register(lambda: print(f"steps {done}", file=sys.stderr))
main()
"""
"""The command, killed by itself just before a step at which it changes files."""


LARGE = """
import sys
from harness.data import buckets
from harness.evaluation import memory

memory.needed = lambda layout: sys.maxsize
buckets.PART_ROWS, buckets.bucket_count = 200, lambda events: 3
"""
"""What makes the log of `buckets` larger than memory, and its parts small."""

COMMAND = "from harness.cli import main; main()"


def config(seed: int) -> str:
    space = {"window_days": {"low": 1, "high": 60}}
    popular = small.POPULAR | {"params": {"window_days": seed}, "space": space}
    values = {
        "data": {"layout": "hm", "path": "data"},
        "split": {"strategy": "time", "valid_days": 7},
        "evaluation": {"k": 12, "metrics": ["MAP@12"], "seed": seed},
        "compare": {"resamples": 100},
        "models": [small.RANDOM, popular],
    }
    return tomli_w.dumps(values)


@dataclass(frozen=True)
class Usual:
    """A command undisturbed: how long it takes, and what it writes."""

    seconds: float
    steps: int
    contents: dict[str, object]


@dataclass(frozen=True)
class Place:
    """A folder with inputs; commands write to `work` alone, and share a cache."""

    folder: Path

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def out(self) -> Path:
        return self.work / "out"

    def clear(self, older: Path | None = None) -> None:
        """Leave nothing of an earlier command but, perhaps, the older output."""
        shutil.rmtree(self.work, ignore_errors=True)
        for name in ("tmp", "cache"):
            (self.work / name).mkdir(parents=True, mode=0o700)
        if older is None:
            self.out.mkdir()
        else:
            shutil.copytree(older, self.out)

    def start(self, name: str, which: str, steps: Sequence[int] = ()) -> subprocess.Popen[str]:
        line = LINES[name].format(which, users=150 if which == "old" else 200).split()
        code = (LARGE if name == "buckets" else "") + (STEPS if steps else COMMAND)
        places = {
            "HARNESS_CACHE_DIR": str(self.work / "cache"),
            "HARNESS_CACHE_SETTLE": "0",
            "TMPDIR": str(self.work / "tmp"),
            "PYTHONPATH": str(ROOT),
        }
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, steps), *line],
            cwd=self.folder,
            env=os.environ | places,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def finish(self, name: str, which: str, steps: Sequence[int] = ()) -> str:
        with self.start(name, which, steps) as child:
            _, output = child.communicate(timeout=120)
        assert child.returncode == 0, output
        return output


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("kills"))
    place.clear()
    place.finish("synth", "new")
    shutil.copytree(place.out / "made", place.folder / "data")
    shutil.copy(place.folder / "data" / "sample_submission.csv.gz", place.folder / "sample.csv.gz")
    for which, seed in (("old", 5), ("new", 7)):
        (place.folder / f"{which}.toml").write_text(config(seed))
        place.finish("run", which)
        place.out.joinpath("run").rename(place.folder / f"{which}-run")
        place.finish("submit", which)
        packed = (place.out / "lists.csv.gz").read_bytes()
        place.folder.joinpath(f"{which}.csv.gz").write_bytes(packed)
    return place


@pytest.fixture(scope="session")
def usual(place: Place) -> dict[str, Usual]:
    """Return every command undisturbed; what it wrote before, from older input, is kept aside."""
    by_command = {}
    for name in LINES:
        place.clear()
        place.finish(name, "old")  # so that all is imported
        shutil.copytree(place.out, place.folder / f"older-{name}")
        place.clear(place.folder / f"older-{name}")
        began = time.perf_counter()
        output = place.finish(name, "new", [0, 0])
        seconds = time.perf_counter() - began
        by_command[name] = Usual(seconds, int(output.split()[-1]), contents(place.out))
        assert by_command[name].contents != contents(place.folder / f"older-{name}"), name
    return by_command


def contents(folder: Path) -> dict[str, object]:
    """Return what each output holds, read fully: a run's folder is one output, others are files."""
    outputs: dict[str, object] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and path.name != "run":
            outputs |= {f"{path.name}/{name}": held for name, held in contents(path).items()}
        elif path.is_dir():
            outputs[path.name] = {file.name: content(file) for file in path.iterdir()}
        else:
            outputs[path.name] = content(path)
    return outputs


def content(path: Path) -> object:
    """Return a file without the times, and without which models the killed run had finished."""
    held = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(held)
    if path.suffix != ".json":
        return held
    document = json.loads(held)
    for part in (document, *document.get("models", [])):
        for key in ("seconds", "written", "reused"):
            part.pop(key, None)
    return document


HALF = re.compile(r"^\..*\.(part|old)$|^harness-|\.tmp\.")


def halves(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if HALF.search(path.name)]


def kill(place: Place, name: str, usual: Usual, chance: random.Random) -> tuple[int, int, str]:
    """Start a command and kill it; return the signal, the exit status, and what it said."""
    number = chance.choice(SIGNALS)
    steps = () if chance.random() < 0.5 else (chance.randint(1, usual.steps), int(number))
    with place.start(name, "new", steps) as child:
        if not steps:
            time.sleep(chance.uniform(0, usual.seconds))
            child.send_signal(number)
        _, output = child.communicate(timeout=120)
    check_ended(child.pid)
    return number, child.returncode, output


def check_cache(folder: Path) -> None:
    """Every entry is whole, as its own sums say."""
    parts = ("models", "trials")  # each of what they hold is an entry
    entries = [path for part in parts for path in folder.glob(f"{part}/*")]
    for entry in [*folder.iterdir(), *entries]:
        if entry.name in parts or entry.suffix in (".last", ".size"):
            continue
        if entry.suffix == ".making":  # where one is made; it is empty afterwards
            assert list(entry.iterdir()) == []
            continue
        sums = json.loads((entry / "sums.json").read_text())
        assert {path.name for path in entry.iterdir()} == {"sums.json", *sums}
        for name, total in sums.items():
            assert zlib.crc32((entry / name).read_bytes()) == total, f"{entry.name}/{name}"


def check_ended(group: int) -> None:
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError(f"a process of group {group} goes on")


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_command_leaves_whole_outputs(
    number: int, place: Place, usual: dict[str, Usual]
) -> None:
    chance = random.Random(number)  # noqa: S311 - nothing secret
    name = chance.choice(list(LINES))
    older = chance.choice([None, place.folder / f"older-{name}"])
    place.clear(older)
    before = contents(place.out)
    wish, status, printed = kill(place, name, usual[name], chance)
    print(f"{name}, {signal.Signals(wish).name}, over {older}: {status}\n{printed}")
    outputs = contents(place.out)
    for output, held in outputs.items():  # each is one of two
        assert output in usual[name].contents, f"{output} is none of its outputs"
        assert held in (usual[name].contents[output], before.get(output)), f"{output} is not whole"
    lost = before.keys() - outputs.keys()
    assert not lost or any(half.endswith(".old") for half in halves(place.out)), lost
    if wish != signal.SIGKILL:
        assert not re.search(r"Traceback.*\bmain\(\)", printed, re.DOTALL)
        assert status in (0, INTERRUPTED, -wish, -signal.SIGINT)  # before, or after, all of ours
    place.finish(name, "new")
    assert contents(place.out) == usual[name].contents
    assert halves(place.work) == []
    assert list((place.work / "tmp").iterdir()) == []
    check_cache(place.work / "cache")
