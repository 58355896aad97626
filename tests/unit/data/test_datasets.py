"""Declarations of public data sets, and the folders that they may be put in."""

import re
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
import small
from conftest import refusal

from harness import config as config_
from harness.core.errors import UsageError
from harness.data.datasets import DATASETS, Place, PublicDataset, config_of, known


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=list(DATASETS))
def test_a_declaration_and_its_config_are_sound(dataset: PublicDataset, tmp_path: Path) -> None:
    assert re.fullmatch("[0-9a-f]{64}", dataset.sha256)
    assert dataset.url == f"https://files.grouplens.org/datasets/movielens/{dataset.name}.zip"
    for name in dataset.members:
        assert PurePosixPath(name).parts == (dataset.folder, PurePosixPath(name).name)
    assert "commercial" in dataset.licence.text
    assert "Harper and J. A. Konstan (2015)" in dataset.licence.text
    path = tmp_path / "config.toml"
    path.write_text(config_of(dataset), encoding="utf-8")
    tables = config_.read(path).layout().tables
    assert {Path(table.name).name for table in tables} <= dataset.files.keys()
    assert len(path.read_text(encoding="utf-8").splitlines()) < 50


def test_a_name_that_is_not_known() -> None:
    for name, words in (
        ("ML-25M", 'did you mean "ml-25m"?'),
        ("netflix", "allowed: ml-100k, ml-1m, ml-10m, ml-20m, ml-25m, ml-32m"),
        ("ml-latest-small", "GroupLens changes it from time to time"),
    ):
        with refusal(UsageError, f'has no "{name}"', words):
            known(name)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return where ml-20m is to be put, as if its files had three bytes each."""
    dataset = replace(DATASETS["ml-20m"], files={"ratings.csv": 3, "movies.csv": 3})
    return Place(dataset, tmp_path / "data" / "ml-20m")


def test_files_that_were_unpacked_by_hand_get_a_config(place: Place) -> None:
    assert not place.is_filled()
    place.folder.mkdir(parents=True)
    assert not place.is_filled()
    small.write(place.folder, dict.fromkeys(place.dataset.files, "one"))
    assert place.is_filled()
    config = place.folder / "config.toml"
    assert config.read_text(encoding="utf-8") == config_of(place.dataset)
    config.write_text("mine")
    assert place.is_filled()
    assert config.read_text() == "mine"


@pytest.mark.parametrize("there", [{"mine.txt": "x"}, {"ratings.csv": "x", "movies.csv": "one"}])
def test_other_files_are_refused(there: dict[str, str], place: Place) -> None:
    small.write(place.folder, there)
    words = f"has {', '.join(sorted(there))}, but not ratings.csv of ml-20m with its 3 bytes"
    with refusal(UsageError, f"{place.folder}: {words}", "name another --out"):
        place.is_filled()
    assert {path.name: path.read_text() for path in place.folder.iterdir()} == there


def test_a_file_in_its_place_is_refused(place: Place) -> None:
    place.folder.parent.mkdir()
    place.folder.write_text("mine")
    with refusal(UsageError, str(place.folder), "Not a directory", "--out"):
        place.is_filled()


@pytest.mark.parametrize("folder", [".", "..", "/", "new/.."])
def test_a_folder_without_a_name_is_refused(folder: str, place: Place, here: Path) -> None:
    with refusal(UsageError, "needs a folder with a name, such as --out"):
        replace(place, folder=Path(folder)).is_filled()
