"""What a Parquet file unpacks to is known before it is read, whatever it says of itself."""

import io
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.core import parquet
from harness.core.thrift import ThriftError, read
from harness.core.unpacking import OWN, Cap, UnpackingError

ROWS = 300
FRAME = pl.DataFrame(
    {
        "user": [f"u{i % 97}" for i in range(ROWS)],
        "rank": range(ROWS),
        "items": [[f"i{i % 7}", None][: i % 3] for i in range(ROWS)],
        "both": [{"a": i, "b": ["x"] * (i % 2)} for i in range(ROWS)],
    }
)


def written(**options: Any) -> bytes:
    held = io.BytesIO()
    pq.write_table(FRAME.to_arrow(), held, row_group_size=100, **options)
    return held.getvalue()


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "zstd"},
        {"compression": "none", "data_page_version": "1.0"},
        {"data_page_version": "2.0", "compression": "gzip", "use_dictionary": False},
        {"data_page_size": 64, "write_batch_size": 16},
        {"write_page_index": True, "store_schema": False},
        {"use_dictionary": False, "column_encoding": {"rank": "DELTA_BINARY_PACKED"}},
    ],
)
def test_it_says_what_arrow_says(options: dict[str, Any]) -> None:
    """Arrow counts the headers of pages too, which stay as they are."""
    content = io.BytesIO(written(**options))
    metadata = pq.read_metadata(content)
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    columns = [group.column(column) for group in groups for column in range(group.num_columns)]
    rows, found = parquet.contents(content, len(content.getvalue()))
    pages = [page for page, _ in found]
    assert rows == ROWS
    values = sum(page.values for page in pages if not page.is_dictionary)
    assert values == sum(column.num_values for column in columns)
    headers = sum(c.total_compressed_size for c in columns) - sum(p.packed for p in pages)
    assert 0 < headers < 300 * len(pages)
    unpacked = sum(page.unpacked for page in pages)
    assert headers + unpacked == sum(column.total_uncompressed_size for column in columns)


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        (pl.Array(pl.Array(pl.Int8, 300), 10), 10 + 3_000),
        (pl.Struct({"a": pl.List(pl.Array(pl.Int8, 3_000))}), 3_000),
    ],
)
def test_a_missing_list_of_fixed_size_counts(kind: Any, places: int, tmp_path: Path) -> None:
    """Eight bytes for each place; the file says that there is one value."""
    most = 8 * places
    path = tmp_path / "a.parquet"
    pl.DataFrame({"items": pl.Series([None], dtype=kind)}).write_parquet(path)
    parquet.check(path, Cap(most - 1, most - 1, ""))
    parquet.scan(path, Cap(most, most, ""))
    with pytest.raises(UnpackingError, match=f"{most - 1:,} bytes"):
        parquet.scan(path, Cap(most - 1, most - 1, ""))


@pytest.mark.parametrize(
    ("frame", "size"),
    [
        ({"user": ["u"], "items": [["a" * 1_000] * 70]}, 70_001),
        # `^us..$` would be the column beside it, whose texts are short.
        ({"^us..$": ["a" * 1_000] * 2, "user": ["1", "2"]}, 2_002),
        ({"user": pl.Series(["ann", "bob"], dtype=pl.Categorical), "rank": [1, 2]}, 6),
    ],
)
def test_a_text_counts_in_every_row(frame: dict[str, Any], size: int) -> None:
    rows = pl.LazyFrame(frame)
    parquet.check_texts(rows, Cap(size, size, ""), packed=1)
    with pytest.raises(UnpackingError, match=f"{size - 1:,} bytes"):
        parquet.check_texts(rows, Cap(size - 1, size - 1, ""), packed=1)


def fault(content: bytes, folder: Path, cap: Cap) -> tuple[str, str]:
    """Return the fault, and what was found; two empty texts for a file that is read."""
    (folder / "a.parquet").write_bytes(content)
    try:
        parquet.check(folder / "a.parquet", cap)
    except UnpackingError as error:
        return error.fault, error.value
    return "", ""


INT, TEXT, LIST, STRUCT = 5, 8, 9, 12


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def number(value: int) -> bytes:
    """Return a whole number from 0 as the compact protocol writes it."""
    return varint(2 * value)


def struct(*fields: tuple[int, int, bytes]) -> bytes:
    """Return fields, each with its number and its type."""
    return b"".join(bytes([kind]) + number(n) + value for n, kind, value in fields) + b"\0"


def listed(*structs: bytes) -> bytes:
    n = len(structs)
    return (bytes([n << 4 | STRUCT]) if n < 15 else b"\xfc" + varint(n)) + b"".join(structs)


def page(unpacked: int, values: int, packed: int = 4, encoding: int = 0) -> bytes:
    own = struct((1, INT, number(values)), (2, INT, number(encoding)))
    sizes = (1, INT, number(0)), (2, INT, number(unpacked)), (3, INT, number(packed))
    return struct(*sizes, (5, STRUCT, own)) + b"text"


def file(
    pages: bytes,
    rows: int = 1,
    *,
    values: int | None = None,
    start: int = 4,
    length: int = 0,
    column: tuple[tuple[int, int, bytes], ...] = (),
    element: tuple[tuple[int, int, bytes], ...] = (),
    children: int = 1,
    repetition: int = 0,
    physical: int = 2,
    groups: int = 1,
) -> bytes:
    """Return a file of one column of numbers; all groups of rows have the same pages."""
    told = {5: rows if values is None else values, 7: length or len(pages), 9: start}
    chunk = struct(*((n, INT, number(value)) for n, value in told.items()))
    group = struct((1, LIST, listed(struct((3, STRUCT, chunk), *column))), (3, INT, number(rows)))
    root = struct((4, TEXT, b"\1r"), (5, INT, number(children)))
    leaf = struct(
        (1, INT, number(physical)), (3, INT, number(repetition)), (4, TEXT, b"\1n"), *element
    )
    notes = struct(
        (1, INT, number(1)),
        (2, LIST, listed(root, leaf)),
        (3, INT, number(groups * rows)),
        (4, LIST, listed(*[group] * groups)),
    )
    return b"PAR1" + pages + notes + len(notes).to_bytes(4, "little") + b"PAR1"


FITS = file(page(unpacked=400, values=49), rows=49)
"""Rows are 392 bytes, the page 400 and its values 392: 1,184."""
DELTA = file(page(4, 1, encoding=7) + page(30, 30, encoding=7), rows=31)
"""Pages 4 and 30, rows and values 8 each of 31, texts 1 × 4 and 30 × 30: 1,434."""


@pytest.mark.parametrize(("content", "size"), [(FITS, 1_184), (DELTA, 1_434)])
def test_a_file_fits_to_the_byte(content: bytes, size: int, tmp_path: Path) -> None:
    for most, found in ((size, ("", "")), (size - 1, ("large", f"{size - 1:,} bytes"))):
        assert fault(content, tmp_path, Cap(most, most, "", trusted=True)) == found


PLAIN = written(compression="none")
DELTAS = "Parquet with delta encodings"


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        # Pages claim more than 1,000 bytes, one by a value that stands many times or a long text.
        (file(page(unpacked=1_000, values=1)), "large", "1,000 bytes"),
        (file(page(4, 126), rows=126), "large", "1,000 bytes"),
        (file(page(4, 1), element=((2, INT, number(990)),), physical=7), "large", "1,000 bytes"),
        (b"PAR1PAR1", "damaged", "too short"),
        (b"PAR1" + bytes(8), "damaged", "does not begin and end"),
        (PLAIN[:-8] + b"\xff\xff\xff\x7fPAR1", "damaged", "footer is longer"),
        (PLAIN[:4] + bytes(4) + b"\x04\0\0\0PAR1", "damaged", "lack a number"),
        (file(page(4, 1, packed=5)), "damaged", "lies outside its column"),
        (file(page(4, 1), length=1 << 40), "damaged", "lies outside"),
        (file(page(4, 1), start=3), "damaged", "lies outside"),
        (file(page(4, 2)), "damaged", "more values than it says"),
        (file(page(4, 1), rows=2), "damaged", "end"),
        (file(page(4, 1), values=2), "damaged", "not as many values"),
        (file(page(4, 1), repetition=2, rows=2, values=1), "damaged", "not as many values"),
        (file(page(4, 1), children=2), "damaged", "told wrongly"),
        (file(page(4, 1), column=((1, TEXT, b"\1x"),)), "damaged", "elsewhere"),
        (FITS.replace(b"\x08\x08\1r", b"\x05\x08\1r"), "damaged", "another type"),
        (file(b"", rows=0, groups=2_060), "damaged", "too many groups of rows"),
        # Each page would be read once more for every group that names it.
        (file(page(4, 1, packed=104) + b"x" * 100, groups=9), "damaged", "upon each other"),
        (b"PARE" + PLAIN[4:], "kind", "an encrypted Parquet file"),
        (PLAIN[:-4] + b"PARE", "kind", "an encrypted Parquet file"),
        (file(page(4, 1), column=((8, STRUCT, b"\0"),)), "kind", "an encrypted Parquet file"),
        # A block of 17 thousand million numbers may have 20 bytes.
        *((file(page(4, 1, encoding=n)), "kind", DELTAS) for n in (5, 6, 7)),
    ],
)
def test_hostile_files(content: bytes, kind: str, words: str, tmp_path: Path) -> None:
    found, value = fault(content, tmp_path, Cap(1_000, 1_000, ""))
    assert found == kind
    assert words in value


def test_each_page_takes_its_time() -> None:
    content = file(page(4, 0) * 4)
    with pytest.raises(ThriftError, match="too many pages"):
        list(parquet.contents(io.BytesIO(content), len(content), most_pages=3)[1])


def test_so_many_columns_are_no_table(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    schema = pa.schema([(f"c{n}", pa.int8()) for n in range(10_000)])
    pq.ParquetWriter(path, schema, store_schema=False).close()
    with pytest.raises(UnpackingError, match="more than 10,000 columns"):  # the root is one
        parquet.check(path, Cap(1 << 40, 1 << 40, ""))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "end too soon"),
        (b"\x15\2\x05\2\2\0", "say a thing twice"),
        (b"\x15" + b"\x80" * 20, "without an end"),
        (b"\x15" + b"\xff" * 9 + b"\x7f", "too large"),
        (b"\x19\xf8\xff\xff\x7f", "end too soon"),
        (b"\x1b\xff\xff\x7f", "end too soon"),
        (b"\x1c" * 1_000_000, "nested too deep"),
        (b"\x19" * 1_000_000, "nested too deep"),
        (b"\x1e", "a type that is none"),
        (b"\x15\2\x18\1a", "another type"),
        # 2,000 trues in a field that nobody knows; of 2 MB it took seconds.
        (struct((20, LIST, b"\xf1" + varint(2_000) + b"\1" * 2_000)), "too much that is not known"),
    ],
    ids=range(11),
)
def test_notes_that_are_none(data: bytes, says: str) -> None:
    with pytest.raises(ThriftError, match=says):
        read(data, {2: (INT,)})


def test_a_folder_named_as_the_users_own_folder_is_read_from(here: Path) -> None:
    (here / "~").mkdir()
    (here / "~" / "a.parquet").write_bytes(written())
    found = parquet.scan(Path("~/a.parquet"), OWN).collect()
    assert found.height == ROWS
