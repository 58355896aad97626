"""A person's own metric: a function in a file."""

import os
import shutil
import sys
from importlib import invalidate_caches
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal

from harness import evaluate
from harness.core.errors import UsageError
from harness.metrics import is_own, parse

SOURCE = '''
def early(hits, n_relevant, k):
    """The share of the first two ranks that hit."""
    return hits[:2].sum() / 2

def counts(hits, n_relevant, k):
    return 100 * n_relevant + 10 * k + hits.sum()

def shouts(hits, n_relevant, k):
    raise KeyError("too loud")

def leaves(hits, n_relevant, k):
    raise SystemExit

def nothing(hits, n_relevant, k):
    return float("nan")

def cheats(hits, n_relevant, k):
    hits[:] = True
    return 1

def odd(hits, n_relevant, k):
    return 0

def two(hits, k):
    return 0

odd.better = "less"
factor = 3
'''
RECORD = "own_shop.py,,\n"
LISTS, TRUTH = {"ann": ["x", "a", "b"]}, {"ann": ["a", "b", "c"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with my_metrics.py, and the same file in one whose name has signs."""
    return small.write(tmp_path, {"my_metrics.py": SOURCE, "new (2) @home/shop.py": SOURCE})


def test_two_files_whose_metrics_would_have_one_name_are_refused(folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "my_metrics.py").write_text(SOURCE)
    metrics = [f"{path}:early@12" for path in ("my_metrics", "more/my_metrics.py")]
    with refusal(UsageError, "are both called my_metrics:early@12; rename a file or a function"):
        evaluate(LISTS, TRUTH, [parse(metric, folder) for metric in metrics])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("my_metrics", "my_metrics"),
        ("my_metrics.py", "my_metrics"),
        ("new (2) @home/shop.py", "shop"),
    ],
)
def test_a_function_in_a_file_is_a_metric(folder: Path, path: str, name: str) -> None:
    metric = parse(f"{path}:early@12", folder)
    assert (str(metric), metric.k) == (f"{name}:early@12", 12)
    assert parse(metric.text, folder) == metric
    assert metric.definition.text == "The share of the first two ranks that hit."
    assert evaluate(LISTS, TRUTH, metric).to_dict() == {f"{name}:early@12": 1 / 2}


def test_it_gets_hits_true_items_and_the_cut_off_of_every_user(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text is looked for in the current folder."""
    lists = {"ann": ["x", "a", "a", "b", "c"], "bob": ["a"], "cem": []}
    truth = {"ann": ["a", "b", "c"], "bob": ["b", "c"], "cem": []}
    monkeypatch.chdir(folder)
    result = evaluate(lists, truth, ["my_metrics:counts@4", "MRR@3"], per_user=True)
    assert result["my_metrics:counts@4"].tolist() == [342, 240, 40]
    assert result["MRR@3"].tolist() == [1 / 2, 0, 0]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("my_metrics:erly@3", ['no function "erly"', 'did you mean "early"?']),
        ("my_metrcs:early@3", ['no module "my_metrcs"', 'did you mean "my_metrics"?']),
        ("my_metrics:factor@3", ['no function "factor"']),
        ("my_metrics:odd@1", ["better", '"less"', "allowed: higher, lower"]),
        (
            "my_metrics:two@3",
            [
                "a metric takes (hits, n_relevant, k), but this function takes (hits, k)",
                "my_metrics.py, line 25)",
            ],
        ),
        ("my_metrics:early", ["no cut-off", '"my_metrics:early@10"']),
        ("my_metrics:early(x=1)@3", ["my_metrics:early takes no parameters", '"x"']),
        ("my_metrics:early@0", ["my_metrics:early@0", "from 1", "got 0"]),
    ],
)
def test_what_is_misspelled_is_named(folder: Path, text: str, named: list[str]) -> None:
    with refusal(UsageError, named):
        parse(text, folder)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        ("shouts", ["KeyError", "too loud", "my_metrics.py, line 10"]),
        ("leaves", ["SystemExit"]),
        ("nothing", ["returned nan", "a finite number"]),
        ("cheats", ["read-only"]),
    ],
)
def test_what_goes_wrong_in_it_is_told_with_its_arguments(
    folder: Path, function: str, named: list[str]
) -> None:
    arguments = f'"my_metrics:{function}"', "hits=[2 3] as ranks, n_relevant=3, k=3"
    with refusal(UsageError, arguments, named):
        evaluate(LISTS, TRUTH, parse(f"my_metrics:{function}@3", folder))


def test_it_is_known_by_its_text() -> None:
    paths = [f"{place}/mine.py:found@1" for place in ("Gini(x)", "Gini@1", "my data (new) @home")]
    texts = ("none:f@3", "no/such (file)@x.py:f@3", *paths, "MAP(divisor=trec)@10", "Gini@1")
    assert [is_own(text) for text in texts] == [True] * 5 + [False] * 2


# What tells its source.


def digest(folder: Path, name: str = "mine", **files: str) -> str | None:
    small.write(folder, {f"{name}.py": text for name, text in files.items()})
    return parse(f"{name}:early@3", folder).definition.digest


EARLY = "def early(hits, n_relevant, k):\n    return hits[:2].sum() / 2\n"
HELPED = "from helper_of_own import first\ndef early(hits, *of): return first(hits)\n"
FIRST = "def first(hits): return hits[:1].sum()\n"


def test_a_digest_is_of_the_source_and_of_no_place(tmp_path: Path) -> None:
    """Nor of how its lines end, or of what else lies beside it."""
    known = digest(tmp_path / "a", mine=EARLY)
    assert known is not None
    assert digest(tmp_path / "b", mine=EARLY, other="x = 1\n") == known
    assert parse(f"{tmp_path / 'b' / 'mine.py'}:early@3").definition.digest == known
    (tmp_path / "b" / "mine.py").write_bytes(EARLY.replace("\n", "\r\n").encode())
    assert digest(tmp_path / "b") == known
    assert digest(tmp_path / "b", mine=EARLY.replace("2", "30")) not in (known, None)
    assert parse("MAP@3").definition.digest is None


def test_a_helper_counts_as_it_was_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an older text of it is in memory, its source is not known."""
    monkeypatch.syspath_prepend(tmp_path)
    digests = []
    for first in (FIRST, FIRST.replace("1", "22"), FIRST):
        sys.modules.pop("helper_of_own", None)
        invalidate_caches()
        digests.append(digest(tmp_path, mine=HELPED, helper_of_own=first))
    assert digests[0] == digests[2] != digests[1]
    assert None not in digests
    os.utime(tmp_path / "helper_of_own.py", (4e9, 4e9))  # it was edited
    assert digest(tmp_path) is None


def test_of_an_installed_package_the_version_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(site)
    digests = []
    for version in ("1.0", "1.1", "1.0"):
        info = f"Metadata-Version: 2.1\nName: own-shop\nVersion: {version}\n"
        shutil.rmtree(site, ignore_errors=True)
        small.write(site, {"own_shop.py": EARLY + f"# {len(digests)}\n"})
        small.write(site / f"own_shop-{version}.dist-info", {"METADATA": info, "RECORD": RECORD})
        monkeypatch.delitem(sys.modules, "own_shop", raising=False)
        invalidate_caches()
        of_package = parse("own_shop:early@3", tmp_path).definition.digest
        digests.append((of_package, digest(tmp_path, mine="from own_shop import early\n")))
    first, other, again = digests
    for n in range(2):
        assert first[n] == again[n] != other[n]
        assert first[n] is not None


def test_a_function_of_no_file_is_known_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = []
    for number in ("2", "3", "2"):
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(EARLY.replace("2", number), namespace)  # noqa: S102
        monkeypatch.setattr(sys.modules["__main__"], "early", namespace["early"], raising=False)
        digests.append(parse("__main__:early@3").definition.digest)
    assert digests[0] == digests[2] != digests[1]
    assert None not in digests
