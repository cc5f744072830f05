"""Turns a parser's failure into one diagnostic in a rule author's words.

Enters: Lark's exception, the file, and where the failed stretch of text starts.  Leaves: a
:class:`Diagnostic`.  Lark's own texts are never used.
"""

from __future__ import annotations

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from tensat_dl.diagnostics import Diagnostic, Label, SourceFile, Span
from tensat_dl.syntax import wording
from tensat_dl.syntax.advice.place import Place
from tensat_dl.syntax.advice.table import advise
from tensat_dl.syntax.brackets import CLOSING, open_brackets
from tensat_dl.syntax.characters import stray_character, unclosed_string
from tensat_dl.syntax.grammar import ITEM_WORDS, MAX_NESTING, RESERVED, SOFT_WORDS, TooDeepError

_CLOSERS = {"RPAR": ")", "RSQB": "]", "RBRACE": "}"}
_ENDS = frozenset({"$END", "ARROW", "BOTH_WAYS", *_CLOSERS})


class Fault:
    """One failure of the parser: where, what was found, what would have been accepted."""

    def __init__(
        self,
        error: UnexpectedInput | TooDeepError,
        file: SourceFile,
        start: int,
        previous: Token | None,
    ) -> None:
        """`start` is where the failed parse began, `previous` the last token that was taken."""
        self.previous = previous
        self.file = file
        self.error = error
        self.token = error.token if isinstance(error, UnexpectedToken) else None
        self.offset = _offset(error, file)
        self.accepted: frozenset[str] = frozenset()
        if isinstance(error, UnexpectedToken):
            self.accepted = frozenset(error.accepts)
        self.open = open_brackets(file, start, self.offset)

    @property
    def between_items(self) -> bool:
        """True when the previous item was complete."""
        return wording.between_items(self.accepted)

    @property
    def found(self) -> str:
        """The text of the token that was not expected."""
        return "" if self.token is None else str(self.token)

    def describe(self) -> Diagnostic:
        """The diagnostic for this failure."""
        if isinstance(self.error, TooDeepError):
            return self._too_deep()
        if isinstance(self.error, UnexpectedCharacters) or self.token is None:
            return stray_character(self.file, self.offset)
        return (
            self._open_string()
            or self._bracket(self.token)
            or self._reserved(self.token)
            or self._swallowed_word()
            or self._general(self.token)
        )

    # --- the kinds of mistake ---------------------------------------------------------------

    def _too_deep(self) -> Diagnostic:
        return Diagnostic(
            "E0110",
            f"brackets nest deeper than {MAX_NESTING} levels",
            Span(self.file, self.offset, self.offset + 1),
            help="name parts of the expression with `let`, or split the rule",
        )

    def _open_string(self) -> Diagnostic | None:
        """`mode="reflect) => Pad(x, mode="`: the string ran on to the next quote of its line."""
        string = self.previous
        if string is None or string.type != "STRING" or string.end_pos != self.offset:
            return None
        rest = self.file.text[self.offset :].partition("\n")[0]
        if rest.count('"') % 2 == 0:
            return None
        span = Span(self.file, int(string.start_pos or 0), self.offset)
        return unclosed_string(span, 'goes on to the next `"` of the line')

    def _bracket(self, token: Token) -> Diagnostic | None:
        """A bracket that nothing closes, or that closes nothing."""
        closer = _CLOSERS.get(token.type)
        if not self.open:
            return self._closes_nothing(token) if closer else None
        opener = self.open[-1]
        bracket = self.file.text[opener.start]
        wanted = CLOSING[bracket]
        if closer == wanted:
            return None
        if closer and not self._is_open(closer):
            here = Label(opener, "opened here")
            message = f"expected `{wanted}`, found `{closer}`"
            return Diagnostic("E0106", message, self._span(token), "closes nothing", (here,))
        is_end = token.type in _ENDS or self._starts_item(token)
        if not is_end or not self._accepts_closer(wanted):
            return None
        here = Label(self._span(token), f"`{wanted}` is missing before this")
        message = f"`{bracket}` is never closed"
        return Diagnostic("E0106", message, opener, "opened here", (here,))

    def _is_open(self, closer: str) -> bool:
        return any(CLOSING[b.file.text[b.start]] == closer for b in self.open)

    def _closes_nothing(self, token: Token) -> Diagnostic:
        message = f"`{token}` closes nothing"
        return Diagnostic("E0106", message, self._span(token), help="remove it")

    def _reserved(self, token: Token) -> Diagnostic | None:
        """A word of the language where a name is expected."""
        word = str(token)
        if word not in RESERVED | SOFT_WORDS or "NAME" not in self.accepted:
            return None
        clause = word in ("where", "let") and self._starts_line(self.offset)
        if clause or self._starts_item(token):
            return None
        return Diagnostic(
            "E0103",
            f"`{word}` is a word of the language and cannot be a name here",
            self._span(token),
            label="a keyword",
            help=f"choose another name, for example `{word}_`",
        )

    def _swallowed_word(self) -> Diagnostic | None:
        """`given q =` and, on the next line, `expect ..`: the word was read as a name."""
        word = self.previous
        if word is None or word.type != "NAME" or str(word) not in SOFT_WORDS:
            return None
        start = int(word.start_pos or 0)
        if not self._starts_line(start):
            return None
        span = Span(self.file, start, start + len(word))
        return Diagnostic(
            "E0103",
            f"expected an expression, found the word `{word}` of the language",
            span,
            label="read as a name here",
            help="complete the line before it, or choose another name",
        )

    def _general(self, token: Token) -> Diagnostic:
        found = wording.found(token.type, str(token))
        expected = wording.expected(self.accepted)
        return Diagnostic(
            "E0101",
            f"expected {expected}, found {found}",
            self._span(token),
            label="unexpected",
            related=self._related(),
            help=advise(self._place(token)),
        )

    def _place(self, token: Token) -> Place:
        return Place(
            self.file,
            self.offset,
            token.type,
            str(token),
            self.previous,
            self.accepted,
            tuple(self.open),
        )

    def _related(self) -> tuple[Label, ...]:
        if not self.open:
            return ()
        opener = self.open[-1]
        bracket = self.file.text[opener.start]
        if bracket == "{" or not self._accepts_closer(CLOSING[bracket]):
            return ()
        return (Label(opener, f"this `{bracket}` is still open"),)

    # --- places -----------------------------------------------------------------------------

    def _accepts_closer(self, text: str) -> bool:
        return any(kind in self.accepted for kind, closer in _CLOSERS.items() if closer == text)

    def _span(self, token: Token) -> Span:
        return Span(self.file, self.offset, self.offset + len(str(token)))

    def _starts_item(self, token: Token) -> bool:
        return str(token) in ITEM_WORDS and self._starts_line(self.offset)

    def _starts_line(self, offset: int) -> bool:
        line = self.file.text.rfind("\n", 0, offset) + 1
        return not self.file.text[line:offset].strip()


def _offset(error: UnexpectedInput | TooDeepError, file: SourceFile) -> int:
    if isinstance(error, TooDeepError):
        return error.offset
    if isinstance(error, UnexpectedToken):
        token = error.token
        place = token.end_pos if token.type == "$END" else token.start_pos
        return int(place or 0)
    if isinstance(error, UnexpectedCharacters):
        return int(error.pos_in_stream or 0)
    return len(file.text)
