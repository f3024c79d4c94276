"""A browser that opens previews: what it found on the page, and what it complained of."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.support.wait import WebDriverWait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from toolbox_browser import Browser

_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)

# What lies on another, or is cut: pairs of panels that overlap, titles wider or higher than their room, by their texts.
_FLAWS = """
const flaws = [], boxes = [...document.querySelectorAll('.panel')];
const name = (box) => box.querySelector('h3').textContent;
const rects = boxes.map((box) => box.getBoundingClientRect());
rects.forEach((one, i) => rects.slice(i + 1).forEach((other, j) => {
  const beside = one.left > other.right - 0.5 || other.left > one.right - 0.5;
  if (!beside && one.top < other.bottom - 0.5 && other.top < one.bottom - 0.5)
    flaws.push(`${name(boxes[i])} lies on ${name(boxes[i + 1 + j])}`);
}));
for (const title of document.querySelectorAll('.panel h3, header h1, nav a, .tile .value, th')) {
  if (title.scrollWidth > title.clientWidth + 1 && title.clientWidth) flaws.push(`cut: ${title.textContent}`);
}
boxes.forEach((box) => {
  const [head, body] = ['.head', '.body'].map((part) => box.querySelector(part).getBoundingClientRect());
  const whole = box.getBoundingClientRect();
  if (head.bottom > body.top + 0.5 || body.bottom > whole.bottom + 0.5 || body.height < 30)
    flaws.push(`no room: ${name(box)}`);
  let above = head.bottom - 0.5;
  for (const part of box.querySelector('.body').children) {
    const rect = part.getBoundingClientRect();
    if (rect.top < above - 0.5 || rect.bottom > whole.bottom + 0.5) flaws.push(`part lies on another: ${name(box)}`);
    above = rect.bottom;
  }
});
if (document.documentElement.scrollWidth > innerWidth) flaws.push('the page is wider than the window');
return flaws;
"""


class Opened:
    """A page in a browser of 1920 by 1080 pixels."""

    def __init__(self, driver: webdriver.Chrome, page: Path) -> None:
        self.driver = driver
        self._url = page.as_uri()
        self.go("")

    def go(self, place: str) -> None:
        """Open a place of the page, such as `#/d/uid`."""
        self.driver.get("about:blank")
        self.driver.get(self._url + place)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script yields."""
        return self.driver.execute_script(script, *arguments)

    def flaws(self) -> list[str]:
        """What overlaps, is cut or was complained of in the console."""
        told = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return [*self.run(_FLAWS), *told]

    def boards(self) -> list[str]:
        """The places of all dashboards, in the order of the side."""
        links = self.run("return [...document.querySelectorAll('nav a')].map((a) => a.getAttribute('href'))")
        return [link for link in links if link.startswith("#/d/")]

    def wait(self, true: Callable[[], bool]) -> None:
        """Until something is so; TimeoutException where it does not come to be."""
        WebDriverWait(self.driver, 10, 0.05).until(lambda _: true())

    def drag(self, selector: str, start: float, end: float) -> None:
        """With the mouse from one share of an element's width to another."""
        element = self.driver.find_element("css selector", selector)
        half = element.size["width"] / 2
        first, last = (int(half * (2 * share - 1)) for share in (start, end))
        chain = ActionChains(self.driver).move_to_element_with_offset(element, first, 0).click_and_hold()
        chain.move_to_element_with_offset(element, last, 0).release().perform()

    def hover(self, selector: str) -> None:
        """The mouse at three quarters of an element's width."""
        element = self.driver.find_element("css selector", selector)
        offset = int(element.size["width"] / 4)
        chain = ActionChains(self.driver).move_to_element(element)
        chain.move_to_element_with_offset(element, offset, 0).perform()

    def color(self, scheme: str) -> None:
        """Prefer light or dark colours."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def picture(self, path: Path, height: int = 1080) -> None:
        """A picture of the page, as high as asked."""
        self.driver.set_window_size(1920, height)
        path.write_bytes(self.driver.get_screenshot_as_png())
        self.driver.set_window_size(1920, 1080)


@contextlib.contextmanager
def opened(browser: Browser, page: Path) -> Iterator[Opened]:
    """The page, opened."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(browser.program)
    for option in (*_OPTIONS, "--window-size=1920,1080"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(str(browser.driver), env={**os.environ, **browser.environment})
    driver = webdriver.Chrome(options, service)
    try:
        yield Opened(driver, page)
    finally:
        driver.quit()
