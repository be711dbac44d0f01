"""``python -m contextkit``."""

from contextkit.cli import main

main()
