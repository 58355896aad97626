"""Every command: its grammar, a refusal, and what it prints where."""

import gzip
import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest
import small
from conftest import Cli, is_refused, tells
from small import LOG, POPULAR, RANDOM
from typer.main import get_command

from harness.cli import app

COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
PLUG_INS = f"""{small.FAILS}
class Talks(Raises):
    def fit(self, train):
        print("epoch 1")
        return self

    def recommend(self, users, k, draws, exclude=None):
        print("asked")
        return [[-1] * k] * len(users)
"""
FAILS = {"name": "mine", "use": "plugged:Raises"}
TUNED = POPULAR | {"space": {"window_days": [1, 2]}}
ON_EVENTS = {"path": "nowhere", "events": "events.csv"}
EVENTS = "user,item,time\nann,a,2024-01-01\nann,b,2024-01-02\nbob,b,2024-01-01\nbob,a,2024-01-02\n"
FILES = {
    "log.csv": LOG,
    "days.csv": small.TO_TUNE,
    "there/events.csv": EVENTS,
    "plugged.py": PLUG_INS,
    "lists.csv": "user,items\nann,b a\nbob,d b\ncid,a b\n",
    "truth.csv": "user,items\nann,b\nbob,d\ncid,a\n",
    "thesis/chapter.doc": "",
    "real/transactions_train.csv": "mine",
    "exam.toml": small.toml(),
    "two.toml": small.toml(POPULAR, RANDOM),
    "fails.toml": small.toml(POPULAR, FAILS),
    "tuned.toml": small.toml(TUNED, data={"events": "days.csv"}),
    "there.toml": small.toml(data=ON_EVENTS, split={"strategy": "last_n", "n": 1}),
}
RUNS = {"one": "two.toml"}


def runs() -> list[str]:
    return sorted(path.name for path in Path("runs").glob("*"))


# Help and grammar.


def test_no_arguments_show_the_help(cli: Cli) -> None:
    status, out, err = cli()
    assert status == 2
    assert "Usage: " in out + err
    tells(cli("--help"), 0, COMMANDS)
    status, out, _ = cli("--version")
    assert (status, out.split()[0]) == (0, "submission-harness")


# Refusals, from the command line to status 2; most others are proven where they are raised.

TRUE = "lists.csv --solution truth.csv"
REFUSED = {
    # One a command.
    "synth hm --out real --users 9 --items 20": "has transactions_train.csv; name another --out",
    "init log.csv -o exam.toml": "exam.toml: already exists; name another --out, or add --force",
    "init lgo.csv -o exam.toml": "lgo.csv: no such file",
    "init log.csv --encoding utf-16": "'utf-16' is not one of 'utf-8', 'latin-1', 'cp1252'",
    "run nope.toml": "nope.toml: no such file; there are exam.toml",
    "tune nope.toml": "nope.toml: no such file",
    "compare .": ".: not a run folder, but it has 1 run; name one, such as one, or rank all of",
    "check nowhere --at-least 0": "nowhere: not a run folder",
    "check one": "no condition; add --at-least",
    "leaderboard nowhere": "nowhere: not a folder",
    "score lists.csv": "nothing to score against; add --config CONFIG or --solution",
    "explain lists.csv": "no user to explain; add --user ID, or --worst 3 or --best 3",
    "report nowhere": "nowhere: not a run folder",
    "validate lists.csv --sample gone.csv": "gone.csv: the file does not exist",
    "submit one --model popular -o own.txt": "own.txt: a submission must be a .csv or .csv.gz file",
    "submit exam.toml --model popula -o own.csv": 'no model "popula"; did you mean "popular"?',
    "split exam.toml -o thesis": "thesis: exists and is not a folder of harness split",
    "fetch movielens": 'harness fetch has no "movielens"; allowed: ml-100k',
    "list metric": "'metric' is not one of 'metrics', 'conventions'",
    # What the option parser refuses.
    "runn": "No such command 'runn'",
    "run exam.toml --nope": "No such option: --nope",
    "run exam.toml --engine maybe": "'maybe' is not one of 'local', 'spark'",
    "synth hm --out x --users many": "'--users': found many, expected a whole number",
    f"explain {TRUE} --worst -1": "'--worst': found -1, expected 0 or more",
    "tune exam.toml --trials 1000001": "'--trials': found 1000001, expected 1000000 or less",
    # What commands refuse.
    "run": "no config; name one: CONFIG, or --config CONFIG",
    "run exam.toml --config other.toml": "two configs, exam.toml and --config other.toml; name one",
    "score lists.csv other.csv": "other.csv: the second argument must be a config (.toml)",
    "validate lists.csv other.csv": "harness compare FILE… takes several",
    "run exam.toml --out log.csv/x": "log.csv/x: cannot be written; choose another --out",
    "tune exam.toml --trials 2 --set tune.trials=5": "--trials 2 and --set tune.trials=5: name one",
    "compare one --metric MAP@2 --metric MRR": "--metric: name one metric; found MAP@2 and MRR",
    f"explain {TRUE} --user ann --k 3 --metric MAP@2": "has its own cut-off; remove --k",
    "compare one --baseline popular --all-pairs": "remove --all-pairs or --baseline",
    "explain lists.csv exam.toml --worst 1 --metric Coverage@2": "has one value for all lists, "
    "none per user",
    "explain gone --model popular --user ann": "gone: no such file or run folder",
    "explain thesis --user ann": "thesis: not a run folder: it has no result.json",
    "explain one ann --worst 1": "to explain a user, type --user ann",
    "explain lists.csv truth.csv --worst 1": "true items, type --solution truth.csv",
    "explain one --user ann": "one: name a model, or two: --model NAME; allowed: ",
    "explain one --model random --most-different 1": "one: name two models: --model A --model B; ",
    "explain one --model a --model b --model c --user ann": "one: name a model, or two: --model",
    "explain one --model random --model popular": "no user to explain; add --user ID, or",
    "explain one --model random --user ann --fold 1": "one: has one evaluation set and no folds",
    "synth hm --out log.csv --users 20": "out: log.csv is a file; name a folder",
    f"run {'a' * 300}.toml": "aaa.toml: File name too long",
    f"synth hm --out {'a' * 300} --users 20": "aaa: cannot be written: File name too long",
    "init log.csv -o log.csv": "is an input of this command",
    "score one --k 3 --strict": "only with a file of lists, not with a run; leave out --k and",
    # Options that are gone: what to do instead.
    "validate lists.csv --engine spark": "--engine was removed; leave it out",
    "run exam.toml --whole refuse": "--whole was removed; leave it out: if events are in",
    "score lists.csv --master local[2]": "harness.spark.evaluate(predictions, truth, metrics)",
}


def test_every_command_has_a_refusal() -> None:
    assert {line.split()[0] for line in REFUSED} - {"runn"} == set(COMMANDS)


@pytest.mark.parametrize(("line", "words"), REFUSED.items())
def test_a_mistake_is_a_message_and_status_2(harness: Cli, line: str, words: str) -> None:
    before = sorted(path.name for path in Path().iterdir())
    is_refused(harness(*line.split()), words)
    assert sorted(path.name for path in Path().iterdir() if path.name != "__pycache__") == before


# --set.

THERE = ["--config", "there.toml", "--set", "data.path=there"]


def test_a_hint_on_separators_works_as_it_stands(harness: Cli) -> None:
    Path("there/events.csv").write_text(EVENTS.replace(",", "\t"))
    status, _, err = harness("run", THERE)
    hint = re.search(r"set (separator = \S+) under \[data\] \(or (--set \S+)\)", err)
    assert status == 2
    assert hint is not None, err
    assert harness("run", THERE, *shlex.split(hint[2]))[0] == 0
    text = FILES["there.toml"].replace("[data]\n", f"[data]\n{hint[1]}\n")
    Path("there.toml").write_text(text)
    assert harness("run", THERE)[0] == 0


# harness run.


def test_a_run_has_a_folder_by_its_evaluation_set_and_a_number_by_its_config(harness: Cli) -> None:
    status, out, err = harness("run", "exam.toml")
    (name,) = runs()
    evaluation = json.loads(Path("runs", name, "result.json").read_text())["evaluation"]
    assert (status, err) == (0, "")
    assert name == f"2020-01-08-table-{evaluation['fingerprint'][:6]}"
    assert "popular" in out
    assert out.endswith(f"written to runs/{name}/\nnext  harness report runs/{name}\n")
    other = "run", "exam.toml", "--set", "models.0.params.window_days=2", "--format", "csv"
    words = f"written to runs/{name}-2/, as another config wrote to runs/{name}/\n"
    assert harness(other)[2] == words
    assert "window_days = 2" in Path("runs", f"{name}-2", "config.toml").read_text()
    harness("run", "exam.toml")
    assert runs() == [name, f"{name}-2"]
    Path("runs", name, "mine.txt").write_text("kept")
    harness("run", "exam.toml")
    assert runs() == [name, f"{name}-2", f"{name}-3"]


def test_out_names_the_folder_and_may_name_an_earlier_run(
    harness: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        tells(harness("run", "exam.toml", "--out", "mine/run"), 0, "written to mine/run/")
    assert ([path.name for path in Path("mine").iterdir()], runs()) == (["run"], [])
    monkeypatch.setattr("harness.evaluation.run.run", lambda *_, **__: pytest.fail("work was done"))
    for out in ("thesis", "log.csv"):
        words = f"{out}: exists and is not a run folder; choose another --out\n"
        assert harness("run", "exam.toml", "--out", out) == (2, "", words)


def test_a_model_that_fails_costs_the_others_nothing_and_is_remembered(harness: Cli) -> None:
    failed = 'failed  model "mine" raised in fit: ZeroDivisionError: too few stars'
    done = harness("run", "fails.toml", "--out", "run")
    tells(done, 1, failed, "written to run/")
    assert done[2] == "1 of 2 models failed; --debug shows tracebacks\n"
    tells(harness("score", "run", "--metric", "Recall@1"), 0, failed)


def test_the_json_is_the_record(harness: Cli) -> None:
    status, out, err = harness("run", "exam.toml", "--format", "json", "--out", "run")
    assert (status, out, err) == (0, Path("run/result.json").read_text(), "written to run/\n")


def test_what_a_model_prints_is_kept_out_of_the_json(harness: Cli) -> None:
    """In a run, and where it is asked again as the run has no lists."""
    talks = ("--set", "models.0.use=plugged:Talks", "--no-recommendations", "--out", "run")
    explain = ("explain", "run", "--model", "popular", "--user", "ann")
    for command, words in ((("run", "exam.toml", *talks), "epoch 1"), (explain, "asked")):
        status, out, err = harness(command, "--format", "json")
        assert (status, json.loads(out)["schema"]) == (0, 1)
        assert words in err


# --quiet, --verbose and the log.


def lines(text: str) -> list[str]:
    """Return the lines of a log, their seconds as one letter."""
    return re.sub(r"\d+\.\d s", "T", text).splitlines()


OF_TWO = [
    "read 8 events, T",
    "evaluation set: 3 users, 4 candidates, T",
    "popular (1 of 2): fit T, recommend T, score T",
    "random (2 of 2): fit T, recommend T, score T",
    "compared 1 pair, T",
]
AGAIN = [
    "read 8 events from the cache, T",
    OF_TWO[1],
    "popular (1 of 2): taken from an earlier run",
    "random (2 of 2): taken from an earlier run",
    OF_TWO[-1],
]


def test_verbose_says_what_each_step_did(harness: Cli, at_once: None) -> None:
    cached = ("--set", "data.cache=true")
    for expected in (OF_TWO, AGAIN):
        status, out, err = harness("run", "two.toml", "--out", "run", "-v", cached)
        assert (status, lines(err)) == (0, [*expected, "wrote the run folder, T"])
        for words in ("pairs  MAP@2", "p (Holm)", "time ", "leaderboards  ", "users  3 active"):
            assert words in out


QUIET = {
    "run exam.toml --format json": "",
    "leaderboard .": "",
    f"score {TRUE}": "",
    "tune tuned.toml --trials 1": "",
    "report one": "one/report.html",
    "split exam.toml --out files": "files/solution.csv",
    "submit exam.toml --model popular --out mine.csv --all-events": "mine.csv",
    "synth hm --users 20 --items 10 --events 90 --out new": "new/articles.csv",
}
"""Commands, and the files that are their results."""


@pytest.mark.parametrize(("command", "file"), QUIET.items())
def test_quiet_prints_the_result_alone_or_nothing_where_it_is_a_file(
    harness: Cli, no_charts: None, command: str, file: str
) -> None:
    status, out, err = harness(*command.split(), "-q")
    assert (status, out == "", err) == (0, file != "", "")
    assert "written to" not in out
    assert "next  " not in out
    assert "json" not in command or json.loads(out)
    assert Path(file).exists()


def test_what_a_mended_file_still_has_is_told_all_the_same(harness: Cli) -> None:
    small.write(Path(), {"bad.csv": "user,items\nann,b b\nbob,d\n"})
    fixing = ("validate", "bad.csv", "--solution", "truth.csv", "--fix", "good.csv", "--strict")
    loud, quiet = harness(fixing), harness(fixing, "-q")
    assert (loud[0], quiet[0]) == (1, 1)
    assert quiet[2] == loud[2]
    assert "good.csv" in quiet[2]


def test_a_refused_file_is_mended_as_the_message_says(harness: Cli) -> None:
    truth, lists = "user,item\nann,0012\nbob,0345\n", "user,item\nann,12\nbob,0345\n"
    small.write(Path(), {"bad file.csv": lists, "-bad.csv": lists, "key.csv": truth})
    options = ("--solution", "key.csv", "--row-order", "--item-column", "item")
    for bad, mended in (("bad file.csv", "bad file-fixed.csv"), ("./-bad.csv", "./-bad-fixed.csv")):
        (mending,) = re.findall("; or harness (.*)", harness("score", bad, options)[1])
        assert harness(*shlex.split(mending))[0] == 0
        assert harness("score", mended, options)[0] == 0


# Names and texts of files steer no terminal.


def is_plain(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


@pytest.mark.parametrize("format_", ["table", "csv"])
def test_no_name_steers_the_terminal(harness: Cli, format_: str) -> None:
    """Of a model, of a file, of a user or of an item; nor does an id begin a formula."""
    text = FILES["exam.toml"].replace('"popular"', '"pop\\u001b[31mular\\u009b1m"')
    Path("odd.toml").write_text(text)
    status, out, err = harness("run", "odd.toml", "-v", "--format", format_)
    assert (status, is_plain(out + err), "ular" in out) == (0, True, True)
    assert "pop\N{REPLACEMENT CHARACTER}[31mular\N{REPLACEMENT CHARACTER}1m (1 of 1): fit" in err
    Path("o\x1bdd.csv").write_text("user,items\nann\x1b[31m,\x9b2Ja =1+1\n")
    Path("key.csv").write_text("user,items\nann\x1b[31m,a\n")
    odd = ("o\x1bdd.csv", "--solution", "key.csv", "--format", format_)
    for command in (("score", *odd), ("explain", *odd, "--best", "1")):
        status, out, _ = harness(command)
        assert (status, is_plain(out)) == (0, True)
        assert format_ != "csv" or not [cell for cell in out.split(",") if cell.startswith("=")]
    status, _, err = harness("explain", odd, "--user", "bob")
    assert (status, is_plain(err)) == (2, True)


# Files that swell.

BOMB = gzip.compress(b"user,items\n" + b"u1,i1 i2\n" * 4_000_000)
"""36 MB in few bytes."""


@pytest.mark.parametrize(
    "command",
    [
        "validate bomb.csv.gz --fix out.csv",
        "validate two.csv --sample bomb.parquet",
        "score two.csv --solution bomb.csv.gz",
        "score bomb.parquet --solution two.csv",
        "run shop.toml",
    ],
)
def test_every_command_refuses_a_bomb(command: str, here: Path, cli: Cli) -> None:
    data = {"events": "bomb.csv.gz", "max_unpacked_gb": 0.016777216}
    files = {"two.csv": "user,items\nu1,i1 i2\nu2,i2\n", "shop.toml": small.toml(data=data)}
    (small.write(here, files) / "bomb.csv.gz").write_bytes(BOMB)
    frame = pl.DataFrame({"user": [str(n) for n in range(17)], "items": ["a" * 1_000_000] * 17})
    frame.write_parquet(here / "bomb.parquet")
    status, out, err = cli(*command.split())
    assert status in (1, 2)
    assert "unpacks to more than 16,777,216 bytes" in out + err
    assert not (here / "out.csv").exists()
