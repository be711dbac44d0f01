"""The type of parsed JSON."""

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""Parsed JSON of any shape; what it is, is found out where it is used."""
