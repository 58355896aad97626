"""Rules of rows and of users' ids: SUB2."""

from __future__ import annotations

from harness.delimited import _delimited
from harness.submission import _kernels as faults
from harness.submission.rules.rule import GOOD, Rule, bob, id_rule, line_rule

RULES = (
    Rule(
        "SUB201",
        "missing ids",
        "missing ids: {count}, first {values}",
        "write one row for each",
        column="user",
        fixed=True,
        of_lists=True,
        example=GOOD.replace("bob,0706016003\n", "").encode(),
    ),
    id_rule(
        "SUB202",
        "unknown ids",
        "{value} is not one of the required ids",
        "write the id as required; remove the row only if its user is not required",
        fault=faults.UNKNOWN_ID,
        example=bob("bob,0706016003\nzoe,0706016001"),
    ),
    id_rule(
        "SUB203",
        "duplicate ids",
        "{value} has a row already",
        "give each user one row",
        example=bob("bob,0706016003\nbob,0706016001"),
    ),
    line_rule(
        "SUB204",
        "too few fields",
        "the line has too few fields",
        "write {allowed}",
        fault=_delimited.TOO_FEW,
        example=bob("bob"),
    ),
    line_rule(
        "SUB205",
        "too many fields",
        "the line has too many fields",
        "{apart}",
        fault=_delimited.TOO_MANY,
        example=bob("bob,0706016003,0706016001"),
    ),
    line_rule(
        "SUB206",
        "blank lines",
        "the line is blank",
        "remove it",
        severity="warning",
        fault=_delimited.BLANK,
        fixed=True,
        example=bob("\nbob,0706016003"),
    ),
    id_rule(
        "SUB207",
        "padded ids",
        "there are spaces around {value}",
        "write ids without spaces{unless}",
        fault=faults.PADDED_ID,
        fixed=True,
        example=bob("bob ,0706016003"),
    ),
    id_rule(
        "SUB208",
        "empty ids",
        "the id is empty",
        "write the id of the user",
        fault=faults.NO_ID,
        example=bob(",0706016003"),
    ),
    id_rule(
        "SUB209",
        "damaged ids",
        "{value} is damaged (zeros, .0, exponent, quotes, case, encoding or invisible characters)",
        "write ids as text, as required{unless}",
        fault=faults.MANGLED_ID,
        fixed=True,
        example=bob("'bob',0706016003"),
    ),
    id_rule(
        "SUB210",
        "odd ids",
        "{value} does not look like an id of this competition",
        "compare it with the required ids",
        severity="warning",
        fault=faults.ODD_ID,
        example=bob("bob,0706016003\nA3,0706016001"),
    ),
    id_rule(
        "SUB211",
        "repeated rows",
        "the row of {value} is repeated",
        "write it once",
        fixed=True,
        example=bob("bob,0706016003\nbob,0706016003"),
    ),
    Rule(
        "SUB212",
        "no known id",
        "none of the ids is known: {value}",
        "check that this is the right competition, or write the required ids",
        blocks=True,
        example=b"customer_id,prediction\nyve,0706016001 0706016002\nzoe,0706016003\n",
    ),
    Rule(
        "SUB213",
        "case of all ids",
        "the ids differ in upper and lower case: {value}",
        "write upper and lower case as required",
        fixed=True,
        example=b"customer_id,prediction\nANN,0706016001 0706016002\nBOB,0706016003\n",
    ),
    Rule(
        "SUB214",
        "ids beyond the sample",
        ("users of the evaluation set or solution that are not required: {count}, first {values}"),
        (
            "they count here, but a host that requires only the sample's ids would refuse them; "
            "for an upload, remove these rows, or write the file with harness submit --all-events"
        ),
        severity="warning",
        column="user",
    ),
    id_rule(
        "SUB215",
        "look-alike ids",
        "{value} is unknown and looks like an id that also has a row",
        "if both are one user, write one row with the known id; else leave them",
        severity="warning",
        example=bob("bob,0706016003\nBob,0706016001"),
    ),
)
