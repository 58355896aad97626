"""A data set on disk: checked by its sum, unpacked by name, whole or not there."""

import csv
import hashlib
import io
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import NoReturn

import pytest
from conftest import refusal
from servers import FILES, IN_ARCHIVE, Server, as_ml_20m, cut, serving, whole, zipped

from harness import config as config_
from harness.core.errors import DataError, UsageError
from harness.data.datasets import DATASETS, PublicDataset, known
from harness.data.download import Patience
from harness.data.fetching import Place
from harness.experiment.run import run


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        server.content = zipped()
        yield server


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Place:
    """Return where the served archive is to be unpacked."""
    return place_of(server, tmp_path)


def place_of(server: Server, folder: Path) -> Place:
    hasty = Patience(stall=10, tries=2, pause=0)
    return Place(as_ml_20m(server.url, server.content), folder / "data" / "ml-20m", hasty)


def fill(place: Place) -> int:
    """Fetch, and return how many bytes the bar has moved in all."""
    told: list[int] = []
    place.fill(told.append)
    return sum(told)


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


PART = "ml-20m.zip.part"
ALL = ["ml-20m/README.txt", "ml-20m/config.toml", "ml-20m/movies.csv", "ml-20m/ratings.csv"]


def test_the_files_come_with_a_config_and_nothing_else(place: Place) -> None:
    assert not place.is_filled()
    assert fill(place) == place.dataset.size
    assert everything(place.folder.parent) == ALL
    for name, text in FILES.items():
        assert (place.folder / name).read_text() == text
    assert place.is_filled()


def test_a_download_that_was_given_up_is_gone_on_with(place: Place, server: Server) -> None:
    server.answers = [cut(50), cut(0), whole]
    words = ("50 of", "goes on from them", f"put it at {place.archive}")
    with refusal(DataError, *words):
        fill(place)
    assert everything(place.folder.parent) == [PART, f"{PART}.tag"]
    fill(place)
    assert server.ranges == [None, *["bytes=50-"] * 2]
    assert everything(place.folder.parent) == ALL


def test_what_was_changed_on_its_way_is_removed(place: Place, server: Server) -> None:
    server.content = zipped()[:-1] + b"x"
    found = as_ml_20m("", server.content).sha256
    words = (server.url, found, place.dataset.sha256, "the server, or a proxy before it")
    with refusal(DataError, *words):
        fill(place)
    assert everything(place.folder.parent) == []


def test_an_archive_that_a_person_has_brought_is_taken(place: Place, server: Server) -> None:
    place.archive.parent.mkdir()
    place.archive.write_bytes(server.content)
    assert fill(place) == place.dataset.size
    assert everything(place.folder.parent) == ["ml-20m.zip", *ALL]
    assert server.asked == []


def test_another_archive_that_a_person_has_brought_is_left_alone(place: Place) -> None:
    place.archive.parent.mkdir()
    place.archive.write_bytes(b"mine")
    with refusal(DataError, str(place.archive), place.dataset.sha256, "move it away"):
        fill(place)
    assert place.archive.read_bytes() == b"mine"


def test_a_folder_that_has_the_files_is_left_alone(place: Place, server: Server) -> None:
    fill(place)
    (place.folder / "config.toml").write_text("mine")
    (place.folder / "notes.txt").write_text("mine")
    assert place.is_filled()
    assert (place.folder / "config.toml").read_text() == "mine"
    assert len(server.asked) == 1


def test_files_that_were_unpacked_by_hand_get_a_config(place: Place, server: Server) -> None:
    place.folder.mkdir(parents=True)
    for name in ("ratings.csv", "movies.csv"):
        (place.folder / name).write_text(FILES[name])
    assert place.is_filled()
    assert (place.folder / "config.toml").is_file()
    assert server.asked == []


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ({"mine.txt": "x"}, "has mine.txt, but not ratings.csv of ml-20m with its"),
        ({"ratings.csv": "x", "movies.csv": FILES["movies.csv"]}, "but not ratings.csv"),
    ],
)
def test_a_folder_with_other_files_is_refused(
    there: dict[str, str], says: str, place: Place
) -> None:
    place.folder.mkdir(parents=True)
    for name, text in there.items():
        (place.folder / name).write_text(text)
    with refusal(UsageError, str(place.folder), says, "name another --out"):
        place.is_filled()
    assert {path.name: path.read_text() for path in place.folder.iterdir()} == there


def test_a_file_in_its_place_is_refused(place: Place) -> None:
    place.folder.parent.mkdir()
    place.folder.write_text("mine")
    with refusal(UsageError, str(place.folder), "Not a directory", "--out"):
        place.is_filled()


@pytest.mark.parametrize("folder", [".", "..", "/", "new/.."])
def test_a_folder_without_a_name_of_its_own_is_refused(
    folder: str, place: Place, here: Path
) -> None:
    with refusal(UsageError, "name a folder to make with --out"):
        replace(place, folder=Path(folder)).is_filled()


def test_an_empty_folder_is_filled(place: Place) -> None:
    place.folder.mkdir(parents=True)
    assert not place.is_filled()
    fill(place)
    assert everything(place.folder.parent) == ALL


def test_names_that_lead_elsewhere_are_not_unpacked(server: Server, tmp_path: Path) -> None:
    evil = {"../evil": "x", "/evil": "x", "ml-20m/../../evil": "x", "C:\\evil": "x", "evil": "x"}
    server.content = zipped(IN_ARCHIVE | evil)
    place = place_of(server, tmp_path)
    fill(place)
    assert everything(tmp_path) == [f"data/{name}" for name in ALL]


RATINGS = "ml-20m/ratings.csv"


def archive_with(name: str, text: str, mode: int) -> bytes:
    """Return the archive with one member of another kind."""
    raw = io.BytesIO(zipped({n: t for n, t in IN_ARCHIVE.items() if n != name}))
    with zipfile.ZipFile(raw, "a") as archive:
        member = zipfile.ZipInfo(name)
        member.external_attr = mode << 16
        archive.writestr(member, text)
    return raw.getvalue()


def damaged() -> bytes:
    """Return an archive with a wrong byte in what is packed without compression."""
    return zipped(method=zipfile.ZIP_STORED).replace(b"10,5.0", b"11,5.0", 1)


def twice() -> bytes:
    raw = io.BytesIO(zipped())
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(raw, "a") as archive:
        archive.writestr(RATINGS, "x")
    return raw.getvalue()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lambda: zipped({n: t for n, t in IN_ARCHIVE.items() if n != RATINGS}), "(0 of that name)"),
        (twice, "it must be there once (2 of that name)"),
        (lambda: zipped(IN_ARCHIVE | {RATINGS: "x" * 5_000_000}), "it is larger than is known"),
        (lambda: archive_with(RATINGS, "/etc/passwd", 0o120777), "(no regular file)"),
        (lambda: archive_with(RATINGS, "", 0o010644), "(no regular file)"),
        (lambda: zipped(method=zipfile.ZIP_BZIP2), "packed by bzip2 or LZMA"),
        (lambda: zipped(method=zipfile.ZIP_LZMA), "packed by bzip2 or LZMA"),
        (damaged, "it is damaged (Bad CRC-32"),
        (lambda: b"no archive", "it is damaged (File is not a zip file)"),
    ],
)  # fmt: skip
def test_an_archive_that_is_not_as_it_should_be(
    content: Callable[[], bytes], says: str, server: Server, tmp_path: Path
) -> None:
    server.content = content()
    place = place_of(server, tmp_path)
    with refusal(DataError, f"ml-20m.zip: {RATINGS} cannot be unpacked", says, "report"):
        fill(place)
    assert everything(tmp_path / "data") == [PART, f"{PART}.tag"]


def test_a_disk_without_room_is_told_before(
    place: Place, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = place.dataset.size + sum(place.dataset.files.values())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=needed - 1))
    with refusal(DataError, "MB free, and ml-20m needs 0.0 MB", "--out"):
        fill(place)
    assert (server.asked, everything(place.folder.parents[1])) == ([], [])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=needed))
    fill(place)


def test_a_folder_that_was_made_for_nothing_is_removed(place: Place, tmp_path: Path) -> None:
    nowhere = replace(place.dataset, url="http://127.0.0.1:1/ml-20m.zip")
    with refusal(DataError, "127.0.0.1"):
        fill(replace(place, dataset=nowhere, folder=tmp_path / "deep" / "data" / "ml-20m"))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "data").mkdir()
    with refusal(DataError, "127.0.0.1"):
        fill(replace(place, dataset=nowhere))
    assert everything(tmp_path) == []
    assert (tmp_path / "data").is_dir()


def interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_an_interruption_leaves_the_download_and_no_half_folder(
    place: Place, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(shutil, "copyfileobj", interrupted)
        fill(place)
    assert [path.name for path in sorted(place.folder.parent.iterdir())] == [PART, f"{PART}.tag"]
    fill(place)
    assert len(server.asked) == 1
    assert everything(place.folder.parent) == ALL


def test_a_full_disk_while_unpacking_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    words = (str(place.folder), "cannot be written: No space left on device", "is kept")
    with refusal(DataError, *words):
        fill(place)
    assert everything(place.folder.parent) == [PART, f"{PART}.tag"]


def test_a_disk_without_links_will_do(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> NoReturn:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    fill(place)
    assert everything(place.folder.parent) == ALL


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=list(DATASETS))
def test_a_declaration_is_sound(dataset: PublicDataset) -> None:
    assert re.fullmatch("[0-9a-f]{64}", dataset.sha256)
    assert dataset.url == f"https://files.grouplens.org/datasets/movielens/{dataset.name}.zip"
    for name in dataset.members:
        assert PurePosixPath(name).parts == (dataset.folder, PurePosixPath(name).name)
    assert "commercial" in dataset.licence.text
    assert "Harper and J. A. Konstan (2015)" in dataset.licence.text
    assert dataset.data["path"] == "."


MADE_UP = Path(__file__).parent / "movielens"


def made_up(name: str) -> list[list[str]]:
    """Return the rows of a table in MovieLens' columns, without its header."""
    with (MADE_UP / name).open(encoding="utf-8", newline="") as handle:
        return list(csv.reader(handle))[1:]


def joined(separator: str, rows: list[list[str]]) -> str:
    return "".join(f"{separator.join(row)}\n" for row in rows)


def sample(file: str) -> str:
    """Return made-up rows in the form of a file of MovieLens' older editions, or the newer ones."""
    if file.endswith(".csv"):
        return (MADE_UP / file).read_text(encoding="utf-8")
    stars = [[user, film, rating[0], time] for user, film, rating, time in made_up("ratings.csv")]
    films = made_up("movies.csv")
    match file:
        case "ratings.dat":
            return joined("::", stars)
        case "movies.dat":
            return joined("::", films)
        case "users.dat":
            return joined("::", [[str(user), "F", "25", "7", "55455"] for user in range(1, 91)])
        case "u.data":
            return joined("\t", stars)
        case "u.user":
            return joined("|", [[str(user), "24", "F", "writer", "55455"] for user in range(1, 91)])
        case "u.item":
            return joined("|", [[*film[:2], "01-Jan-1995", "", "", *"0" * 19] for film in films])
        case _:
            return "unknown|0\n"


@pytest.mark.parametrize("name", DATASETS)
def test_the_config_runs_as_it_stands(name: str, server: Server, tmp_path: Path) -> None:
    texts = {file: sample(file) for file in DATASETS[name].files}
    folder, readme = DATASETS[name].folder, DATASETS[name].readme
    server.content = zipped({f"{folder}/{file}": text for file, text in texts.items()} | {
        f"{folder}/{readme}": "cite us"
    })  # fmt: skip
    sizes = {file: len(text) for file, text in texts.items()}
    dataset = replace(
        DATASETS[name],
        url=server.url,
        size=len(server.content),
        sha256=hashlib.sha256(server.content).hexdigest(),
        files=sizes,
    )
    fill(Place(dataset, tmp_path / name))
    text = (tmp_path / name / "config.toml").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 50
    result = run(config_.read(tmp_path / name / "config.toml"))
    assert {model.name for model in result.models} == {"random", "popular", "item kNN"}
    assert result.evaluation.k == 10


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ml-1", ('did you mean "ml-1m"?', "ml-32m")),
        ("ML-25M", ('did you mean "ml-25m"?',)),
        ("netflix", ("allowed: ml-100k, ml-1m, ml-10m, ml-20m, ml-25m, ml-32m",)),
        ("ml-latest-small", ("GroupLens changes it now and then", "ml-100k")),
    ],
)
def test_a_name_that_is_not_known(name: str, words: tuple[str, ...]) -> None:
    with refusal(UsageError, f'has no "{name}"', *words):
        known(name)
