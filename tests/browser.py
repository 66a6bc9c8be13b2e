"""A headless Chromium, spoken to through a pair of pipes in its DevTools protocol."""

import json
import os
import shutil
import subprocess
import time

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")


class Browser:
    """One page in a browser of its own.

    Attributes
    ----------
    complaints : list
        What the console and the page's own errors have said.
    requests : list of str
        Addresses that the page has asked for.
    """

    def __init__(self, profile):
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()

        def descriptors():  # the browser reads from 3 and writes to 4
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={profile}"],
            preexec_fn=descriptors,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._rest, self._number, self._session = b"", 0, None
        self.complaints, self.requests, self.loaded = [], [], False
        target = self._say("Target.createTarget", url="about:blank")["targetId"]
        attached = self._say("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._say(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(timeout=30)
        os.close(self._to)
        os.close(self._from)

    def open(self, path):
        """Open a file and wait until it is shown."""
        self.loaded = False
        self._say("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + 60
        while not self.loaded and time.monotonic() < deadline:
            self._take(self._heard())
        assert self.loaded

    def run(self, script):
        """Return the value of an expression in the page."""
        found = self._say("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key):
        """Press and release a key where the focus is."""
        text = {"text": key} if len(key) == 1 else {"Enter": {"text": "\r"}}.get(key, {})
        code = {"Tab": 9, "Enter": 13, " ": 32}.get(key, 0)
        facts = {"key": key, "windowsVirtualKeyCode": code, **text}
        for kind in ("keyDown", "keyUp"):
            self._say("Input.dispatchKeyEvent", type=kind, **facts)

    def downloads(self, folder):
        """Let files be saved to a folder."""
        session, self._session = self._session, None
        self._say("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self._session = session

    def choose(self, selector, path):
        """Choose a file in an input."""
        root = self._say("DOM.getDocument")["root"]["nodeId"]
        node = self._say("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self._say("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def emulate(self, **features):
        """Show the page in other media, or as with other wishes of the reader."""
        media = features.pop("media", "")
        listed = [{"name": name.replace("_", "-"), "value": v} for name, v in features.items()]
        self._say("Emulation.setEmulatedMedia", media=media, features=listed)

    def _say(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._heard()
            if heard.get("id") == self._number:
                assert "error" not in heard, heard
                return heard["result"]
            self._take(heard)

    def _heard(self):
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 16)
            assert piece, "the browser has gone"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _take(self, event):
        method, facts = event.get("method"), event.get("params", {})
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(facts)
        elif method == "Network.requestWillBeSent":
            self.requests.append(facts["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True
