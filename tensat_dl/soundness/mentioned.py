"""The operators that an instance applies, those inside lowerings included.

Enters: an instance.  Leaves: operators, or their names.
"""

from __future__ import annotations

from collections.abc import Iterator

from tensat_dl.egraph.build import BuildConstant
from tensat_dl.language.program import InputMap
from tensat_dl.soundness.instances import Instance
from tensat_dl.vocabulary.operators import Operator


def applied(instance: Instance) -> Iterator[Operator]:
    """Operators of both sides, as the rule writes them."""
    for match in instance.plan.left.matches:
        yield match.operator
        yield from (item.operator for item in match.inputs if isinstance(item, InputMap))
    for build, _ in instance.right:
        if not isinstance(build, BuildConstant):
            yield build.operator


def operators_of(instance: Instance) -> frozenset[str]:
    """Their names."""
    return frozenset(operator.name for operator in applied(instance))
