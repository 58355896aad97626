"""Rules of rows and of users' ids: SUB2."""

from __future__ import annotations

from harness.delimited import tally
from harness.submission import faults
from harness.submission.rules.rule import GOOD, Rule, bob, id_rule, line_rule

RULES = (
    Rule(
        "SUB201",
        "missing ids",
        "missing ids: {count}, first {values}",
        "write a row for each",
        column="user",
        fixed=True,
        of_lists=True,
        example=GOOD.replace("bob,0706016003\n", "").encode(),
    ),
    id_rule(
        "SUB202",
        "unknown ids",
        "{value} is none of the ids that are asked for",
        "write the id as it is asked for; drop the row only if its user is not asked for",
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
        fault=tally.TOO_FEW,
        example=bob("bob"),
    ),
    line_rule(
        "SUB205",
        "too many fields",
        "the line has too many fields",
        "{apart}",
        fault=tally.TOO_MANY,
        example=bob("bob,0706016003,0706016001"),
    ),
    line_rule(
        "SUB206",
        "blank lines",
        "the line is blank",
        "drop it",
        severity="warning",
        fault=tally.BLANK,
        fixed=True,
        example=bob("\nbob,0706016003"),
    ),
    id_rule(
        "SUB207",
        "padded ids",
        "spaces stand around {value}",
        "write ids as they are{unless}",
        fault=faults.PADDED_ID,
        fixed=True,
        example=bob("bob ,0706016003"),
    ),
    id_rule(
        "SUB208",
        "empty ids",
        "the id is empty",
        "write the id of its user",
        fault=faults.NO_ID,
        example=bob(",0706016003"),
    ),
    id_rule(
        "SUB209",
        "damaged ids",
        "{value} is damaged (zeros, .0, exponent, quotes, case, encoding, or what nobody can see)",
        "write ids as text, as they are asked for{unless}",
        fault=faults.MANGLED_ID,
        fixed=True,
        example=bob("'bob',0706016003"),
    ),
    id_rule(
        "SUB210",
        "odd ids",
        "{value} does not look like an id of this competition",
        "compare it with the sample submission",
        severity="warning",
        fault=faults.ODD_ID,
        example=bob("bob,0706016003\nA3,0706016001"),
    ),
    id_rule(
        "SUB211",
        "rows again",
        "the row of {value} stands there again",
        "write it once",
        fixed=True,
        example=bob("bob,0706016003\nbob,0706016003"),
    ),
    Rule(
        "SUB212",
        "no known id",
        "none of the ids is asked for: {value}",
        "check the file against its own competition, or write the ids that are asked for",
        blocks=True,
        example=b"customer_id,prediction\nyve,0706016001 0706016002\nzoe,0706016003\n",
    ),
    Rule(
        "SUB213",
        "case of all ids",
        "none of the ids is asked for in this case: {value}",
        "write upper and lower case as they are asked for",
        fixed=True,
        example=b"customer_id,prediction\nANN,0706016001 0706016002\nBOB,0706016003\n",
    ),
    Rule(
        "SUB214",
        "ids beyond the sample",
        (
            "users of the evaluation set or solution, {count} beyond the ids that must be there: "
            "first {values}"
        ),
        (
            "they count here; a host that asks for the sample's ids alone would refuse them: for "
            "an upload drop the rows, or write it with harness submit --all-events"
        ),
        severity="warning",
        column="user",
    ),
    id_rule(
        "SUB215",
        "look-alike ids",
        "{value} is not known, and looks like an id that has a row, too",
        "if both are one user, give that user one row, under the known id; else leave them",
        severity="warning",
        example=bob("bob,0706016003\nBob,0706016001"),
    ),
)
