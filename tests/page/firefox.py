"""Firefox, driven through its own protocol, Marionette: a TCP connection on which both sides send `LENGTH:JSON`. It needs no
package, no driver program and no network."""

import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

FIREFOX = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox") or "firefox-esr"
WAIT = 60  # seconds, for the start and for each answer
PREFERENCES = {
    "marionette.port": 0,  # any free one, written to MarionetteActivePort
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.download.folderList": 2,
    "browser.download.always_ask_before_handling_new_types": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
    "network.proxy.type": 1,  # a proxy that does not exist: whatever is not a file fails
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "ui.systemUsesDarkTheme": 0,
}


class Failed(Exception):
    """An error that the browser reports."""


class Firefox:
    """A headless browser with a profile of its own; one tab."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="stowage-firefox-"))
        self.downloads = self.folder / "downloads"
        self.downloads.mkdir()
        preferences = PREFERENCES | {"browser.download.dir": str(self.downloads)}
        (self.folder / "user.js").write_text("".join(f"user_pref({json.dumps(key)}, {json.dumps(value)});\n" for key, value in preferences.items()))
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen([FIREFOX, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", str(self.folder)],
                                        stdout=self.log, stderr=self.log, env=os.environ | {"MOZ_HEADLESS": "1", "HOME": str(self.folder)})
        try:
            self.connect()
        except BaseException:
            self.close()
            raise

    def connect(self):
        port = self.folder / "MarionetteActivePort"
        until = time.monotonic() + WAIT
        while not port.exists() or not port.read_text().strip():
            if time.monotonic() > until or self.process.poll() is not None:
                raise RuntimeError(f"{FIREFOX} does not start: {(self.folder / 'log').read_text()[-500:]}")
            time.sleep(0.05)
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=WAIT)
        self.input = self.socket.makefile("rb")
        self.count = 0
        self.receive()  # the greeting
        self.call("WebDriver:NewSession", {"strictFileInteractability": True})

    def receive(self):
        length = b""
        while (byte := self.input.read(1)) != b":":
            if not byte:
                raise RuntimeError("Firefox has ended")
            length += byte
        return json.loads(self.input.read(int(length)))

    def call(self, command, parameters=None):
        self.count += 1
        message = json.dumps([0, self.count, command, parameters or {}]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        kind, number, error, result = self.receive()
        assert (kind, number) == (1, self.count), (kind, number)
        if error:
            raise Failed(f"{error['error']}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result

    def close(self):
        try:
            if hasattr(self, "input"):
                self.call("Marionette:Quit", {"flags": ["eForceQuit"]})
                self.process.wait(timeout=20)
        except (Failed, OSError, RuntimeError, subprocess.TimeoutExpired):
            pass
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.log.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    # ------------------------------------------------------------------------------------------ what a test does

    def open(self, file, fragment=""):
        self.call("WebDriver:Navigate", {"url": "about:blank"})
        self.call("WebDriver:Navigate", {"url": pathlib.Path(file).resolve().as_uri() + fragment})
        self.run("return window.stowage.ready")

    def run(self, script, *arguments):
        """The value of a script; it waits for a promise."""
        return self.call("WebDriver:ExecuteScript", {"script": script, "args": list(arguments), "scriptTimeout": 1000 * WAIT})

    def resize(self, width, height):
        """The size of the page, not of the window. Narrower than a window can be, the page is laid out in a narrower frame."""
        self.call("Marionette:SetContext", {"value": "chrome"})
        self.run("const own = gBrowser.selectedBrowser; own.style.minWidth = own.style.maxWidth = arguments[0] + 'px';"
                 "own.style.minHeight = own.style.maxHeight = arguments[1] + 'px';", width, height)
        self.call("Marionette:SetContext", {"value": "content"})
        self.call("WebDriver:SetWindowRect", {"width": max(width, 500) + 40, "height": height + 160})
        for _ in range(100):
            if self.run("return [innerWidth, innerHeight]") == [width, height]:
                return
            time.sleep(0.05)
        raise AssertionError(f"{self.run('return [innerWidth, innerHeight]')} is not {width} x {height}")

    def picture(self):
        """PNG of what the window shows."""
        return base64.b64decode(self.call("WebDriver:TakeScreenshot", {"full": False, "hash": False}))

    def point(self, x, y, *, click=False, kind="mouse"):
        """Moves the pointer there, in the page; presses and releases it."""
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("WebDriver:PerformActions", {"actions": [{"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions}]})

    def wheel(self, x, y, delta):
        self.call("WebDriver:PerformActions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": delta, "duration": 0}]}]})

    def press(self, *keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})
