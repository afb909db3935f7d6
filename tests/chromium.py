"""A real browser for tests and for screenshots: Chromium over its debugging pipe, by the standard library alone.

`--remote-debugging-pipe` speaks JSON that ends with a zero byte, on file descriptors 3 and 4: no port, no web socket.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def found() -> str | None:
    """Where a browser is, if there is one: RECAPTURE_BROWSER, or one of the usual names."""
    named = os.environ.get("RECAPTURE_BROWSER")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Tab:
    """One page in the browser, what it said on its console, and what it asked for."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self.session = browser, session
        self.errors: list[str] = []
        self.requests: list[str] = []

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.send(method, parameters, self.session)

    def heard(self, event: dict[str, Any]) -> None:
        method, said = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(said["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(said["args"])[:500])
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.errors.append(said["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])

    def open(self, path: Path, scripts: bool = True) -> float:
        """Seconds until the page has loaded and its script has run."""
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        start = time.monotonic()
        self.send("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete'")
        return time.monotonic() - start

    def run(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        told = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise AssertionError(json.dumps(told["exceptionDetails"])[:800])
        return told["result"].get("value")

    def wait(self, expression: str, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not self.run(expression):
            if time.monotonic() > end:
                raise AssertionError(f"not true within {seconds} s: {expression}")
            time.sleep(0.03)

    def look(self, width: int = 1280, height: int = 900, dark: bool = False, scale: float = 1.0) -> None:
        """The size of the window, and whether the person likes it dark."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
            mobile=width < 600,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def press(self, key: str, text: str = "") -> None:
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32,
                 "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}  # fmt: skip
        code = codes.get(key, ord(key[0].upper()))
        typed = text or ("\r" if key == "Enter" else key if len(key) == 1 else "")
        down = {"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, **({"text": typed} if typed else {})}
        self.send("Input.dispatchKeyEvent", **down)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def mouse(self, kind: str, x: float, y: float, held: bool = False) -> None:
        button = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, buttons=int(held), **button)

    def screenshot(self, path: Path, **box: float) -> None:
        clip = {"clip": {**box, "scale": 1}} if box else {}
        told = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=bool(box), **clip)
        path.write_bytes(base64.b64decode(told["data"]))


class Browser:
    def __init__(self, process: subprocess.Popen[bytes], reads: int, writes: int) -> None:
        self._process, self._reads, self._writes = process, reads, writes
        self._number, self._rest = 0, b""
        self._tabs: dict[str, Tab] = {}

    def send(self, method: str, parameters: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == number:
                if "error" in told:
                    raise AssertionError(f"{method}: {told['error']}")
                result: dict[str, Any] = told["result"]
                return result
            tab = self._tabs.get(told.get("sessionId", ""))
            if tab is not None:
                tab.heard(told)

    def _next(self, seconds: float = 120.0) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._reads], [], [], max(0.0, end - time.monotonic()))
            got = os.read(self._reads, 1 << 20) if ready else b""
            if not got:
                raise AssertionError("the browser has nothing to say")
            self._rest += got
        message, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(message)
        return told

    def tab(self) -> Tab:
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self._tabs[session] = tab = Tab(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.send(f"{domain}.enable")
        return tab


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser that is gone when the block ends, and its profile with it."""
    program = found()
    assert program is not None
    to_it, from_us = os.pipe()
    from_it, to_us = os.pipe()
    flags = [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
        "--hide-scrollbars", "--disable-dev-shm-usage", "--disable-background-networking",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="recapture-browser-", ignore_cleanup_errors=True) as profile:
        words = [program, *flags, f"--user-data-dir={profile}", "about:blank"]
        # Descriptors 3 and 4 by way of a shell: Python gives a child its own numbers.
        shell = ["/bin/bash", "-c", f'exec "$@" 3<&{to_it} 4>&{to_us}', "browser", *words]
        process = subprocess.Popen(shell, pass_fds=(to_it, to_us), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(to_us)
        try:
            yield Browser(process, from_it, from_us)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            os.close(from_it)
            os.close(from_us)
