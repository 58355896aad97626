"""Mutated submissions: ``make fuzz`` reads most of its files here, none may surprise anyone.

Whatever is done to a file, it ends in listed problems, in lines that the file has, within two
seconds, never in a traceback. Where its header is whole and its text is text, problems and score
are those of the reference, a plain-Python reader; mended, its mechanical faults are gone.
"""

import re

import pytest
from exam import TRUTH, Exam
from mutation import TOKENS, batches, chances, mutated, shown
from reference import lists, mean_average_precision, reference

from harness.submission.rules import EXAMPLES
from harness.submission.validate import Examined

HEAD = b"customer_id,prediction\n"
GOOD = HEAD + b"ann,0706016001 0706016002\nbob,0706016003 0706016001\ncem,0706016002\n"
LONG = b"customer_id,article_id,rank\nann,0706016001,1\nann,0706016002,2\nbob,0706016003,1\n"
SEEDS = (
    [GOOD] * 20 + [LONG] * 3 + [content for code, content in EXAMPLES.items() if code != "SUB014"]
)
WORDS = [*TOKENS, b"0706016001", b"706016001", b"0706016002.0", b"\x1d", b"1"]
PLAIN = re.compile("[^\x00\x1a-\x1f]*")


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Exam:
    warm = GOOD, EXAMPLES["SUB310"], EXAMPLES["SUB011"], LONG
    return Exam(tmp_path_factory.mktemp("exam"), warm)


def check(content: bytes, examined: Examined, exam: Exam) -> None:
    packed = content.startswith((b"\x1f\x8b", b"PK"))  # its lines are not to be seen here
    physical = 100 if packed else len(re.findall(rb"\r(?!\n)|\n", content)) + 1
    lines = [place.line for p in examined.validation.problems for place in p.places]
    assert all(line is None or 1 <= line <= physical for line in lines)
    text = content.decode("utf-8", "replace")
    if not content.startswith(HEAD) or "\ufffd" in text or not PLAIN.fullmatch(text):
        return
    briefs = {p.code: (p.line, p.value, p.count, p.lines) for p in examined.validation.problems}
    by_user = lists(text)
    hit = any({*by_user.get(user, [])} & {*truth} for user, truth in TRUTH.items())
    no_hit = {"SUB402": (None, "0 of 3", 1, 1)} if any(by_user.values()) and not hit else {}
    assert briefs == reference(text) | no_hit
    expected = mean_average_precision(text, TRUTH)
    assert exam.map_at_12(examined) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize(("batch", "files"), batches(80))
def test_no_file_surprises(batch: int, files: int, exam: Exam) -> None:
    chance = chances("submissions", batch)
    for number in range(files):
        content = mutated(chance.choice(SEEDS), chance, WORDS)
        with shown(f"batch {batch}, file {number}: {content!r}"):
            check(content, exam.read(content, chance), exam)
