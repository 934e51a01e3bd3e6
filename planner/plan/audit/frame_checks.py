"""One check per frame that is made of others: laid row by row beside the same frame made once more here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from planner.plan.audit.calendar_frames import CALENDAR_FRAMES, block_labels
from planner.plan.audit.facility.facility_frames import FACILITY_FRAMES, days_of_test
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.asset_frames import ASSET_FRAMES, asset_decisions, cash_kinds, decided_when
from planner.plan.audit.money.charge_frames import CHARGE_FRAMES
from planner.plan.audit.money.total_frames import TOTAL_FRAMES, headline_totals
from planner.plan.audit.orders.order_frames import ORDER_FRAMES
from planner.plan.audit.report import NOTHING, Check, alike
from planner.plan.audit.service.service_frames import SERVICE_FRAMES, hours_short

Made = tuple[Sequence[str], Callable[[Accounts], pd.DataFrame]]
"""Key of a row, and what makes the frame once more."""

FRAMES: Mapping[str, Made] = {
    **CALENDAR_FRAMES,
    **ORDER_FRAMES,
    **SERVICE_FRAMES,
    **FACILITY_FRAMES,
    **ASSET_FRAMES,
    **TOTAL_FRAMES,
    **CHARGE_FRAMES,
}
"""Frame -> how it is made once more. Columns that are not made here are not looked at."""


def frame_check(
    name: str, key: Sequence[str], make: Callable[[Accounts], pd.DataFrame]
) -> Callable[[Accounts], Check]:
    """Return the check of one frame; a plan that does not have the frame states nothing."""

    def check(books: Accounts) -> Check:
        stated = books.plan.frames.get(name)
        if stated is None:
            return Check(f"frame {name}", name, NOTHING, 0.0, 0.0, 0.0, 0.0, True, 0)
        own = make(books)
        return alike(f"frame {name}", name, stated, own, [one for one in key if one in stated])

    return check


FRAME_CHECKS: Mapping[str, Callable[[Accounts], Check]] = {
    f"frame {name}": frame_check(name, key, make) for name, (key, make) in FRAMES.items()
}
"""One check per frame."""
CHECKS = (block_labels, headline_totals, decided_when, asset_decisions, cash_kinds, days_of_test, hours_short)
"""What is said across frames."""
