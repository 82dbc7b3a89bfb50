"""The report in headless Chromium, at desktop and phone width: clicked, hovered, zoomed, typed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from browsers import WIDTHS, start
from report_pages import add_failure, hostile_outputs, run_job
from supclust.report.charts import Line, line_chart
from supclust.report.data import gather
from supclust.report.page import page as page_of
from supclust.report.page import write_page
from supclust.report.results_page import write_report

selenium = pytest.importorskip("selenium")
from selenium import webdriver  # noqa: E402  (only where it is installed)
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

# Starting a browser, and the first compilation, take their time on a busy machine.
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a short run on the rendered faces, with one failed run."""
    folder = tmp_path_factory.mktemp("faces")
    choices = ("dataset=faces", "dataset.source=stand-in", "split=[0,1]", "trainer.max_epochs=4")
    outputs = run_job(folder, "objective=exp_alpha", *choices)
    add_failure(outputs)
    return write_report(gather(outputs), folder / "report.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    return write_report(gather(hostile_outputs(folder)), folder / "report.html")


@pytest.fixture(scope="module", params=WIDTHS)
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    driver = start(*WIDTHS[request.param])
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: Any, faces: Path) -> Iterator[Any]:
    """The opened report; whatever a test did, the console is clean after it."""
    yield opened(browser, faces)
    assert browser.get_log("browser") == []


def opened(browser: Any, path: Path) -> Any:
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(path.as_uri())
    assert browser.find_element(By.TAG_NAME, "html").get_attribute("data-ready") == "yes"
    return browser


def find(page: Any, role: str) -> Any:
    return page.find_element(By.CSS_SELECTOR, f'[data-role="{role}"]')


def press(page: Any, act: str) -> None:
    page.find_element(By.CSS_SELECTOR, f'[data-act="{act}"]').click()


def leaves(page: Any) -> int:
    """Number of leaves in view."""
    return len(page.find_elements(By.CSS_SELECTOR, ".stage .leaf"))


def pictures(page: Any) -> list[Any]:
    return list(page.find_elements(By.CSS_SELECTOR, ".details img"))


def test_nothing_is_requested_but_the_page_itself(page: Any, faces: Path) -> None:
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith("data:")] == [faces.as_uri()]


def test_the_page_does_not_scroll_sideways(page: Any) -> None:
    for details in page.find_elements(By.TAG_NAME, "summary"):
        details.click()
    wide = page.execute_script(
        "const wide = []; const edge = document.documentElement.clientWidth + 1;"
        "for (const e of document.querySelectorAll('main *, header *')) {"
        "  if (e.getBoundingClientRect().right > edge && !e.closest('.scroll, svg')) "
        "    wide.push(e.outerHTML.slice(0, 80)); }"
        "return [document.documentElement.scrollWidth - edge + 1, wide]"
    )
    assert wide == [0, []]


def test_long_trainings_wide_tables_and_numbers_fit(browser: Any, tmp_path: Path) -> None:
    line = Line("loss", [(0, 1.0), (1000, 2.0)], "line")
    chart = line_chart("loss", [line], x_name="epoch", y_name="loss", words="It rises.")
    cells = "<td>100.0 ± 0.0</td>" * 12
    table = (
        '<div class="tables"><div class="scroll"><table><caption>A caption that is as long as '
        f"those of the tables of scores</caption><tr>{cells}</tr></table></div></div>"
        '<table><tr><th>a feature with a long name</th><td class="number">−0.05671</td>'
        '<td class="bar"></td></tr></table>'
    )
    path = write_page(
        tmp_path / "wide.html", page_of("Wide", "", [("all", "All", chart + Markup(table))])
    )
    over, caption, lines = opened(browser, path).execute_script(
        "const view = document.scrollingElement, edge = view.clientWidth;"
        "const cell = document.createRange();"
        "cell.selectNodeContents(document.querySelector('.number'));"
        "return [view.scrollWidth - edge,"
        "  document.querySelector('caption').getBoundingClientRect().right - edge,"
        "  cell.getClientRects().length]"
    )
    assert over == 0 and caption <= 0 and lines == 1


def test_the_stand_in_is_seen_at_the_top(page: Any) -> None:
    warning = page.find_element(By.CSS_SELECTOR, ".warning")
    assert warning.is_displayed() and "STAND-IN DATA" in warning.text
    assert warning.location["y"] < 300


def test_hovering_a_merge_shows_height_size_and_purity(page: Any) -> None:
    mark = page.find_element(By.CSS_SELECTOR, ".stage .mark")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    assert not find(page, "tip").is_displayed()
    ActionChains(page).move_to_element(mark).perform()
    tip = find(page, "tip")
    assert tip.is_displayed()
    assert all(word in tip.text for word in ("height", "points", "purity"))
    box, stage = tip.rect, find(page, "stage").rect
    assert stage["x"] <= box["x"] and box["x"] + box["width"] <= stage["x"] + stage["width"]


def test_clicking_a_merge_lists_its_two_sides_with_faces(page: Any) -> None:
    mark = page.find_element(By.CSS_SELECTOR, ".stage .mark")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    ActionChains(page).move_to_element(mark).click().perform()
    details = find(page, "details")
    assert "Left:" in details.text and "Right:" in details.text
    shown = pictures(page)
    assert shown and all(image.get_attribute("alt") for image in shown)
    sizes = page.execute_script("return arguments[0].map((i) => i.naturalWidth)", shown)
    assert set(sizes) == {46}


def test_buttons_zoom_move_and_show_all(page: Any) -> None:
    whole = leaves(page)
    press(page, "in")
    press(page, "in")
    zoomed = leaves(page)
    assert 3 <= zoomed < whole / 2
    at = page.find_element(By.CSS_SELECTOR, ".stage image").get_attribute("href")
    press(page, "right")
    assert page.find_element(By.CSS_SELECTOR, ".stage image").get_attribute("href") != at
    press(page, "out")
    assert zoomed < leaves(page) < whole
    press(page, "fit")
    assert leaves(page) == whole


def test_the_wheel_zooms_once_the_tree_is_active_and_never_before(page: Any) -> None:
    stage, whole = find(page, "stage"), leaves(page)
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", stage)

    def turn() -> None:
        origin = webdriver.common.actions.wheel_input.ScrollOrigin.from_element(stage)
        ActionChains(page).scroll_from_origin(origin, 0, -240).perform()

    turn()
    assert leaves(page) == whole
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", stage)
    page.execute_script("arguments[0].focus({preventScroll: true})", stage)
    turn()
    page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert leaves(page) < whole


def test_the_tree_is_walked_with_keys(page: Any) -> None:
    stage, whole = find(page, "stage"), leaves(page)
    stage.send_keys(Keys.ARROW_DOWN)  # the root first
    details = find(page, "details")
    assert f"{whole} points" in details.text
    stage.send_keys(Keys.ARROW_DOWN)
    left = details.text
    assert f"{whole} points" not in left
    stage.send_keys(Keys.ARROW_RIGHT)
    assert details.text != left
    stage.send_keys(Keys.ARROW_LEFT)
    assert details.text == left
    stage.send_keys(Keys.ENTER)
    assert leaves(page) < whole
    stage.send_keys("0")
    assert leaves(page) == whole
    stage.send_keys(Keys.ARROW_UP)
    assert f"{whole} points" in details.text
    stage.send_keys("+")
    assert leaves(page) < whole
    stage.send_keys(Keys.ESCAPE)
    assert "No node is selected" in details.text


def test_every_control_is_reached_with_the_tab_key_and_shows_it(page: Any) -> None:
    wanted = set(page.execute_script(
        "document.querySelectorAll('details').forEach((e) => { e.open = true; });"
        "return [...document.querySelectorAll('a, button, select, input, summary, [tabindex]')]"
        ".map((e, i) => { e.dataset.stop = i; return String(i); })"
    ))  # fmt: skip
    reached, outlined = set(), True
    for _ in range(len(wanted) + 5):
        ActionChains(page).send_keys(Keys.TAB).perform()
        stop, outline = page.execute_script(
            "const e = document.activeElement;"
            "return [e.dataset.stop, getComputedStyle(e).outlineStyle]"
        )
        if stop is not None:
            reached.add(stop)
            outlined = outlined and outline != "none"
    assert reached == wanted
    assert outlined


def test_the_cut_moves_and_comes_back(page: Any) -> None:
    slider, scores = find(page, "cut"), find(page, "scores")
    chosen = scores.text
    assert "clusters" in chosen and "F1" in chosen
    slider.send_keys(Keys.HOME)
    assert f"{leaves(page)} clusters" in scores.text
    assert slider.get_attribute("aria-valuetext") == scores.text
    slider.send_keys(Keys.END)
    assert ": 1 clusters" in scores.text
    press(page, "reset")
    assert scores.text == chosen


def test_scores_at_the_chosen_cut_are_those_of_the_report(page: Any) -> None:
    """One test block: its F1 at the chosen cut, by the script, is the stored one."""
    words = page.find_element(By.CSS_SELECTOR, "figcaption").text
    stored = words.partition("test F1 ")[2].partition(" %")[0]
    assert f"F1 {stored} %" in find(page, "scores").text


def test_other_linkages_and_even_heights_are_drawn(page: Any) -> None:
    branch = page.find_element(By.CSS_SELECTOR, ".stage .branch")
    before = branch.get_attribute("d")
    Select(find(page, "scale")).select_by_visible_text("evenly spaced")
    assert branch.get_attribute("d") != before
    exp = find(page, "scores").text
    Select(find(page, "linkage")).select_by_visible_text("complete")
    assert find(page, "scores").text != exp


def test_the_next_wrong_merge_is_selected(page: Any) -> None:
    find(page, "cut").send_keys(Keys.END)  # all merges applied: the mixed ones are wrong
    press(page, "next")
    assert "Wrong merge" in find(page, "details").text
    first = find(page, "details").text
    press(page, "next")
    assert find(page, "details").text != first


def test_one_split_is_picked_out_in_every_chart(page: Any) -> None:
    Select(find(page, "highlight")).select_by_visible_text("split 1")
    picked = page.find_elements(By.CSS_SELECTOR, ".pick")
    assert {element.get_attribute("data-split") for element in picked} == {"1"}
    assert {element.tag_name for element in picked} == {"use", "path"}
    Select(find(page, "highlight")).select_by_visible_text("all splits")
    assert not page.find_elements(By.CSS_SELECTOR, ".picked")


def test_text_has_contrast(page: Any) -> None:
    """WCAG AA: 4.5 to 1 for all text on the page's own colours, in both colour schemes."""
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        assert page.execute_script(CONTRAST) == []
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


CONTRAST = """
const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map((v) => { v /= 255;
  return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ground = (e) => { for (; e; e = e.parentElement) {
  const c = getComputedStyle(e).backgroundColor;
  if (!/, 0\\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
const poor = [];
for (const e of document.querySelectorAll("body *")) {
  const worded = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  if (!worded || e.closest("svg, script, style")) continue;
  const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(e.outerHTML.slice(0, 80));
}
return poor;
"""


def test_hostile_names_do_nothing(browser: Any, hostile: Path) -> None:
    page = opened(browser, hostile)
    for act in ("next", "in", "out", "fit"):
        press(page, act)
    find(page, "stage").send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    mark = page.find_element(By.CSS_SELECTOR, ".stage .mark")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    ActionChains(page).move_to_element(mark).perform()
    assert page.execute_script("return window.hacked") is None
    assert not page.find_elements(By.CSS_SELECTOR, "img, main script:not([type])")
    assert "</script><script>" in page.find_element(By.TAG_NAME, "main").text
    html = "document.documentElement"
    assert page.execute_script(f"return {html}.scrollWidth - {html}.clientWidth") == 0
    assert browser.get_log("browser") == []
