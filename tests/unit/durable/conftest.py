"""The tests of intake, engine and outbox run on both databases."""

from tests.databases import each_database, pytest_generate_tests

__all__ = ["each_database", "pytest_generate_tests"]
