"""How a command ends: deliberate errors become one line on standard error and their exit code."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from glyphraster.errors import EXIT_BAD_INPUT, GlyphrasterError


def run_command(app: Callable[..., Any], name: str, *deliberate: type[Exception]) -> NoReturn:
    """Run a typer application on the arguments of the process, and leave with its exit code.

    Parameters
    ----------
    app
        The application.
    name
        What the user calls it; it starts every message.
    deliberate
        Bases of further errors to report, beside :class:`GlyphrasterError`; their ``exit_code`` counts, where they
        have one. Usage errors and errors of the file system are reported as well, with exit code 2; all other errors
        pass.

    Raises
    ------
    SystemExit
        Always.
    """
    from typer import BadParameter  # late: this module is cheap to import

    usage_error: type[Any] = BadParameter.__mro__[1]  # what does not parse; typer itself does not name the class
    reported: tuple[type[Exception], ...] = (GlyphrasterError, *deliberate)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file name need not be text
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False) or 0
    except usage_error as error:
        _fail(name, f"{error.format_message().rstrip('.')}; see {name} --help")
    except reported as error:
        _fail(name, str(error), getattr(error, "exit_code", EXIT_BAD_INPUT))
    except OSError as error:
        _fail(name, f"{error.filename or 'output'}: {error.strerror}; name a place that can be written")
    raise SystemExit(code)


def _fail(name: str, message: str, code: int = EXIT_BAD_INPUT) -> NoReturn:
    from typer import echo

    echo(f"{name}: {' '.join(message.splitlines())}", err=True)
    raise SystemExit(code)
