"""What the runtime refuses is kept, too: otherwise every run would try it again.

Enters: signatures of pieces, and a cost cache.  Leaves: those that an earlier run tried in vain
under the same setting.  It holds for what makes and runs the little models as that is now.
Large pieces are tried each time: there may only have been too little memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tensat_dl.cache import digest_of_makers
from tensat_dl.cost.measured.cache import CostCache
from tensat_dl.cost.measured.little_model import nbytes
from tensat_dl.cost.measured.machine import Setting
from tensat_dl.cost.measured.piece import Piece

#: More bytes than these may be missing.
_LARGE = 1 << 24


@dataclass(frozen=True)
class KeptRefusals:
    """Those in `costs`; `opsets` are those of the model that the pieces are of."""

    costs: CostCache
    setting: Setting
    opsets: Mapping[str, int]

    def load(self) -> set[str]:
        """The signatures that were refused.  Raises CacheFault."""
        return self.costs.refused(self.setting, self._maker)

    def keep(self, pieces: Mapping[str, Piece]) -> None:
        """Add those of these pieces, by signature.  Raises CacheFault."""
        small = [signature for signature, piece in pieces.items() if nbytes(piece) <= _LARGE]
        if small:
            self.costs.refuse(self.setting, self._maker, small)

    @property
    def _maker(self) -> str:
        """What makes the models, and at which versions of domains that the language has not."""
        domains = sorted((name, version) for name, version in self.opsets.items() if name)
        return f"{_code()} {domains}"


@cache
def _code() -> str:
    """A digest of the modules that make and run them."""
    here = Path(__file__).parent
    names = ("piece", "little_model", "optimised", "timer")
    return digest_of_makers(here / f"{name}.py" for name in names)
