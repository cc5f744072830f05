"""For every rule of `std`: models on which it acts, and models on which it must not.

Texts are those of `small_models`.  Of a rule for several operators, `F` stands for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """`rule` without its operator; `fires`; `text`; `after`: rules that must act before;
    `specials`: also compare NaN and infinities (exact rules only)."""

    rule: str
    fires: bool
    text: str
    after: tuple[str, ...] = ()
    opset: int = 21
    specials: bool = True


def acts(rule: str, *texts: str, **more: object) -> list[Case]:
    return [Case(rule, True, text, **more) for text in texts]  # type: ignore[arg-type]


def rests(rule: str, *texts: str, **more: object) -> list[Case]:
    return [Case(rule, False, text, **more) for text in texts]  # type: ignore[arg-type]
