"""Every option of every command: one line that shows what it changes, or that it is refused.

A new option needs its example here, and a form in `harness.cli.forms` where it does not go with all
forms of its command; those of runs and of submissions are in the options of `harness.comparison`.
"""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import small
from conftest import COMMAND, Cli, is_refused
from small import LOG, POPULAR, RANDOM

from harness import config as config_
from harness.cli.forms import CONFIG, FILE, FORMS, LOCAL, RUN, SPARK, name_of
from harness.comparison.options import FolderOptions, PairOptions, RankOptions, RunOptions
from harness.evaluation.run import run
from harness.scoring.options import flag_of

COMMANDS = COMMAND.commands  # type: ignore[attr-defined]
FAILING = {"name": "fails", "use": "fails:Raises"}
WINDOWS = {"space": {"window_days": [1, 2]}}
FOLDS = {"strategy": "time", "valid_days": 1, "folds": 2}
LONG = """user,item,rank
ann,b,2
ann,a,1
bob,d,1
bob,b,2
cid,c,1
cid,a,2
"""
FILES = {
    "log.csv": LOG,
    "days.csv": small.TO_TUNE,
    "no-header.csv": small.TO_TUNE.partition("\n")[2],
    "twice.csv": small.TO_TUNE.replace("\n", ",x,y,2020-01-01\n").replace(
        "e,x,y,2020-01-01", "e,who,what,when"
    ),
    "fails.py": small.FAILS,
    "two.toml": small.toml(POPULAR, RANDOM | {"repeats": 2}),
    "kept.toml": small.toml(POPULAR, data={"cache": True}),
    "fails.toml": small.toml(POPULAR, FAILING),
    "folds.toml": small.toml(split=FOLDS),
    "tuned.toml": small.toml(
        POPULAR | WINDOWS, POPULAR | WINDOWS | {"name": "other"}, data={"events": "days.csv"}
    ),
    "again.toml": small.toml(POPULAR | WINDOWS, data={"events": "days.csv", "cache": True}),
    "lists.csv": "user,items\nann,b a e\nbob,d b\ncid,a b\n",
    "other.csv": "user,items\nann,a b\nbob,b b\ncid,c b\n",
    "wrong.csv": "user,items\nann,a b\nann,b\nbob,d\ncid,a\n",
    "nan.csv": "user,items\nann,a b\nbob,nan\ncid,a\n",
    "long.csv": LONG,
    "long-2.csv": LONG.replace("ann,b", "ann,c"),
    "truth.csv": "user,items\nann,b\nbob,d\ncid,a\nzoe,\n",
    "graded.csv": "user,item,rating\nann,a,0\nann,b,2\nbob,d,1\ncid,a,1\n",
    "wider.csv": "user,item,who,what\nann,b,bob,a1 b2\nbob,d,cid,c3\ncid,a,bob,b2\n",
    "spaced.csv": "user,items\nann\u200b,b a\nbob,d\ncid,a\n",
    "others.csv": "user,items\nyan,b\nzoe,a\n",
    "commas.csv": 'user,items\nann,"b,a"\nbob,"d,b"\n',
    "items.csv": "item\na\nb\nc\nd\n",
    "thesis/chapter.doc": "",
    "real/transactions_train.csv": "mine",
    "page.html": "mine",
    "done.toml": "",
}

BY = "--solution truth.csv"
READS = {
    BY: "--user-column item | --item-column rank | --rank-column item | --score-column rank | "
    "--row-order",
    "--solution wider.csv": "--truth-user-column who | --truth-item-column what",
    "--solution graded.csv": "--grade-column rating",
}
"""Of every command that reads lists and a solution."""
KNOWN = "--sample others.csv | --items items.csv | --k 1 | --separator ,"
SCORED = f"{KNOWN} | --keep-users-without-items"
AGAINST = "--solution truth.csv | --config two.toml"
DRAWS = "--correction bh | --resamples 200 | --seed 7"
RANKED = {
    "lists.csv other.csv": AGAINST,
    f"lists.csv other.csv {BY}": f"{SCORED} | --strict",
    f"lists.csv other.csv wrong.csv {BY}": "--force",
    f"spaced.csv other.csv {BY}": "--ids exact",
    "lists.csv other.csv --config two.toml": "--set evaluation.k=1",
}
"""Of both commands that read several files of lists."""
EXAMPLES = {
    # A line, and what it is compared with: the same with each of these options.
    "synth hm --out new --users 20 --items 10 --events 90": "--out newer | --users 21 | "
    "--items 11 | --events 91 | --seed 1 | --gzip | --quiet",
    "synth hm --out real --users 20 --items 10 --events 90": "--force",
    "init days.csv": "--out new.toml | --quiet",
    "init days.csv --out done.toml": "--force",
    "init twice.csv": "--user-column who | --item-column what | --time-column when | "
    "--time-format epoch_s | --separator ; | --encoding latin-1",
    "init no-header.csv": "--header user,item,time",
    "run": "--config two.toml",
    "run two.toml": "--out new | --set evaluation.k=1 | --memory 1KB | --master local[2] | "
    "--remote sc://host | --buckets 2 | --tables hdfs://run | --model popular | --jobs 0 | "
    "--no-recommendations | --quiet | --verbose | --format csv",
    "run folds.toml": "--engine spark",
    "run fails.toml": "--fail-fast | --debug",
    "run kept.toml": "--fresh",
    "tune": "--config tuned.toml --trials 1",
    "tune tuned.toml --trials 1": "--model other | --trials 2 | --search grid | "
    "--set evaluation.k=1 | --out new.toml | --jobs 0 | --quiet | --verbose | --format csv",
    "tune tuned.toml --trials 1 --out done.toml": "--force",
    "tune again.toml --trials 1 --out new.toml": "--fresh",
    "compare one": f"--model popular | --baseline random | --metric Recall@2 | {DRAWS} | "
    "--public-share 0.5 | --slices activity | --verbose | --format csv",
    f"compare lists.csv other.csv wrong.csv {BY} --force": "--pairs",
    "compare one --baseline popular": "--all-pairs",
    "check one": "--at-least 'MAP@2 of popular >= 0'",
    "check one --at-least 'MAP@2 of popular >= 0'": "--format csv",
    "leaderboard .": "--metric Recall@2 | --sort model | --model popular | "
    "--evaluation-set none | --format csv",
    f"leaderboard other.csv lists.csv {BY}": DRAWS,
    **{f"{name} {line}": RANKED[line] for name in ("compare", "leaderboard") for line in RANKED},
    "score lists.csv": AGAINST,
    f"score lists.csv {BY}": f"{SCORED} | --metric MAP@1 | --conventions | --codabench new | "
    "--evalai new.json | --verbose | --format csv",
    f"score other.csv {BY}": "--strict",
    f"score wrong.csv {BY}": "--force",
    f"score spaced.csv {BY}": "--ids exact",
    "score wrong.csv folds.toml": "--set evaluation.k=1 | --quiet",
    "explain lists.csv --user ann": AGAINST,
    f"explain lists.csv {BY}": "--user ann | --worst 1 | --best 1",
    f"explain lists.csv --user ann {BY}": "--metric MAP@1 | --k 1 | --separator , | --all | "
    "--verbose | --format csv",
    f"explain lists.csv --user zoe {BY}": "--keep-users-without-items",
    f"explain spaced.csv --user bob {BY}": "--ids exact",
    f"explain nan.csv --user ann {BY}": "--quiet",
    "explain lists.csv two.toml --user ann": "--set evaluation.k=1",
    "explain one --user ann": "--model popular",
    "explain one --user ann --model random": "--repeat 1 | --fold 1",
    "explain one --model random --model popular": "--most-different 1",
    "report one": "--out new.html | --users 0 | --quiet",
    "report one --out page.html": "--force",
    "validate lists.csv": "--config two.toml | --solution commas.csv",
    f"validate lists.csv {BY}": f"{KNOWN} | --verbose | --format csv",
    f"validate other.csv {BY}": "--strict | --fix new.csv",
    f"validate spaced.csv {BY}": "--ids exact",
    "validate lists.csv folds.toml": "--set evaluation.k=1 | --quiet",
    "submit --model popular --out new.csv": "--config two.toml",
    "submit two.toml --out new.csv": "--model popular",
    "submit two.toml --model random": "--out new.csv",
    "submit two.toml --model random --out new.csv": "--repeat 1 | --fold 1 | --all-events | "
    "--set evaluation.k=1 | --quiet | --verbose",
    "split --out new": "--config two.toml",
    "split two.toml": "--out new",
    "split two.toml --out new": "--public-share 0.6 | --set evaluation.k=1 | --quiet | --verbose",
    "fetch ml-100k": "--out thesis | --quiet",
    "list layouts": "--format csv",
    **{
        f"{line} {by}": READS[by]
        for line in (
            *("compare long.csv long-2.csv", "leaderboard long.csv long-2.csv", "score long.csv"),
            *("explain long.csv --user ann", "validate long.csv"),
        )
        for by in READS
    },
}
AS_IT_IS = {(command, "--quiet") for command in ("check", "compare", "leaderboard")}
"""They print their result alone anyway, but for a warning of a cache that others can write to."""
TYPED = {"--jobs": "--jobs 1"}
"""What an option is typed with where its example is refused by the option parser already."""
RUNS, SUBMISSIONS = "runs", "submissions"


def forms_of(runs: type, submissions: type) -> dict[str, set[str]]:
    """Return the options that go with runs alone, and with submissions alone."""
    with_runs, with_submissions = runs.__annotations__.keys(), submissions.__annotations__.keys()
    return {
        RUNS: set(map(flag_of, with_runs - with_submissions)),
        SUBMISSIONS: set(map(flag_of, with_submissions - with_runs)),
    }


ALL_FORMS = FORMS | {
    "compare": forms_of(RunOptions, PairOptions),
    "leaderboard": forms_of(FolderOptions, RankOptions),
}
FORM_OF = {
    ("run", LOCAL): "run two.toml",
    ("run", SPARK): "run two.toml --engine spark",
    ("score", RUN): "score one",
    ("score", FILE): f"score lists.csv {BY}",
    ("explain", RUN): "explain one --user ann",
    ("explain", FILE): f"explain lists.csv --user ann {BY}",
    ("submit", RUN): "submit one --model popular --out new.csv",
    ("submit", CONFIG): "submit two.toml --model popular --out new.csv",
    ("compare", RUNS): "compare one",
    ("compare", SUBMISSIONS): f"compare lists.csv other.csv {BY}",
    ("leaderboard", RUNS): "leaderboard .",
    ("leaderboard", SUBMISSIONS): f"leaderboard lists.csv other.csv {BY}",
}
"""A line in each form of a command."""


def typed_for(command: str) -> dict[str, str]:
    """Return what is typed for each option of a command, of its examples."""
    examples = [EXAMPLES[line] for line in EXAMPLES if line.split()[0] == command]
    each = [typed for options in examples for typed in options.split(" | ")]
    return {typed.split()[0].replace("--no-", "--"): typed for typed in each}


Done = tuple[int, str, str, dict[str, bytes]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small.write(tmp_path_factory.mktemp("made"), FILES)
    run(config_.read(folder / "two.toml")).write(folder / "one")
    small.films(folder / "data" / "ml-100k")
    return folder


class Folder:
    """A folder in which lines are typed, one after the other, and which each finds as it was."""

    def __init__(self, cli: Cli, folder: Path) -> None:
        self.cli, self.folder = cli, folder
        self.files = dict(self.now())

    def now(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if path.is_file() and not {"__pycache__", "data"} & set(path.parts):
                yield name, path.read_bytes()

    def typed(self, line: str) -> Done:
        """Return the status, what is printed, seconds and sizes apart, and what is written."""
        status, *texts = self.cli(*shlex.split(line))
        out, err = (re.sub(r"[\d.]+ s\b|[\d,]+ bytes|0x\w+", "…", text) for text in texts)
        after = dict(self.now())
        for name in after.keys() - self.files.keys():
            (self.folder / name).unlink()
        for folder in sorted(self.folder.rglob("*"), reverse=True):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        for name in self.files:
            if after.get(name) != self.files[name]:
                (self.folder / name).write_bytes(self.files[name])
        written = {
            name: content if name.endswith((".csv", ".toml")) else b""
            for name, content in after.items()
            if self.files.get(name) != content
        }
        return status, out, err, written


@pytest.fixture
def folder(made: Path, here: Path, cli: Cli, at_once: None, no_charts: None) -> Folder:
    shutil.copytree(made, here, dirs_exist_ok=True)
    return Folder(cli, here)


def test_every_option_has_an_example() -> None:
    options = {
        (name, name_of(param))
        for name, command in COMMANDS.items()
        for param in command.params
        if name_of(param).startswith("-")
    }
    shown = {(name, option) for name in COMMANDS for option in typed_for(name)}
    assert shown | AS_IT_IS == options
    assert len(shown) == sum(len(options.split(" | ")) for options in EXAMPLES.values())


@pytest.mark.parametrize("command", ["validate", "score", "compare", "leaderboard", "explain"])
def test_help_begins_with_what_is_scored_against_and_ends_with_output(command: str) -> None:
    names = [name_of(param) for param in COMMANDS[command].params if param.opts[0][0] == "-"]
    assert (names[:3], names[-1]) == (["--solution", "--config", "--set"], "--format")
    assert names.index("--ids") < names.index("--quiet")
    assert "--k" not in names[names.index("--separator") :]


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_option_changes_what_is_done_or_is_refused(folder: Folder, line: str) -> None:
    first, plain = folder.typed(line), folder.typed(line)
    if first != plain:  # what is kept of it is taken up from here on
        assert folder.typed(line) == plain
    for typed in EXAMPLES[line].split(" | "):
        assert folder.typed(f"{line} {typed}") != plain, typed


def test_every_form_has_a_line_and_its_options_are_options() -> None:
    assert set(FORM_OF) == {(name, form) for name, forms in ALL_FORMS.items() for form in forms}
    options = {name_of(param) for command in COMMANDS.values() for param in command.params}
    named = {
        option for forms in ALL_FORMS.values() for options in forms.values() for option in options
    }
    assert named <= options


@pytest.mark.parametrize(("command", "form"), FORM_OF)
def test_an_option_of_another_form_is_refused(folder: Folder, command: str, form: str) -> None:
    """What it goes with is said, and nothing is written."""
    line, examples = FORM_OF[command, form], typed_for(command) | TYPED
    makes_the_other = {"--solution", "--config"} if form == RUNS else set()
    for other, options in ALL_FORMS[command].items():
        for option in set(options) & set(examples) - makes_the_other if other != form else ():
            *done, written = folder.typed(f"{line} {examples[option]}")
            is_refused(tuple(done), option, f": only with {other}, not with {form}; ")
            assert written == {}
