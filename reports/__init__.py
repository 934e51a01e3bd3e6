"""Excel workbook and terminal text of a plan.

Reading order: ``workbook`` (which sheets, in which order, written how), ``sheets/`` (a file per sheet),
``layout`` (what every sheet looks like), ``cells`` (what may stand in a cell), ``labels`` (what columns are
called), ``styles`` and ``charts``. ``text`` is the summary for the terminal.
"""

from __future__ import annotations

from reports.text import summary_text
from reports.workbook import write_workbook

__all__ = ["summary_text", "write_workbook"]
