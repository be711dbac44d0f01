"""The four rungs, one file each, cheapest first."""

from contextkit.rungs.elide import Elide
from contextkit.rungs.images import DropImages
from contextkit.rungs.snapshot import Snapshot
from contextkit.rungs.summary import Summarise

__all__ = ["DropImages", "Elide", "Snapshot", "Summarise"]
