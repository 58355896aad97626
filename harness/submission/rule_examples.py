"""One bad file for each check, beside a good one: shown in the documents, and run by the tests."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Mapping

SAMPLE = "customer_id,prediction\nann,\nbob,\ncem,\n"
ITEMS = "article_id,name\n0706016001,shirt\n0706016002,shoe\n0706016003,hat\n"
GOOD = "customer_id,prediction\nann,0706016001 0706016002\nbob,0706016003\ncem,0706016002\n"

_LONG = """customer_id,article_id,rank
ann,0706016001,1
ann,0706016002,2
bob,0706016003,1
cem,0706016002,1
"""


def _bob(row: str) -> bytes:
    """Return the good file with another row of bob's."""
    return GOOD.replace("bob,0706016003", row).encode()


def _zip(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, GOOD)
    return packed.getvalue()


BAD: Mapping[str, bytes] = {
    "SUB003": b"",
    "SUB004": b"customer_id,prediction\n",
    "SUB005": _bob("bob,0706016003") + b"caf\xe9,0706016001\n",
    "SUB006": GOOD.encode("utf-16"),
    "SUB007": ("\ufeff" + GOOD).encode(),
    "SUB008": _bob("bob\0,0706016003"),
    "SUB009": GOOD.replace(",", ";").encode(),
    "SUB010": GOOD.replace("\n", "\r").encode(),
    "SUB011": _bob('bob,"0706016003'),
    "SUB012": GOOD.rstrip("\n").encode(),
    "SUB013": _zip("submission.csv", "notes.txt"),
    "SUB014": gzip.compress(GOOD.encode() + b"cem,0706016002\n" * (5 << 20)),
    "SUB015": gzip.compress(GOOD.encode())[:-9],
    "SUB016": b"Rar!\x1a\x07\x01\x00",
    "SUB017": _bob('"bob"s,0706016003'),
    "SUB101": GOOD.replace("prediction", "list").encode(),
    "SUB102": b"customer_id,prediction,note\nann,0706016001 0706016002,x\n",
    "SUB103": b"customer_id,prediction,prediction\nann,0706016001 0706016002,\n",
    "SUB104": b"prediction,customer_id\n0706016001 0706016002,ann\n",
    "SUB105": GOOD.replace(",prediction", ", prediction").encode(),
    "SUB106": GOOD.replace("customer_id", "Customer_ID").encode(),
    "SUB107": b",customer_id,prediction\n0,ann,0706016001 0706016002\n",
    "SUB109": b"ann,0706016001 0706016002\nbob,0706016003\ncem,0706016002\n",
    "SUB111": _LONG.replace("article_id,rank", "prediction,votes").encode(),
    "SUB201": GOOD.replace("bob,0706016003\n", "").encode(),
    "SUB202": _bob("bob,0706016003\nzoe,0706016001"),
    "SUB203": _bob("bob,0706016003\nbob,0706016001"),
    "SUB204": _bob("bob"),
    "SUB205": _bob("bob,0706016003,0706016001"),
    "SUB206": _bob("\nbob,0706016003"),
    "SUB207": _bob("bob ,0706016003"),
    "SUB208": _bob(",0706016003"),
    "SUB209": _bob("'bob',0706016003"),
    "SUB210": _bob("bob,0706016003\nA3,0706016001"),
    "SUB211": _bob("bob,0706016003\nbob,0706016003"),
    "SUB212": b"customer_id,prediction\nyve,0706016001 0706016002\nzoe,0706016003\n",
    "SUB213": b"customer_id,prediction\nANN,0706016001 0706016002\nBOB,0706016003\n",
    "SUB301": _bob("bob,"),
    "SUB302": _bob("bob," + "0706016003 " * 12 + "0706016003"),
    "SUB303": _bob("bob,0706016003 0706016003"),
    "SUB304": _bob("bob,0999999999"),
    "SUB305": _bob("bob,706016003"),
    "SUB306": _bob("bob,0706016003.0"),
    "SUB307": _bob("bob,7.06016E+08"),
    "SUB308": _bob("bob,nan"),
    "SUB309": _bob('bob,"0706016003,0706016001"'),
    "SUB310": _bob("bob,\"['0706016003', '0706016001']\""),
    "SUB311": _bob("bob,0706016003  0706016001"),
    "SUB312": _bob("bob,shirt"),
    "SUB313": _LONG.replace(",2\n", ",second\n").encode(),
    "SUB314": _LONG.replace(",2\n", ",1\n").encode(),
    "SUB315": _LONG.replace("rank", "score").replace(",2\n", ",1\n").encode(),
    "SUB316": _LONG.replace(",2\n", ",3\n").encode(),
    "SUB401": b"customer_id,prediction\n"
    + b"%s,0706016001 0706016002\n" * 3 % (b"ann", b"bob", b"cem"),
    "SUB404": b"customer_id,prediction\nann,0706016001\nbob,0706016003\ncem,0706016002\n",
}
