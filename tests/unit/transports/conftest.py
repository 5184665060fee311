"""Fixtures of the transports' tests."""

import pytest

from tests.unit.transports.certificates import Certificates, made_in


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates on disk, made once."""
    return made_in(tmp_path_factory.mktemp("certificates"))
