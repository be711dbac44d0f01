"""Errors of :mod:`glyphraster`, and the exit codes they stand for.

::

    GlyphrasterError            exit code 2
    |-- ArgumentError       a bad argument (also a ValueError)
    |-- FontError           a font source or font file that cannot be used (also a ValueError)
    |-- ProfileError        a profile table that cannot be used (also a ValueError)
    |-- PngError            bytes that are not a PNG this package can decode (also a ValueError)
    |-- ReadError           pages that cannot be read back exactly (also a ValueError)
    `-- EngineError         an engine that cannot run here

Every message says what was given, what is allowed and what to do.
"""


EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2


class GlyphrasterError(Exception):
    """Base of every deliberate error of this package."""

    exit_code = EXIT_BAD_INPUT


class ArgumentError(GlyphrasterError, ValueError):
    """Say that an argument is outside what is allowed."""


class FontError(GlyphrasterError, ValueError):
    """Say that a font source or a font file cannot be used."""


class ProfileError(GlyphrasterError, ValueError):
    """Say that a row of a profile table cannot be used."""


class PngError(GlyphrasterError, ValueError):
    """Say that bytes are not a PNG that this package can decode."""


class ReadError(GlyphrasterError, ValueError):
    """Say that pages cannot be read back exactly."""


class EngineError(GlyphrasterError):
    """Say that a drawing engine cannot run on this installation."""
