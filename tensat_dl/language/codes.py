"""The codes of the language stage, each with its title; `explain` has their pages.

Codes are stable: a code is never given another meaning.  Syntax errors (E01) are the syntax
stage's.
"""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    # names and imports
    "E0201": "a name that nothing declares",
    "E0202": "an operator that the language does not know",
    "E0203": "a name declared twice",
    "E0204": "a name that the language keeps for itself",
    "E0205": "a file that cannot be imported",
    "E0206": "files that import each other",
    "E0207": "an imported name that the file does not declare",
    "E0208": "a function that nothing declares",
    "E0209": "an unknown annotation",
    "E0210": "an annotation with wrong arguments",
    "E0211": "a name of another kind than is needed here",
    "E0212": "a declaration that needs itself",
    "E0213": "an expression that grows beyond measure when it is written out",
    # arity, attributes, types
    "E0301": "a required attribute is missing",
    "E0302": "an attribute that the operator does not have",
    "E0303": "too many inputs",
    "E0304": "too few inputs",
    "E0305": "an attribute given by position",
    "E0306": "an attribute of another type",
    "E0307": "an argument given twice",
    "E0308": "an optional input where none can be",
    "E0309": "a starred argument where none can be",
    "E0310": "a wrong number of outputs",
    "E0311": "a tensor where a value is needed, or a value where a tensor is needed",
    "E0312": "a wrong number of arguments",
    "E0313": "not a condition",
    "E0314": "an attribute that follows from the inputs",
    "E0315": "an unknown element type",
    "E0316": "a type that cannot be written so",
    "E0317": "members of a class that differ in their inputs",
    "E0318": "an incomplete declaration of an operator",
    "E0319": "an unknown sort of a parameter",
    "E0320": "an expression where a tensor is needed",
    "E0321": "a constant without an element type",
    "E0322": "a constant that its element type cannot hold",
    # binding and safety
    "E0401": "a name on the right that the left does not bind",
    "E0402": "an output of the match that `emit` does not assign",
    "E0403": "an output assigned twice",
    "E0404": "a name that the pattern does not bind",
    "E0405": "an assignment to what is not an output of the match",
    "E0406": "a left side that matches every tensor",
    "E0408": "one name for two kinds of things",
    "E0409": "`not` on a relation",
    "E0410": "a relation inside a condition",
    "E0411": "a condition that equality saturation cannot express",
    "E0412": "a member or a key of `match each` written as the other",
    "E0413": "a derived fact about a name that the body does not bind",
    "E0414": "a tensor that may be absent where one is needed",
    "E0415": "a left side that is no pattern",
    "E0416": "a tensor with the name of a dim",
    "E0417": "a `let` that binds a bound name",
    "E0418": "`*F(..)` that does not vary in exactly one list",
    # shapes
    "E0501": "a rule that changes a type",
    "E0502": "a right side that has no type",
    "E0503": "two types that one tensor cannot have",
    "E0504": "a left side that can never match",
    # schedules
    "E0601": "a schedule that names nothing",
    "E0602": "a schedule or ruleset that contains itself",
    "E0603": "an expansive rule without a limit",
    "E0604": "a limit or count that allows nothing",
    # tests
    "E0703": "a test value whose type leaves something open",
    "E0704": "a claim about a name that the test does not give",
    # warnings
    "W0401": "captured attributes that the right side drops",
    "W0402": "a rule whose sides are the same",
    "W0403": "a rule that repeats another",
    "W0404": "an annotation without effect",
    "W0405": "an attribute that is named and never used",
    "W0406": "a rule that follows from another",
    "W0407": "a rule that feeds itself",
    "W0408": "a rule that can lower no cost",
    "W0409": "a condition on a spelling that is never kept",
    "W0601": "a schedule that does not run",
}
