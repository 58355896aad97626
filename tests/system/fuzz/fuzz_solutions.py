"""Mutated solutions: lists, rows of one item, grades, Usage; none surprises who marks by it."""

from pathlib import Path

import pytest
from mutation import TOKENS, batches, chances, command, mutated, shown

SEEDS = [
    b"user,items\nann,a b\nbob,c\ncid,\n",
    b"user,items,Usage\nann,a b,Public\nbob,c,Private\ndee,a,Ignored\n",
    b"user,item\nann,a\nann,b\nbob,c\n",
    b"user,item,grade\nann,a,3\nann,b,0.5\nbob,c,1\n",
    b"user,item,grade,Usage\nann,a,3,Public\nann,b,1,Public\nbob,c,2,Private\n",
    b'user,items\nann,"a,b"\nbob,"c,a"\n',
    b"user,items\nann,a;b\nbob,c|a\n",
    b"user,items\nann,\"['a', 'b']\"\nbob,['c']\n",
    b"customer_id,prediction\nann,0706016001 0706016002\nbob,0706016003\n",
    b"\xff\xfe" + "user,items\nann,a b\nbob,c\n".encode("utf-16-le"),
]
LISTS = "user,items\nann,b a\nbob,c\ncid,a\n"
WORDS = [*TOKENS, b"Public", b"Private", b"Ignored", b"Usage", b"grade", b"a b", b"|", b"a" * 300]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solutions")
    (folder / "lists.csv").write_text(LISTS)
    (folder / "rows.csv").write_text("user,item,rank\nann,b,1\nann,a,2\nbob,c,1\n")
    for content in SEEDS:  # so that all is imported
        (folder / "solution.csv").write_bytes(content)
        for line in lines(folder):
            command(line, seconds=120)
    return folder


def lines(folder: Path) -> list[list[str | Path]]:
    lists, rows, solution = (folder / name for name in ("lists.csv", "rows.csv", "solution.csv"))
    return [
        ["score", lists, "--solution", solution],
        ["score", lists, "--solution", solution, "--force", "--conventions", "--format", "json"],
        ["score", rows, "--solution", solution, "--force", "--metric", "NDCG@3"],
        ["score", lists, "--solution", solution, "--separator", ",", "--format", "markdown"],
        ["score", lists, "--solution", solution, "--keep-users-without-items", "--format", "csv"],
        ["explain", lists, "--solution", solution, "--worst", "2"],
        ["validate", lists, "--solution", solution],
    ]


@pytest.mark.parametrize(("batch", "files"), batches(4))
def test_no_solution_surprises(batch: int, files: int, folder: Path) -> None:
    chance = chances("solutions", batch)
    for number in range(files):
        content = mutated(chance.choice(SEEDS), chance, WORDS)
        (folder / "solution.csv").write_bytes(content)
        line = chance.choice(lines(folder))
        with shown(f"batch {batch}, file {number}: {line}\n{content!r}"):
            status, output = command(line)
            named = any(name in output for name in ("solution.csv", "lists.csv", "rows.csv"))
            assert status != 2 or named, output
