# SPDX-License-Identifier: BSD-3-Clause
"""For pytest, -p suite_tables: of PyTables' tests those of its own suite.

pytest finds ten times as many: most want what PyTables calls heavy mode, and fail without it. Two functions run all
of the suite once more inside, and pass whatever comes of it."""

import unittest

import pytest
from tables.tests.test_suite import suite


def all_of(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from all_of(test)
        else:
            yield test


def name_of(item):
    return f"{item.cls.__module__}.{item.cls.__qualname__}.{item.name}" if item.cls else item.nodeid


def pytest_collection_modifyitems(config, items):
    wanted = {test.id() for test in all_of(suite()) if isinstance(test, unittest.TestCase) and type(test).__module__ != "doctest"}
    kept = [item for item in items if name_of(item) in wanted]
    missing = wanted - {name_of(item) for item in kept}
    if missing:
        raise pytest.UsageError(f"{len(missing)} tests of PyTables' suite were not found, such as {min(missing)}")
    config.hook.pytest_deselected(items=[item for item in items if name_of(item) not in wanted])
    items[:] = kept
