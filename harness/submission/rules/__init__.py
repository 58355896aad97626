"""What is looked at in a submission: every rule by its code.

A rule's whole story (code, severity, text, cure, example) stands in its declaration, in `files`,
`rows` or `lists`; messages, ``harness list checks`` and docs/submission-checks.md read it.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.submission.rules import files, lists, rows
from harness.submission.rules.rule import Rule

RULES: Mapping[str, Rule] = {rule.code: rule for rule in (*files.RULES, *rows.RULES, *lists.RULES)}
OF_FAULT: Mapping[int | str, str] = {
    rule.fault: rule.code for rule in RULES.values() if rule.fault is not None
}
"""The code of the rule that each fault belongs to, of a line or of a file that is refused."""
EXAMPLES: Mapping[str, bytes] = {
    rule.code: rule.example for rule in RULES.values() if rule.example is not None
}
"""The bad file of each rule that has one, by code."""
