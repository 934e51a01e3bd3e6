"""Excel workbook and terminal text of a plan.

Reading order: ``workbook`` (which sheets, in which order, written how), ``sheets/`` (a file per sheet),
``layout`` (what every sheet looks like), ``cells`` (what may stand in a cell), ``labels`` (what columns are
called), ``styles`` and ``charts``. ``text`` is the summary for the
terminal, ``answers_workbook`` a table per question about a plan: ``sites_workbook`` the comparison of sites,
``decisions_workbook`` what to know before signing.
"""

from __future__ import annotations

from reports.decisions_workbook import write_decisions_workbook
from reports.sites_workbook import write_sites_workbook
from reports.text import summary_text
from reports.workbook import write_workbook

__all__ = ["summary_text", "write_decisions_workbook", "write_sites_workbook", "write_workbook"]
