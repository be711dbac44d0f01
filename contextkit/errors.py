"""Errors of :mod:`contextkit`, and the exit codes they stand for.

::

    ContextkitError                 exit code 2
    |-- ArgumentError               a bad argument (also a ValueError)
    |-- TableError                  a shipped or supplied table that cannot be used (also a ValueError)
    |-- FormatError                 input that is no conversation this package can read (also a ValueError)
    |-- RequestError                a request that its provider would refuse; carries every violation
    |-- TranscriptError             a transcript file that cannot be read or saved
    |-- RecallError                 an original that the store does not hold
    |-- SummaryError                a summariser that failed; nothing was changed
    `-- DoesNotFitError             exit code 3: nothing left to take, and still too large

Every message says what was given, what is allowed and what to do.
"""

EXIT_OK = 0
EXIT_BAD_INPUT = 2
EXIT_DOES_NOT_FIT = 3


class ContextkitError(Exception):
    """Base of every deliberate error of this package."""

    exit_code = EXIT_BAD_INPUT


class ArgumentError(ContextkitError, ValueError):
    """Say that an argument is outside what is allowed."""


class TableError(ContextkitError, ValueError):
    """Say that a table of facts cannot be used."""


class FormatError(ContextkitError, ValueError):
    """Say that input is no conversation that this package can read."""


class RequestError(ContextkitError):
    """Say that a request breaks its provider's rules.

    Attributes
    ----------
    violations
        Every broken rule with its place.
    """

    def __init__(self, form: str, violations: tuple[str, ...]) -> None:
        self.form, self.violations = form, violations
        more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
        super().__init__(f"the {form} request breaks {len(violations)} provider rule(s): {violations[0]}{more}")


class TranscriptError(ContextkitError):
    """Say that a transcript file cannot be read or saved."""


class RecallError(ContextkitError):
    """Say that the recall store does not hold an original, or not intact."""


class SummaryError(ContextkitError):
    """Say that a summariser failed; the conversation is as it was."""


class DoesNotFitError(ContextkitError):
    """Say that a conversation cannot be made to fit, with the numbers and what would help.

    Attributes
    ----------
    limit_tokens, needed_tokens
        What the window leaves for the prompt, and what the parts that no rung may touch still take.
    remedies
        What the caller can do about it.
    """

    exit_code = EXIT_DOES_NOT_FIT

    def __init__(self, message: str, *, limit_tokens: int, needed_tokens: int, remedies: tuple[str, ...]) -> None:
        self.limit_tokens, self.needed_tokens, self.remedies = limit_tokens, needed_tokens, remedies
        super().__init__(f"{message}; what would help: {'; '.join(remedies)}")
