"""A headless Chromium that a test drives through a pipe: no driver, no packages.

    with Chromium() as browser:
        page = browser.open("file:///tmp/report.html", width=400)
        page.evaluate("document.title")
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile


class Chromium:

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            raise FileNotFoundError("this test needs Chromium: install Debian's package chromium")
        self.home = tempfile.TemporaryDirectory()
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def pipes():
            # Chromium reads from 3 and writes to 4. Copies first: they may be in each other's place.
            source, target = os.dup(to_read), os.dup(from_write)
            os.dup2(source, 3)
            os.dup2(target, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", f"--user-data-dir={self.home.name}", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": self.home.name})
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        self.count = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to_write)
        os.close(self.from_read)
        self.home.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.from_read, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method, session):
        """The next event of that name, also one that has come already."""
        while True:
            for i, event in enumerate(self.events):
                if event.get("method") == method and event.get("sessionId") == session:
                    return self.events.pop(i)["params"]
            self.events.append(self.receive())

    def open(self, url, width=1200, height=900, dark=False):
        return Page(self, url, width, height, dark)


class Page:

    def __init__(self, browser, url, width, height, dark):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)
        browser.wait_for("Page.loadEventFired", self.session)
        # Charts are drawn when their size is known.
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector, count=1):
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=count)

    def middle(self, selector):
        return self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")

    def screenshot(self, path):
        height = self.evaluate("document.documentElement.scrollHeight")
        width = self.evaluate("innerWidth")
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def problems(self):
        """Errors of the page so far."""
        self.evaluate("0")
        return [event["params"] for event in self.browser.events
                if event.get("sessionId") == self.session and
                (event.get("method") == "Runtime.exceptionThrown" or
                 (event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"))]
