"""The cost model `measured`: seconds in onnxruntime, on this machine.

Enters: applications.  Leaves: their prices: what is known from earlier runs, and a lower bound for
the rest until :meth:`MeasuredModel.measure` is asked for it.  What cannot be timed alone keeps an
estimate.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tensat_dl.cost.measured.bounds import LeastWork, Speed, least_work
from tensat_dl.cost.measured.cache import CacheFault, CostCache
from tensat_dl.cost.measured.little_model import batches, little_model
from tensat_dl.cost.measured.machine import Setting
from tensat_dl.cost.measured.piece import Piece, piece_of
from tensat_dl.cost.measured.refusals import KeptRefusals
from tensat_dl.cost.measured.tally import Tally
from tensat_dl.cost.measured.timer import Timer, Timing
from tensat_dl.cost.measured.times import Times
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Chain, Part, Timed, parts_of
from tensat_dl.egraph.snapshot import Application
from tensat_dl.language.program import CheckedProgram
from tensat_dl.progress import Phase, Progress, ProgressEvent
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType

#: A chain takes at least this share of what a product in it takes alone.
FUSED_SHARE = 0.8

#: What shows the speed of the machine: the side of a product, the elements of copies.
_SIDE = 384
_ROWS = (1 << 12, 1 << 16, 1 << 20, 1 << 22)


@dataclass(frozen=True)
class Question:
    """What is asked of the machine for one part.  `signature` and `piece` are None where it
    cannot be timed alone; `work` is for the bound."""

    signature: str | None
    piece: Piece | None
    work: LeastWork


@dataclass
class MeasuredModel:
    """See the module.  `estimate` prices what cannot be timed; `budget` is in seconds of
    measuring; `margin`: the share by which what differs from the answer by estimates must be
    cheaper, as times are not exact; `notes` are for people.  `cache` None: nothing is kept."""

    program: CheckedProgram | None
    opsets: Mapping[str, int]
    sizes: SymbolSizes
    setting: Setting
    timer: Timer
    estimate: Callable[[Part], float]
    budget: float
    cache: CostCache | None
    margin: float = 0.0
    name: str = "measured"
    unit: str = "s"
    notes: list[str] = field(default_factory=list)
    spent: float = 0.0

    def __post_init__(self) -> None:
        self._times = Times()
        self._refused: set[str] = set()
        self._new: set[str] = set()
        self._confirmed: set[str] = set()
        self._questions: dict[Timed, Question] = {}
        self._speed = Speed()
        self._read_cache()

    @property
    def exhausted(self) -> bool:
        """The time for measuring is over."""
        return self.spent >= self.budget

    def price(self, timed: Timed) -> float:
        """Seconds of `timed`: measured, or a lower bound, or an estimate."""
        question = self._question(timed)
        known = self._times.get(question.signature)
        if known is not None:
            return min(known, self._one_by_one(timed))
        if self._is_estimated(question) or self.exhausted:
            return self._unfused(timed) if isinstance(timed, Chain) else self.estimate(timed)
        return max(self._speed.seconds(question.work), self._least_of_products(timed))

    def known_price(self, timed: Timed) -> float:
        """Its price where that is final, infinity where it is a bound."""
        return self.price(timed) if self.is_settled(timed) else math.inf

    def estimates(self, parts: Sequence[Timed]) -> list[float]:
        """What they count as when nothing is measured."""
        known = {timed: sum(map(self.estimate, parts_of(timed))) for timed in dict.fromkeys(parts)}
        return [known[timed] for timed in parts]

    def _one_by_one(self, timed: Timed) -> float:
        """A chain that is fused takes no longer than its end behind the rest, where these are
        known; if it seems to, that is noise, or it is not fused.  Else the original, which is its
        longest chains, would look dearer than an answer that may be either."""
        if not isinstance(timed, Chain):
            return math.inf
        shorter = (timed.inner, timed.outer)
        return sum(map(self.price, shorter)) if all(map(self.is_settled, shorter)) else math.inf

    def _unfused(self, chain: Chain) -> float:
        """A chain that cannot be timed as one is what its parts are."""
        return sum(map(self.price, chain.parts))

    def _least_of_products(self, timed: Timed) -> float:
        """Fusing adds to a product or convolution what follows it, and hardly takes any away."""
        if not isinstance(timed, Chain):
            return 0.0
        products = [self._question(part) for part in timed.parts]
        known = (self._times.get(q.signature) or 0.0 for q in products if q.work.flops)
        return FUSED_SHARE * max(known, default=0.0)

    def is_settled(self, timed: Timed) -> bool:
        """Its price is final, not a bound."""
        question = self._question(timed)
        if isinstance(timed, Chain) and self._is_estimated(question):
            return all(map(self.is_settled, timed.parts))
        return self._is_estimated(question) or self._times.get(question.signature) is not None

    def prices(self, parts: Sequence[Timed]) -> list[float]:
        """The prices of many at once: what is known of one tells on the bounds of all."""
        distinct = list(dict.fromkeys(parts))
        for part in (*_yardsticks(), *distinct):
            self._learn(self._question(part))
        known = {part: self.price(part) for part in distinct}
        return [known[part] for part in parts]

    def measure(self, parts: Iterable[Timed], progress: Progress) -> None:
        """Settle the prices of `parts`, as far as the time allows.

        An interruption loses nothing of what was measured before.
        """
        asked = list(parts)
        while not self.exhausted and (wanted := self._wanted(asked)):
            self._measure(wanted, progress)

    def _wanted(self, asked: Sequence[Timed]) -> dict[str, Piece]:
        """The pieces to be timed, by signature: of what is refused as one, the parts."""
        unsettled = [
            part
            for timed in asked
            for part in (parts_of(timed) if self._is_estimated(self._question(timed)) else (timed,))
            if not self.is_settled(part)
        ]
        if unsettled:
            missing = (part for part in _yardsticks() if not self.is_settled(part))
            unsettled = [*missing, *unsettled]
        return self._pieces(unsettled)

    def _pieces(self, parts: Iterable[Timed]) -> dict[str, Piece]:
        questions = map(self._question, parts)
        return {q.signature: q.piece for q in questions if q.signature and q.piece is not None}

    def measure_again(self, parts: Iterable[Timed], progress: Progress) -> bool:
        """Measure once more what this run has measured, each part once: the lesser time counts.
        False where there was nothing, or no time, left to do."""
        again = self._new - self._confirmed
        wanted = {s: piece for s, piece in self._pieces(parts).items() if s in again}
        self._confirmed.update(wanted)
        self._measure(wanted, progress, anew=True)
        return bool(wanted) and not self.exhausted

    def _measure(
        self, wanted: Mapping[str, Piece], progress: Progress, *, anew: bool = False
    ) -> None:
        before, started = self.spent, time.monotonic()
        found: set[str] = set()
        done = 0
        refused = set(self._refused)
        try:
            for batch in batches(wanted):
                if self.exhausted:
                    break
                found.update(self._time(batch, anew=anew))
                done += len(batch)
                elapsed = time.monotonic() - started
                self.spent = before + elapsed
                progress(ProgressEvent(Phase.MEASURE, elapsed, message=f"{done} of {len(wanted)}"))
        finally:
            self._store(found, {s: wanted[s] for s in self._refused - refused})

    def tally(self, parts: Iterable[Timed], rounds: int, symbols: Iterable[str]) -> Tally:
        """What stands behind the prices of `parts`; `symbols` are dims without a size."""
        questions = {part: self._question(part) for part in parts}
        estimated = {
            part.application.operator.qualified_name
            for timed, question in questions.items()
            for part in parts_of(timed)
            if self._is_estimated(question)
        }
        timed = {q.signature for q in questions.values() if not self._is_estimated(q)}
        known = {signature for signature in timed if self._times.get(signature) is not None}
        return Tally(
            setting=self.setting,
            used=len(known),
            cached=len(known - self._new),
            measured=len(self._new),
            estimated=tuple(sorted(estimated)),
            left=len(timed - known),
            rounds=rounds,
            seconds=self.spent,
            sizes={symbol: self.sizes.of(symbol) for symbol in symbols},
        )

    # --- questions ----------------------------------------------------------------------------

    def _question(self, part: Timed) -> Question:
        found = self._questions.get(part)
        if found is None:
            piece = piece_of(part, self.program, self.sizes)
            signature = None if piece is None else piece.signature
            found = Question(signature, piece, self._least_work(part))
            self._questions[part] = found
        return found

    def _least_work(self, timed: Timed) -> LeastWork:
        if isinstance(timed, Part):
            return least_work(timed, self.sizes)
        return self._question(timed.inner).work.followed_by(self._question(timed.outer).work)

    def _is_estimated(self, question: Question) -> bool:
        return question.signature is None or question.signature in self._refused

    def _learn(self, question: Question) -> None:
        known = self._times.get(question.signature)
        if known:
            self._speed.learn(question.work, known)

    # --- measuring ----------------------------------------------------------------------------

    def _time(self, pieces: Mapping[str, Piece], *, anew: bool) -> Collection[str]:
        """Time a batch; the signatures that have a time now.  Integers are ones, or zeros where
        ones are refused, as indices are."""
        found: dict[str, Timing] = {}
        for integer in (1, 0):
            made = {
                signature: little_model(piece, self.opsets, integer)
                for signature, piece in pieces.items()
                if signature not in found
            }
            models = {signature: model for signature, model in made.items() if model is not None}
            known = {} if anew else self._times.by_key
            timings = self.timer.time(list(models.values()), known) if models else []
            found |= {s: t for s, t in zip(models, timings, strict=True) if t is not None}
        for signature, timing in found.items():
            self._times.add(signature, timing.seconds, timing.key)
        if not anew:
            self._refused.update(pieces.keys() - found.keys())
        self._new |= found.keys()
        return found.keys()

    # --- the cache ----------------------------------------------------------------------------

    def _read_cache(self) -> None:
        if self.cache is None:
            return
        try:
            keys = self.cache.keys(self.setting)
            for signature, seconds in self.cache.load(self.setting).items():
                self._times.add(signature, seconds, keys.get(signature, ""))
            self._refused |= KeptRefusals(self.cache, self.setting, self.opsets).load()
        except CacheFault as fault:
            self._give_up_cache(fault, "this run measures without it")

    def _store(self, timed: Collection[str], refused: Mapping[str, Piece]) -> None:
        if self.cache is None:
            return
        times = self._times
        seconds = {s: found for s in timed if (found := times.get(s)) is not None}
        keys = {s: key for s in timed if (key := times.key(s))}
        try:
            if seconds:
                self.cache.store(self.setting, seconds, keys)
            KeptRefusals(self.cache, self.setting, self.opsets).keep(refused)
        except CacheFault as fault:
            self._give_up_cache(fault, "what this run measures is not kept")

    def _give_up_cache(self, fault: CacheFault, consequence: str) -> None:
        """The measurements of this run are used all the same, and lost at its end."""
        self.cache = None
        self.notes.append(f"{fault}; {consequence}")


def _yardsticks() -> list[Part]:
    """A product of matrices and copies of several sizes: as fast as the machine gets."""
    matmul, relu = catalog.operator("MatMul"), catalog.operator("Relu")
    assert matmul is not None and relu is not None
    square = TensorType(DType.F32, (_SIDE, _SIDE))
    product = Application(matmul, Attributes(), 1)
    copy = Application(relu, Attributes(), 1)
    rows = [TensorType(DType.F32, (row,)) for row in _ROWS]
    return [
        Part(product, (square, square), (square,), (False, True)),
        *(Part(copy, (row,), (row,), (False,)) for row in rows),
    ]
