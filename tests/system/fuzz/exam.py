"""A competition of three users and items, as which mutated submissions are read, mended, scored."""

import random
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from mutation import SECONDS

from harness.core.errors import HarnessError
from harness.delimited import blocks
from harness.metrics import parse
from harness.metrics.scores import mean, user_scores
from harness.submission.expected import of_tables
from harness.submission.fix import fix
from harness.submission.rules import ITEMS, SAMPLE
from harness.submission.solution import of_file
from harness.submission.validate import Examined, examine

TRUTH = {"ann": ["0706016002"], "bob": ["0706016001", "0706016002"], "cem": ["0706016003"]}
MENDED = {"SUB006", "SUB007", "SUB009", "SUB105", "SUB106", "SUB206", "SUB207"}


class Exam:
    """What files are checked against and marked by; those in `warm` are read, to import all."""

    def __init__(self, folder: Path, warm: Sequence[bytes]) -> None:
        (folder / "sample.csv").write_text(SAMPLE)
        (folder / "articles.csv").write_text(ITEMS)
        self.solution = of_file(pl.DataFrame({"user": list(TRUTH), "item": list(TRUTH.values())}))
        against = of_tables(folder / "sample.csv", folder / "articles.csv").cut_at(12)
        self.against = against.scored_by(self.solution)
        self.path = folder / "submission.csv"
        for content in warm:
            self._read(content)

    def read(self, content: bytes, chance: random.Random) -> Examined:
        """Return what is found in a file, in time, in blocks of any size; mended, it has less."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "SIZE", chance.choice([64, 128, 1 << 16]))
            began = time.process_time()
            examined = self._read(content)
            assert time.process_time() - began < SECONDS, f"in blocks of {blocks.SIZE}"
        return examined

    def _read(self, content: bytes) -> Examined:
        self.path.write_bytes(content)
        examined, out = (
            examine(self.path, self.against, self.solution),
            self.path.with_name("out.csv"),
        )
        try:
            fix(self.path, self.against, out)
        except HarnessError:
            return examined
        mended = examine(out, self.against).validation
        assert not MENDED & {problem.code for problem in mended.problems}
        return examined

    def map_at_12(self, examined: Examined) -> float:
        assert examined.lists is not None
        metric = parse("MAP@12")
        return mean(user_scores(examined.lists, self.solution.judgments, [metric])[metric])
