"""The codes of the syntax stage, each with its title.

Codes are stable: a code is never given another meaning.
"""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "E0101": "text that does not fit the grammar",
    "E0102": "a character that means nothing",
    "E0103": "a word of the language used as a name",
    "E0104": "a string without an end",
    "E0105": "an unknown escape in a string",
    "E0106": "a bracket without its partner",
    "E0107": "a documentation comment that documents nothing",
    "E0108": "a wrong or misplaced `language`",
    "E0109": "an import that takes nothing, or stands too late",
    "E0110": "an expression or a block that nests too deeply",
    "E0111": "a number that cannot be used",
    "E0112": "an input after an attribute",
    "E0113": "a clause or a limit that is unknown or stands twice",
    "E0114": "an expectation that tests do not know",
    "E0115": "a name or a parameter in a form that cannot stand here",
    "E0120": "a rule file that cannot be read",
}
