"""What is derived from a plan or its facts, derived once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Subject = TypeVar("Subject")
Result = TypeVar("Result")
Others = ParamSpec("Others")


def once(
    make: Callable[Concatenate[Subject, Others], Result],
) -> Callable[Concatenate[Subject, Others], Result]:
    """Return a function of books or facts (and of words) that keeps on them what it made, for the next who asks.

    Nobody may change what it returns. The arguments after the first are hashable.
    """

    @wraps(make)
    def kept(subject: Subject, *others: Others.args, **named: Others.kwargs) -> Result:
        made = subject.__dict__.setdefault("_made", {})
        key = (make, others, tuple(named.items()))
        if key not in made:
            made[key] = make(subject, *others, **named)
        result: Result = made[key]
        return result

    return kept
