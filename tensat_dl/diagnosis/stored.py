"""Changes among the metadata of the model that they led to, and back.

Enters: a model and its changes; later, the model alone.  Leaves: the model with one more entry of
metadata; the changes as the report has them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tensat_dl.diagnosis.changes import Added, Change
from tensat_dl.graph.source import Source, with_metadata

#: The key of the entry.
KEY = "tensat-dl.changes"


def store_changes(source: Source, changes: Sequence[Change], unit: str) -> Source:
    """The same model with its changes; `unit` is that of what each saves."""
    text = json.dumps({"unit": unit, "changes": [asdict(change) for change in changes]})
    return with_metadata(source, KEY, text)


def stored_changes(source: Source) -> dict[str, Any] | None:
    """`unit` and `changes`, None where the model has no entry that can be read."""
    text = next((e.value for e in source.proto.metadata_props if e.key == KEY), None)
    if text is None:
        return None
    try:
        found = json.loads(text)
        return {"unit": str(found["unit"]), "changes": [_known(c) for c in found["changes"]]}
    except (ValueError, TypeError, KeyError):  # somebody else wrote it
        return None


def _known(change: Any) -> dict[str, Any]:
    """One change, every part of its type."""
    added = [
        Added(str(a["operator"]), tuple(map(str, a["makes"])), tuple(map(str, a["rules"])))
        for a in change["added"]
    ]
    removed = tuple(map(str, change["removed"]))
    rules = tuple(map(str, change.get("rules", [rule for a in added for rule in a.rules])))
    kept, reasons = (tuple(map(str, change.get(key, ()))) for key in ("kept", "reasons"))
    return asdict(Change(removed, tuple(added), float(change["saved"]), rules, kept, reasons))
