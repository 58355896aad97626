"""What is wrong with a submission, in plain Python: slow, and easy to check against the texts."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from harness.core.errors import visible
from harness.metrics import mapk

USERS = ["ann", "bob", "cem"]
ITEMS = ["0706016001", "0706016002", "0706016003"]
K = 12
WORDS = {"nan", "none", "null", "na", "n/a", "<na>", "nat", "nil"}
QUOTES = "'\"`´‘’“”„«»"
SEPARATORS = re.compile("[,;|\t\n\r \u00a0\u2000-\u200f\u3000]")

Brief = tuple[int | None, str, int, int]
Fault = tuple[str, str]


def reference(content: str) -> dict[str, Brief]:
    """Return for every code: the first line and value, how many there are, lines with any."""
    text = content.partition("\n")[2]
    briefs: dict[str, Brief] = {}
    if not text:
        briefs["SUB004"] = (None, "", 1, 1)
    elif not text.endswith("\n"):
        briefs["SUB012"] = (None, "", 1, 1)
        text += "\n"
    rows = list(records(text))
    torn = [f[0] for _, f, _ in rows if len(f) != 2 and f]
    users = [(line, f[0]) for line, f, _ in rows if len(f) == 2 and f[0].strip(" \t\r")]
    there = {*USERS} & {*torn, *(user.strip(" \t\r") for _, user in users)}
    faults = [(line, fault) for line, fields, odd in rows for fault in of_line(fields, odd, there)]
    names = {line: user.strip(" \t\r") for line, user in users}
    known = {name if who(name) in there else who(name) for name in names.values()}
    held = {line: f[1] for line, f, _ in rows if len(f) == 2}
    for n_before, (line, user) in enumerate(users):
        before = [held[other] for other, _ in users[:n_before] if names[other] == names[line]]
        if before:
            faults.append((line, ("SUB211" if before[0] == held[line] else "SUB203", user)))
    for code in {fault[0] for _, fault in faults}:
        places = [(line, value) for line, (name, value) in faults if name == code]
        briefs[code] = (
            places[0][0],
            shown(places[0][1]),
            len(places),
            len({line for line, _ in places}),
        )
    lists = [[word for word in f[1].split(" ") if word] for _, f, _ in rows if len(f) == 2]
    missing = [user for user in USERS if user not in known and user not in torn]
    if missing:
        briefs["SUB201"] = (None, missing[0], len(missing), len(missing))
    strange = [shown(value) for _, (code, value) in faults if code == "SUB202"]
    if strange and not {*known, *torn} & {*USERS}:
        value = f'found "{strange[0]}", expected "{USERS[0]}"'
        briefs["SUB212"] = (None, value, 1, 1)
    damaged = [value for _, (code, value) in faults if code == "SUB209"]
    exact = [user for _, user in users if user in USERS]
    by_case = damaged and not exact
    by_case = by_case and all(who(v) == seen(v).casefold() != seen(v) for v in damaged)
    if by_case and "SUB212" not in briefs:
        value = f'found "{shown(damaged[0])}", expected "{who(damaged[0])}"'
        briefs["SUB213"] = (None, value, 1, 1)
    totals = {
        "SUB010": len(re.findall("\r(?!\n)", text)),
        "SUB401": len(lists) if len(lists) > 1 and all(x == lists[0] for x in lists) else 0,
        "SUB404": len(lists) if len(lists) > 1 and all(len(x) < 2 for x in lists) else 0,
    }
    return briefs | {code: (None, "", n, n) for code, n in totals.items() if n > 0}


def records(text: str) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield rows: the physical line each begins on, its fields, what is wrong with its quotes."""
    line, start = 2, 0
    while start < len(text):
        end, fields, whole, torn = record(text, start, True)
        odd = [] if whole else ["SUB011"]
        if not whole:
            end, fields, whole, torn = record(text, start, False)
        yield line, fields, odd + ["SUB017"] * torn
        line += text.count("\n", start, end)
        start = end


def record(text: str, start: int, quoted: bool) -> tuple[int, list[str], bool, bool]:
    """Return where the next record begins, fields, whether it is whole, and torn."""
    fields, torn = [], False
    while True:
        field = re.compile('"((?:[^"]|"")*)"(?!")' if quoted else "(?!)").match(text, start)
        if field is None and quoted and text.startswith('"', start):
            return len(text), fields, False, torn
        start = start if field is None else field.end()
        inner = "" if field is None else field[1].replace('""', '"')
        rest = re.compile("[^,\n]*").match(text, start)
        assert rest is not None
        torn |= field is not None and rest[0].strip("\r") != ""
        fields.append(inner + rest[0])
        start = rest.end() + 1
        if text[start - 1] == "\n":
            fields[-1] = fields[-1].removesuffix("\r")
            return start, fields, True, torn


def of_line(fields: list[str], odd: list[str], there: set[str]) -> Iterator[Fault]:
    """Yield what is wrong with a row; `there` are the users who have one under their own id."""
    yield from ((code, "") for code in odd)
    if len(fields) != 2:
        line = ",".join(fields)
        blank = line.strip(" \t\r") == ""
        yield ("SUB206" if blank else "SUB204" if len(fields) < 2 else "SUB205"), line
        return
    yield from of_user(fields[0], there)
    yield from of_list(fields[1])


def of_user(cell: str, there: set[str]) -> Iterator[Fault]:
    user = cell.strip(" \t\r")
    if not user:
        yield "SUB208", cell
        return
    if user not in USERS and who(user) in there:
        yield from (("SUB202", user), ("SUB215", user))
    elif user not in USERS and who(user) in USERS and who(user) == user.strip():
        yield "SUB207", cell  # spaces of another kind
    elif user not in USERS:
        yield ("SUB209" if who(user) in USERS else "SUB202"), user
    elif user != cell:
        yield "SUB207", cell


def who(cell: str) -> str:
    """Return the user that an id means, or the id."""
    user = cell.strip(" \t\r")
    bare = undressed(user)[0]
    if bare in USERS and user not in USERS:
        return bare
    alike = meant(bare or user, USERS) if user not in USERS else []
    return alike[0] if alike else user


def meant(text: str, known: Iterable[str], *, joined: bool = True) -> list[str]:
    """Return the known ids, none of them an exponent, that a text may stand for."""
    spellings = forms(text, joined=joined)
    return sorted(other for other in known if spellings & (forms(other) | rounded(other)))


def rounded(number: str) -> set[str]:
    """Return a number as exponents have it, of one digit and more."""
    if not number.isdigit():
        return set()
    texts = (f"{int(number):.{digits}e}" for digits in range(12))
    return {text for number_text in texts for text in (number_text, number_text.replace(".", ","))}


def seen(text: str) -> str:
    """Return text without what nobody can see."""
    return "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf"))


def forms(text: str, *, joined: bool = True) -> set[str]:
    spaces = (" ", "" if joined else " ")
    spaced = {re.sub(r"[^\S ]", space, seen(text)).strip() for space in spaces}
    bare = {s.lstrip(QUOTES).rstrip(QUOTES if s[:1] in QUOTES else "").strip() for s in spaced}
    folded = {unicodedata.normalize("NFC", word.casefold()) for word in bare}
    whole = {re.sub(r"^(-?[0-9]+)\.0+$", r"\1", word) for word in folded}
    return {re.sub("^0+([0-9]+)$", r"\1", word) for word in whole} - {""}


def of_list(cell: str) -> Iterator[Fault]:
    words = [word for word in cell.split(" ") if word]
    if not words:
        yield "SUB301", cell
        return
    if len(words) > K:
        yield "SUB302", cell
    if " ".join(words) != cell:
        yield "SUB311", cell
    for n, word in enumerate(words):
        if word in words[:n]:
            yield "SUB303", word
        yield from ((code, word) for code in of_item(word))


def of_item(word: str) -> list[str]:
    if word in ITEMS:
        return []
    bare, codes = undressed(word)
    whole = bare.partition(".")[0]
    restored = re.fullmatch(r"\d+(\.0+)?", bare, re.ASCII) and whole.zfill(10) in ITEMS
    if alike := [] if restored else meant(bare or word, ITEMS, joined=False):
        code = how(bare or word, alike[0])
        return codes if code in codes else [*codes, code]
    if not bare:
        return codes or ["SUB304"]
    if bare.lower() in WORDS:
        return [*codes, "SUB308"]
    if re.fullmatch(r"\d+([.,]\d*)?[eE]\+?\d+", bare, re.ASCII):
        return [*codes, "SUB307"]
    if SEPARATORS.search(bare):
        return [*codes, "SUB309"] if "SUB309" not in codes else codes
    if "'" in bare or '"' in bare:
        return [*codes, "SUB310"] if "SUB310" not in codes else codes
    if not re.fullmatch(r"\d+(\.0+)?", bare, re.ASCII):
        return [*codes, "SUB304"]
    codes += ["SUB306"] * ("." in bare)
    if whole.zfill(10) not in ITEMS:
        return [*codes, "SUB304"]
    return codes + ["SUB305"] * (len(whole) < 10)


def how(word: str, item: str) -> str:
    """Return what happened to an item that stands for another."""
    bare = seen(word).strip()
    if re.fullmatch(r"\d([.,]\d+)?[eE]\+\d+|\d\.\d+[eE]\d+", bare):
        return "SUB307"
    if re.fullmatch(r"\d+\.0+", bare.strip(QUOTES)):
        return "SUB306"
    if bare[0] in QUOTES:
        return "SUB310"
    return "SUB305" if bare.isdigit() and len(bare) < len(item) else "SUB317"


def undressed(word: str) -> tuple[str, list[str]]:
    """Return an id without brackets, quotes and commas around it, and what that is called."""
    bare, off = word.lstrip("[](){}'\""), ""
    off = word[: len(word) - len(bare)]
    while bare and bare[-1] in "[](){}'\",;":
        opener = {")": "(", "]": "[", "}": "{"}.get(bare[-1])
        if opener and opener in bare[:-1]:
            break
        off, bare = off + bare[-1], bare[:-1]
    if bare.startswith("np.") and bare.endswith(")") and len(bare) > 5:
        off, bare = off + "(", bare.partition("(")[2][:-1].strip("'\"")
    if not off:
        return bare, []
    return bare, ["SUB310" if set(off) & set("[](){}'\"") else "SUB309"]


def shown(value: str) -> str:
    return visible(value[:80]) + ("…" if len(value) > 80 else "")


def lists(content: str) -> dict[str, list[str]]:
    """Return the list of each user's first row whose id is written as it should be."""
    by_user: dict[str, list[str]] = {}
    text = content.partition("\n")[2]
    for _, fields, _ in records(text if not text or text.endswith("\n") else text + "\n"):
        if len(fields) == 2 and fields[0] in USERS:
            by_user.setdefault(fields[0], [word for word in fields[1].split(" ") if word])
    return by_user


def mean_average_precision(content: str, truth: dict[str, list[str]]) -> float:
    """Return MAP@12 of a file's lists, the mean over the users of the truth."""
    held = lists(content)
    return mapk(list(truth.values()), [held.get(user, []) for user in truth], K)
