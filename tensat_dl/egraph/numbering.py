"""Numbers for what is known of lists, so that questions and answers are rows of numbers.

Enters: the engine, where rules give lists their analyses.  Leaves: `(numbered ids)`, the number of
such a list.  A list of analyses stands in many questions; it is read out of the engine once.
"""

from __future__ import annotations

from collections.abc import Iterable

from tensat_dl.egraph.engine import Engine, Row
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.runs import rule_text

#: Finds the lists that have no number yet.
NUMBERS = "rs_numbers"
#: Every list of analyses that was found.
SEEN = "typed_lists"

DECLARATIONS = (
    f"(ruleset {NUMBERS})",
    f"(relation {SEEN} (Ids))",
    "(function numbered (Ids) i64 :merge old)",
    "(function vnumber (Tensors) i64 :merge old)",
    rule_text(["(= types (vtypes list))"], [f"({SEEN} types)"], NUMBERS, "typed-lists"),
    rule_text(
        ["(= types (vtypes list))", "(= number (numbered types))"],
        ["(set (vnumber list) number)"],
        NUMBERS,
        "numbered-lists",
    ),
)


def number_lists(engine: Engine, interner: Interner, found: Iterable[Row]) -> None:
    """Give their numbers to the lists `found`, new rows of the table SEEN."""
    rows = [((ids,), interner.list_id(ids)) for (ids,) in found]
    if rows:
        engine.set("numbered", rows)
        engine.run(NUMBERS)
