"""Compiled kernels on disk, in a directory of the user's: a file for each kernel and signature.

numba's own cache lies beside the source, and lists the files of a function in an index. Processes that start on an
empty one race for it: two that compile the pack kernels of two widths may both call theirs file 1, and the index of one
then names the kernel of the other. Here the name of a file is all that the kernel depends on: who writes the same name
writes the same kernel.

A cache only ever helps. What is missing, damaged or another version's is compiled; what cannot be written is not kept.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import pickle
import sys
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal, NamedTuple

import llvmlite
import numba
from numba import njit
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from glyphraster.output import write_atomically

COMPILES = not config.DISABLE_JIT
"""Whether numba compiles at all: ``NUMBA_DISABLE_JIT=1`` leaves kernels as Python, a minute a page."""

KEEPING: ContextVar[bool] = ContextVar("KEEPING", default=True)
"""Whether what is compiled is written to the cache."""

_SOURCES = ("_kernels.py", "_vectors.py", "_lanes.py", "_kernel_cache.py")
_SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
"""Of numba's configuration: what changes the code that it makes."""
_DIGEST_BYTES = 32


class Use(NamedTuple):
    """How this process came by a kernel: its name and signature, and whether it was loaded, kept, or neither."""

    kernel: str
    signature: str
    how: Literal["loaded", "kept", "not kept"]


USES: list[Use] = []
"""Every kernel that this process loaded or compiled, in order."""


def kernel(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function when it is called first, or load it; ``name`` tells it from all other kernels."""

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher: Any = njit(nogil=True, boundscheck=False)(function)
        if COMPILES:
            dispatcher._cache = KernelCache(name)  # noqa: SLF001  (what `cache=True` does, with numba's own cache)
        return dispatcher  # type: ignore[no-any-return]

    return compiled


def cache_directory() -> Path | None:
    """Return where kernels are kept: under ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache directory.

    None where there is no home, or the package has no source to tell its version by.
    """
    own = Path(config.CACHE_DIR or AppDirs("glyphraster", appauthor=False).user_cache_dir)
    stamp = _stamp()
    if stamp is None or not (own.is_absolute() or config.CACHE_DIR):
        return None
    return own / "glyphraster-kernels" / stamp


@functools.cache
def _stamp() -> str | None:
    """Identify the sources and all that compiles them."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {sys.version}".encode())
    try:
        for name in _SOURCES:
            digest.update(importlib.resources.files("glyphraster").joinpath(name).read_bytes())
    except OSError:
        return None
    return digest.hexdigest()[:16]


class KernelCache(NullCache):  # type: ignore[misc]  # numba ships no types
    """Keep the signatures of one kernel, as numba asks its caches to."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def cache_path(self) -> str:
        """Where it lies, for numba's statistics."""
        return str(cache_directory())

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401
        """Return the kernel compiled for a signature and this processor, or None."""
        target_context.refresh()
        try:
            path = self._file(sig, target_context.codegen())
            loaded = path and path.exists() and _rebuilt(path.read_bytes(), target_context)
        except Exception:  # noqa: BLE001  (whatever is wrong with it, the kernel can be compiled)
            return None
        if not loaded:
            return None
        USES.append(Use(self._name, str(sig), "loaded"))
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        """Write a kernel that was just compiled, if it may and can be written."""
        try:
            kept = KEEPING.get() and self._write(sig, data)
        except Exception:  # noqa: BLE001  (a full disk, a read-only home: the kernel runs all the same)
            kept = False
        USES.append(Use(self._name, str(sig), "kept" if kept else "not kept"))

    def _write(self, sig: Any, compiled: Any) -> bool:  # noqa: ANN401
        path = self._file(sig, compiled.codegen)
        if path is None:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        body = dumps(compiled._reduce())  # noqa: SLF001  (as numba's own cache does)
        write_atomically(path, hashlib.sha256(body).digest() + body)
        path.chmod(0o644)  # an image is filled by root and used by others
        return True

    def _file(self, sig: Any, codegen: Any) -> Path | None:  # noqa: ANN401
        settings = [getattr(config, name, None) for name in _SETTINGS]
        key = repr((str(sig), codegen.magic_tuple(), settings)).encode()
        directory = cache_directory()
        return directory and directory / f"{self._name}-{hashlib.sha256(key).hexdigest()[:32]}.kernel"


def _rebuilt(content: bytes, target_context: Any) -> Any:  # noqa: ANN401
    """Return the kernel in a file, or None when the file is damaged."""
    digest, body = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        return None
    return CompileResult._rebuild(target_context, *pickle.loads(body))  # noqa: S301, SLF001  (the user's own files)
