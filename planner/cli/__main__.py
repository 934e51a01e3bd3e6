"""``python -m planner.cli``: the command line where the script ``planner`` is not on the path."""

from __future__ import annotations

from planner.cli import main

if __name__ == "__main__":
    main()
