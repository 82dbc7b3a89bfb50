"""The review page in headless Chromium, at desktop and phone width: answers by keyboard."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from browsers import WIDTHS, start
from store_tables import clusters_of, persons, table_of
from supclust import EntityStore
from supclust.review.answers import Answers
from supclust.review.server import ReviewServer
from supclust.review.session import Review
from trained_persons import trained

pytest.importorskip("selenium")
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
HOSTILE = "<img src=x onerror=document.title='owned'> \u202e\u0000 & \"quotes\""


@pytest.fixture(scope="module", params=WIDTHS)
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    driver = start(*WIDTHS[request.param])
    yield driver
    driver.quit()


@pytest.fixture
def server(tmp_path: Any) -> Iterator[ReviewServer]:
    records = persons(120, seed=3)
    for one in records[::7]:
        one["name"] = f"{one['name']} {HOSTILE}".replace("\0", "")
    store = EntityStore.create(tmp_path / "entities", table_of(records), trained())
    with ReviewServer(Review(store)) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def waited(browser: Any, condition: Any) -> Any:
    return WebDriverWait(browser, 60, 0.02).until(condition)


def answered(browser: Any) -> int:
    return int(browser.execute_script("return document.body.dataset.answered || -1"))


def key(browser: Any) -> str:
    return str(browser.execute_script("return document.body.dataset.key || ''"))


def opened(browser: Any, server: ReviewServer) -> Any:
    browser.get(server.url)
    waited(browser, lambda driver: answered(driver) >= 0)
    return browser


def press(browser: Any, letter: str) -> None:
    """Press a key and wait for what it does."""
    before = answered(browser)
    change = -1 if letter == "u" else 1
    browser.find_element(By.TAG_NAME, "body").send_keys(letter)
    waited(browser, lambda driver: answered(driver) == before + change)


def test_twenty_answers_undo_reload_and_two_tabs(browser: Any, server: ReviewServer) -> None:
    opened(browser, server)
    letters = "ynyn?nyyn?"
    for letter in letters:
        press(browser, letter)
    third = key(browser)

    press(browser, "n")  # and back
    press(browser, "u")
    assert key(browser) == third
    assert "taken back" in browser.find_element(By.ID, "notice").text

    browser.refresh()
    waited(browser, lambda driver: answered(driver) == len(letters))
    assert key(browser) == third  # goes on where it was

    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    opened(browser, server)
    assert key(browser) == third
    press(browser, "y")
    second = browser.current_window_handle
    browser.switch_to.window(first)  # still shows the question that the other tab answered
    assert key(browser) == third
    browser.find_element(By.TAG_NAME, "body").send_keys("n")
    waited(browser, lambda driver: key(driver) != third)
    assert "not asked any more" in browser.find_element(By.ID, "notice").text
    for letter in "nnynnynyn":
        press(browser, letter)
    assert answered(browser) == 20
    browser.switch_to.window(second)
    browser.close()
    browser.switch_to.window(first)

    store = EntityStore.open(server.review.store.folder)
    given = Answers(store).given
    assert "".join({"yes": "y", "no": "n", "unsure": "?"}[one["answer"]] for one in given) == (
        letters + "y" + "nnynnynyn"
    )
    clusters = clusters_of(store)
    for one in given:
        for a in one["left"]:
            for b in one["right"]:
                if one["answer"] != "unsure":
                    assert (clusters[a] == clusters[b]) == (one["answer"] == "yes")
    assert browser.get_log("browser") == []


def test_what_is_shown(browser: Any, server: ReviewServer) -> None:
    opened(browser, server)
    hostile = 0
    for _ in range(8):
        question = server.review.state()["question"]
        for side in ("left", "right"):
            cells = browser.find_elements(By.CSS_SELECTOR, f"#{side} td")
            marked = [cell.get_attribute("class") == "differs" for cell in cells]
            rows = list(zip(*(one["values"] for one in question[side]), strict=True))
            assert marked == [value["differs"] for row in rows for value in row]
            texts = [value["text"] for row in rows for value in row]
            assert [cell.get_property("textContent") for cell in cells] == texts
            hostile += any("onerror" in text for text in texts)
        parts = [
            float(cell.text.replace("\u2212", "-").replace("+", ""))
            for cell in browser.find_elements(By.CSS_SELECTOR, "#waterfall td.number")
        ]
        assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=0.01 * len(parts))
        assert parts[-1] == pytest.approx(question["height"], abs=0.006)
        overflow = "return document.documentElement.scrollWidth - visualViewport.width"
        assert browser.execute_script(overflow) <= 0
        bottom = "return document.querySelector('nav').getBoundingClientRect().bottom"
        assert browser.execute_script(f"{bottom} - visualViewport.height") <= 0
        buttons = browser.find_elements(By.TAG_NAME, "button")
        assert all(one.is_displayed() and one.size["height"] >= 44 for one in buttons)
        before = answered(browser)
        browser.find_element(By.ID, "unsure").click()  # by touch, not by key
        waited(browser, lambda driver, before=before: answered(driver) == before + 1)
    assert browser.title == "Review"
    assert hostile
    assert browser.get_log("browser") == []


def test_the_end_of_the_questions_and_of_the_server(browser: Any, server: ReviewServer) -> None:
    server.review._queue = []  # one question is prepared
    opened(browser, server)
    server.review._refresh = lambda *_: setattr(server.review, "_current", None)
    press(browser, "?")
    waited(browser, lambda driver: driver.find_element(By.ID, "done").is_displayed())
    assert not browser.find_element(By.ID, "yes").is_enabled()
    server.review.undo = lambda: {}["gone"]  # an internal error
    browser.find_element(By.TAG_NAME, "body").send_keys("u")
    notice = waited(browser, lambda driver: driver.find_element(By.ID, "notice").text)
    assert "still running" in notice
    browser.get_log("browser")  # Chromium notes the failed request


def test_command_prints_the_address(tmp_path: Any) -> None:
    store = EntityStore.create(tmp_path / "e", table_of(persons(60, seed=3)), trained())
    words = [sys.executable, "-m", "supclust", "review", str(store.folder), "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().startswith(b"http://127.0.0.1:")
        finally:
            process.terminate()
