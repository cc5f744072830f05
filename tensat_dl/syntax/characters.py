"""Messages for characters that no token of the language starts with.

Enters: the file and the place of the character.  Leaves: a diagnostic that says what to write
instead.
"""

from __future__ import annotations

import unicodedata

from tensat_dl.diagnostics import Diagnostic, SourceFile, Span

_INSTEAD = {
    "'": 'strings are written in double quotes: "valid"',
    "`": "names are written without quotes",
    ";": "nothing separates two statements; remove the `;`",
    "&": "write `and`",
    "!": "write `not`; `!=` compares",
    "^": "powers are written `**`",
    "~": "write `not`",
    "$": "names need no sign before them",
    "\\": "lines need no continuation sign",
    ".": "numbers are written `0.5` and `1.0`; a dot in a name stands between letters",
    "“": 'strings are written in straight quotes: "valid"',
    "”": 'strings are written in straight quotes: "valid"',
    "→": "write `=>`",
    "⇒": "write `=>`",
    "×": "write `*`",
    "≤": "write `<=`",
    "≥": "write `>=`",
    "≠": "write `!=`",
    "−": "write `-`",
    "–": "write `-`",
}


def stray_character(file: SourceFile, offset: int) -> Diagnostic:
    """A string without its end, or a character that means nothing here."""
    character = file.text[offset]
    if character == '"':
        return _open_string(file, offset)
    if file.text.startswith("...", offset):
        return _dots(file, offset)
    return Diagnostic(
        "E0102",
        f"unexpected character {_shown(character)}",
        Span(file, offset, offset + 1),
        help=_instead(character),
    )


def _dots(file: SourceFile, offset: int) -> Diagnostic:
    return Diagnostic(
        "E0102",
        "unexpected characters `...`",
        Span(file, offset, offset + 3),
        help="any number of dims is written `*B`, any number of inputs `*xs`",
    )


def _open_string(file: SourceFile, offset: int) -> Diagnostic:
    end = file.text.find("\n", offset)
    end = len(file.text) if end < 0 else end
    line = file.text[offset:end].rstrip()
    span = Span(file, offset, offset + len(line))
    return unclosed_string(span, 'no closing `"` on this line')


def unclosed_string(span: Span, label: str) -> Diagnostic:
    """A string whose closing quote was forgotten."""
    return Diagnostic(
        "E0104",
        "this string has no end",
        span,
        label=label,
        help=r'close it with `"`; a line break inside is written `\n`, a quote `\"`',
    )


def _shown(character: str) -> str:
    """The character, and its name where it cannot be seen or told apart."""
    if character.isascii() and character.isprintable():
        return f"`{character}`"
    name = unicodedata.name(character, "")
    code = f"U+{ord(character):04X}"
    described = f"{code} ({name.lower()})" if name else code
    return f"`{character}`, {described}" if character.isprintable() else described


def _instead(character: str) -> str:
    if character in _INSTEAD:
        return _INSTEAD[character]
    if character.isalnum():
        return "names are made of the letters a to z, digits and `_`"
    if not character.isprintable() or character.isspace():
        return "remove this invisible character"
    return ""
