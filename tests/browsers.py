"""Headless Chromium at desktop and phone width; tests that need it are skipped without one."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}


def start(width: int, height: int) -> Any:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs a browser: apt-get install chromium chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    if width < 600:
        metrics = {"width": width, "height": height, "pixelRatio": 2, "touch": False}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
