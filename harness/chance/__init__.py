"""What a uniformly random ranking earns, exactly, and whether a model is more than that.

A room of its own: counts of candidates and truth come in; moments, cumulants and verdicts go out.
"""

from harness.chance.law import Law, law
from harness.chance.moments import Moments, exact, of_set
from harness.chance.verdict import Verdict, against_chance

__all__ = ["Law", "Moments", "Verdict", "against_chance", "exact", "law", "of_set"]
