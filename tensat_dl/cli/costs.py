"""`tensat-dl costs`: the measurements that `--cost measured` keeps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tensat_dl.cli import flags
from tensat_dl.cli.command import Command
from tensat_dl.errors import ExitCode, InputError, UsageError
from tensat_dl.sentences import counted

if TYPE_CHECKING:
    from tensat_dl.cost.measured.cache import CostCache

_FLAGS = (flags.COST_CACHE,)

#: What can be done, and whether it needs a file.
_ACTIONS = {"list": False, "export": True, "import": True, "clear": False}

_EPILOG = """\
examples:
  tensat-dl costs list
  tensat-dl costs export costs.json      all measurements, to take elsewhere (`-`: to stdout)
  tensat-dl costs import costs.json      where both have a time for the same, the lesser counts
                                         (`-`: from stdin)
  tensat-dl costs clear                  forget everything; the next run measures anew

A measurement holds for one processor, version of onnxruntime, number of threads and signature:
operator, attributes, types, which inputs are constants, and the values of shapes and axes.
Comparisons of whole models are kept beside them, and hold for the same two models.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=tuple(_ACTIONS), nargs="?", default="list", help="what to do (list)"
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="for export and import: JSON")
    flags.add_settings(parser, _FLAGS, dims=False)


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.cost.measured.cache import CacheFault, CostCache
    from tensat_dl.cost.measured.make import cache_path

    action, file = arguments.action, arguments.file
    if _ACTIONS[action] != (file is not None):
        wants = "needs a file" if _ACTIONS[action] else "takes no file"
        raise UsageError(f"`costs {action}` {wants}", help="`tensat-dl costs --help` has examples")
    settings = flags.read_settings(arguments, _FLAGS)
    cache = CostCache(cache_path(settings.cost.cache))
    try:
        _DO[action](cache, file or "")
    except CacheFault as fault:
        raise InputError(str(fault)) from None
    return ExitCode.OK


def _list(cache: CostCache, file: str) -> None:
    from tensat_dl.cli.tables import Block, Line, Table, print_blocks

    del file
    rows = cache.rows()
    compared = cache.comparisons()
    more = f", and {counted(compared, 'comparison')} of whole models" if compared else ""
    blocks: list[Block] = [Line(f"{counted(len(rows), 'measurement')} in {cache.path}{more}")]
    for machine, runtime in dict.fromkeys((row.machine, row.runtime) for row in rows):
        found = [row for row in rows if (row.machine, row.runtime) == (machine, runtime)]
        blocks.append(Line(f"{machine}; {runtime}", "bold"))
        table = [
            (f"{1e6 * row.seconds:,.2f}", str(row.threads or "all"), row.signature) for row in found
        ]
        blocks.append(Table((">microseconds", ">threads", "signature"), table))
    print_blocks(blocks, sys.stdout)


def _export(cache: CostCache, file: str) -> None:
    from tensat_dl.cost.measured.cache import to_content
    from tensat_dl.destination import check_report
    from tensat_dl.report import write_json

    check_report(file, [cache.path])
    rows = cache.rows()
    write_json(to_content(rows), file)
    place = "stdout" if file == "-" else file
    print(f"{counted(len(rows), 'measurement')} written to {place}", file=sys.stderr)


def _import(cache: CostCache, file: str) -> None:
    from tensat_dl.cost.measured.cache import CacheFault, from_text
    from tensat_dl.reading import UnreadableError, read_bytes

    try:
        content = sys.stdin.buffer.read() if file == "-" else read_bytes(Path(file))
        rows = from_text(content.decode("utf-8-sig"))
    except UnreadableError as reason:
        raise InputError(f"{file} {reason}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is no text") from None
    except CacheFault as fault:
        raise InputError(f"{file} cannot be imported: {fault}") from None
    cache.add(rows)
    print(f"{counted(len(rows), 'measurement')} added to {cache.path}")


def _clear(cache: CostCache, file: str) -> None:
    del file
    existed = cache.clear()
    print(f"{cache.path} {'removed' if existed else 'does not exist: nothing to clear'}")


_DO: Mapping[str, Callable[[CostCache, str], None]] = {
    "list": _list,
    "export": _export,
    "import": _import,
    "clear": _clear,
}

COMMAND = Command(
    "costs",
    "the measurements of --cost measured",
    "List, export, import or clear the times that --cost measured keeps.",
    _EPILOG,
    _add_arguments,
    _execute,
)
