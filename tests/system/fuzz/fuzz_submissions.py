"""Mutated submissions: ``make fuzz`` reads most of its files here, none may surprise anyone.

Whatever is done to a file, it ends in listed problems, in lines that the file has, within two
seconds, never in a traceback. Where its header is whole and its text is text, problems and score
are those of the reference, a plain-Python reader; mended, its mechanical faults are gone.
"""

import re
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from mutation import SECONDS, TOKENS, batches, chances, mutated
from reference import mean_average_precision, reference

from harness.core.errors import HarnessError
from harness.delimited import blocks
from harness.metrics import parse
from harness.metrics.scores import mean, user_scores
from harness.protocol.truth import Solution
from harness.submission.expected import Against, of_tables
from harness.submission.fix import fix
from harness.submission.rules import EXAMPLES
from harness.submission.rules.rule import ITEMS, SAMPLE
from harness.submission.solution import of_file
from harness.submission.validate import Examined, examine

HEAD = b"customer_id,prediction\n"
GOOD = HEAD + b"ann,0706016001 0706016002\nbob,0706016003 0706016001\ncem,0706016002\n"
LONG = b"customer_id,article_id,rank\nann,0706016001,1\nann,0706016002,2\nbob,0706016003,1\n"
SEEDS = (
    [GOOD] * 20 + [LONG] * 3 + [content for code, content in EXAMPLES.items() if code != "SUB014"]
)
WORDS = [
    *TOKENS,
    *(b"0706016001", b"706016001", b"0706016002.0", b"\x1d", b"1"),
]
TRUTH = {"ann": ["0706016002"], "bob": ["0706016001", "0706016002"], "cem": ["0706016003"]}
PLAIN = re.compile("[^\x00\x1a-\x1f]*")


@dataclass(frozen=True)
class Exam:
    """What files are checked against and marked by."""

    against: Against
    solution: Solution


@pytest.fixture(scope="session")
def evaluation_set(tmp_path_factory: pytest.TempPathFactory) -> Exam:
    folder = tmp_path_factory.mktemp("exam")
    (folder / "sample.csv").write_text(SAMPLE)
    (folder / "articles.csv").write_text(ITEMS)
    solution = of_file(pl.DataFrame({"user": list(TRUTH), "item": list(TRUTH.values())}))
    against = of_tables(folder / "sample.csv", folder / "articles.csv")
    found = Exam(against.scored_by(solution), solution)
    for content in (GOOD, EXAMPLES["SUB310"], EXAMPLES["SUB011"], LONG):  # so that all is imported
        (folder / "warm.csv").write_bytes(content)
        read(folder / "warm.csv", found)
    return found


def check(content: bytes, found: Examined, evaluation_set: Exam) -> None:
    packed = content.startswith((b"\x1f\x8b", b"PK"))  # its lines are not to be seen here
    physical = 100 if packed else len(re.findall(rb"\r(?!\n)|\n", content)) + 1
    lines = [place.line for p in found.validation.problems for place in p.places]
    assert all(line is None or 1 <= line <= physical for line in lines)
    text = content.decode("utf-8", "replace")
    if not content.startswith(HEAD) or "\ufffd" in text or not PLAIN.fullmatch(text):
        return
    told = {p.code: (p.line, p.value, p.count, p.lines) for p in found.validation.problems}
    assert told == reference(text)
    assert found.lists is not None
    metric = parse("MAP@12")
    score = mean(user_scores(found.lists, evaluation_set.solution.judgments, [metric])[metric])
    assert score == pytest.approx(mean_average_precision(text, TRUTH), rel=0, abs=1e-12)


def read(path: Path, evaluation_set: Exam) -> Examined:
    found = examine(path, evaluation_set.against, evaluation_set.solution)
    try:
        fix(path, evaluation_set.against, path.with_suffix(".fixed"))
    except HarnessError:
        return found
    left = examine(path.with_suffix(".fixed"), evaluation_set.against).validation
    mended = {"SUB006", "SUB007", "SUB009", "SUB105", "SUB106", "SUB206", "SUB207"}
    assert not mended & {problem.code for problem in left.problems}
    return found


@pytest.mark.parametrize(("batch", "files"), batches(80))
def test_no_file_surprises(
    batch: int, files: int, evaluation_set: Exam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = chances("submissions", batch)
    path = tmp_path / "submission.csv"
    for _ in range(files):
        content = mutated(chance.choice(SEEDS), chance, WORDS)
        path.write_bytes(content)
        monkeypatch.setattr(blocks, "SIZE", chance.choice([64, 128, 1 << 16]))
        began = time.process_time()
        try:
            found = read(path, evaluation_set)
            assert time.process_time() - began < SECONDS
            check(content, found, evaluation_set)
        except BaseException:
            print(f"batch {batch}, blocks of {blocks.SIZE}: {content!r}")
            raise
