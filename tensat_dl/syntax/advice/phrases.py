"""Words that several pieces of advice share: how things are written, and what was nearly said."""

from __future__ import annotations

from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import wording
from tensat_dl.syntax.advice.place import Place

CLASS = "the operators are declared as a class: `class C = Relu | Abs`"
BLOCKS = "`rule` has blocks, `match { .. }` and `emit { .. }`; `rewrite` has `left => right`"
IMPORT = 'an import is written `import "path" as name` or `import "path" { a, b }`'
LIST = "a `,` stands between two of a list"
FUNCTION = "a function is written `fn twice(k: int) -> int = 2 * k`"


def close_word(place: Place) -> str:
    """The word of the language that is nearly this one, as a question; "" where there is none."""
    return did_you_mean(place.text, wording.words(place.accepted)) if len(place.text) > 1 else ""
