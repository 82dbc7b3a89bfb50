"""Loggers that are silenced must speak again, also after an error."""

from __future__ import annotations

import logging

import pytest

from supclust.experiment.progress import quiet_loggers

LOGGER = logging.getLogger("supclust.test_quiet")


def fail_quietly() -> None:
    with quiet_loggers(LOGGER.name):
        LOGGER.warning("unheard")
        raise KeyError


def test_levels_come_back_after_an_error(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(KeyError):
        fail_quietly()
    LOGGER.warning("heard")
    assert [record.message for record in caplog.records] == ["heard"]
