"""The store keeps each result once, by what it depends on, for several writers at once."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from planner.errors import InputError
from planner.study import Store
from planner.study.outcome import NAMES, without_plan


def outcome(cost):
    return {**dict.fromkeys(NAMES), "status": "optimal", "total_cost": cost, "reason": ""}


def test_what_is_kept_is_found_by_its_key_and_the_first_of_two_stays(tmp_path):
    store = Store(tmp_path / "out" / "s.sqlite").made()
    store.keep("a", outcome(1.5))
    store.keep("a", outcome(2.5))
    assert Store(store.path).made().finished(["a", "b"]) == {"a": outcome(1.5)}


def test_what_failed_is_tried_again_and_what_is_infeasible_is_not(tmp_path):
    store = Store(tmp_path / "s.sqlite").made()
    store.keep("a", without_plan("failed", "broke\n down"))
    store.keep("b", without_plan("infeasible", "short of power"))
    assert list(store.finished(["a", "b"])) == ["b"]
    store.keep("a", outcome(1.0))
    assert store.finished(["a"]) == {"a": outcome(1.0)}


def test_many_writers_lose_nothing(tmp_path):
    path = tmp_path / "s.sqlite"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: Store(path).made().keep(str(number % 30), outcome(number)), range(60)))
    assert len(Store(path).finished(map(str, range(30)))) == 30


def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "s.sqlite"
    path.write_text("notes " * 200, encoding="utf-8")
    with pytest.raises(InputError, match="cannot be used as a store"):
        Store(path).made()
    assert path.read_text(encoding="utf-8") == "notes " * 200
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="form 99"):
        Store(newer).made()
