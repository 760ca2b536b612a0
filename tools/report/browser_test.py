#!/usr/bin/env python3
"""Opens reports in headless Chromium, looks and clicks.

    browser_test.py REPORT_PROGRAM [--screenshots=FOLDER]

Needs Chromium: tools/bazel test //tools/report:browser_test
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "testing"))
import sample_runs  # noqa: E402
from chromium import Chromium  # noqa: E402

# The middle of a chart, and what its pixels are.
CHART = '.chart[data-title="loss"] canvas'
INK = """(() => { const c = document.querySelector('.chart[data-title="loss"] canvas');
  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()"""
OPTIONS = None


class ReportTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.browser = Chromium().__enter__()
        sample_runs.write_run(f"{cls.folder}/first")
        sample_runs.write_run(f"{cls.folder}/second", seed=2, lr=0.01, name="</script><b>wide</b> @@DATA@@")

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def report(self, *arguments):
        path = f"{self.folder}/{self._testMethodName}.html"
        subprocess.run([OPTIONS.report, *arguments, f"--out={path}"], check=True, stdout=subprocess.DEVNULL)
        return path

    def open(self, path, picture=None, **how):
        page = self.browser.open(f"file://{path}", **how)
        if picture and OPTIONS.screenshots:
            page.screenshot(f"{OPTIONS.screenshots}/{picture}.png")
        return page

    def assert_well(self, page):
        self.assertEqual(page.problems(), [])
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), page.evaluate("innerWidth"))

    def test_shows_everything_of_a_run(self):
        page = self.open(self.report(f"{self.folder}/first"), picture="one-run")
        self.assert_well(page)
        titles = page.evaluate("[...document.querySelectorAll('#charts .chart')].map(c => c.dataset.title)")
        self.assertEqual(titles, ["loss", "accuracy", "lr", "samples_per_second"])
        text = page.evaluate("document.body.innerText")
        for wanted in ("first", "eval_accuracy", "0.9124", "waiting for data", "total_batch_size", "processors",
                       "step-400", "1.2 MB", "OnStepEnd", "ProgressBar"):
            self.assertIn(wanted, text)
        self.assertGreater(page.evaluate(INK), 1000)

    def test_needs_nothing_from_elsewhere(self):
        with open(self.report(f"{self.folder}/first")) as file:
            html = file.read()
        self.assertIsNone(re.search(r"https?://|src=|<link|@import|url\(", html))

    def test_hover_shows_the_values_at_the_pointer(self):
        page = self.open(self.report(f"{self.folder}/first"))
        x, y = page.middle(CHART)
        page.mouse("mouseMoved", x, y)
        tip = page.evaluate("""document.querySelector('.chart[data-title="loss"] .tip').innerText""")
        self.assertRegex(tip, r"train [\d.]+ \(update 9\d0\)")
        self.assertRegex(tip, r"eval [\d.]+ \(update 800\)")
        page.mouse("mouseMoved", 5, 5)
        self.assertTrue(page.evaluate("""document.querySelector('.chart[data-title="loss"] .tip').hidden"""))

    def test_dragging_zooms_all_charts_and_a_double_click_ends_it(self):
        page = self.open(self.report(f"{self.folder}/first"))
        x, y = page.middle(CHART)
        page.mouse("mousePressed", x, y, button="left", clickCount=1)
        page.mouse("mouseMoved", x + 60, y, button="left")
        page.mouse("mouseReleased", x + 60, y, button="left", clickCount=1)
        low, high = page.evaluate("view.range")
        self.assertTrue(900 < low < 1000 < high < 1300, (low, high))
        if OPTIONS.screenshots:
            page.screenshot(f"{OPTIONS.screenshots}/zoomed.png")
        page.click(CHART, count=1)
        page.click(CHART, count=2)
        self.assertIsNone(page.evaluate("view.range"))

    def test_controls_change_the_lines(self):
        page = self.open(self.report(f"{self.folder}/first"))
        seen = {page.evaluate(INK)}
        page.click("#log")
        self.assertTrue(page.evaluate("view.log"))
        seen.add(page.evaluate(INK))
        page.evaluate("(() => { const s = document.querySelector('#smooth'); s.value = 0.9;"
                      " s.dispatchEvent(new Event('input')); })()")
        seen.add(page.evaluate(INK))
        page.evaluate("(() => { const s = document.querySelector('#axis'); s.value = 't';"
                      " s.dispatchEvent(new Event('change')); })()")
        seen.add(page.evaluate(INK))
        self.assertEqual(len(seen), 4)
        self.assert_well(page)

    def test_compares_runs_and_hides_one(self):
        page = self.open(self.report(f"{self.folder}/first", f"{self.folder}/second"), picture="two-runs")
        self.assert_well(page)
        self.assertEqual(page.evaluate("document.querySelector('#title').textContent"), "2 runs")
        differs = page.evaluate("[...document.querySelectorAll('#config tr.differs th')].map(e => e.textContent)")
        self.assertEqual(differs, ["model", "seed", "command"])
        # A text of a run is text, whatever is in it.
        self.assertIn("</script><b>wide</b> @@DATA@@", page.evaluate("document.querySelector('#config').innerText"))
        before = page.evaluate(INK)
        page.click("#runs label:nth-child(2) input")
        self.assertNotEqual(page.evaluate(INK), before)

    def test_is_dark_where_asked_and_fits_a_phone(self):
        path = self.report(f"{self.folder}/first", f"{self.folder}/second")
        ground = "getComputedStyle(document.body).backgroundColor"
        page = self.open(path, width=390, height=844, dark=True, picture="two-runs-phone-dark")
        self.assert_well(page)
        self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('#charts'))"
                                       ".gridTemplateColumns.split(' ').length"), 1)
        dark = page.evaluate(ground)
        page.click("#theme")
        light = page.evaluate(ground)
        self.assertNotEqual(dark, light)
        self.assertEqual(self.open(path).evaluate(ground), light)
        self.assertEqual(self.open(path, dark=True).evaluate(ground), dark)

    def test_one_point_and_none(self):
        sample_runs.write_long_run(f"{self.folder}/one", 1)
        page = self.open(self.report(f"{self.folder}/one"), picture="one-point")
        self.assert_well(page)
        self.assertGreater(page.evaluate(INK), 100)
        os.makedirs(f"{self.folder}/none", exist_ok=True)
        page = self.open(self.report(f"{self.folder}/none"), picture="nothing")
        self.assert_well(page)
        self.assertIn("Nothing has been measured yet.", page.evaluate("document.body.innerText"))

    def test_a_million_points_open_at_once_and_the_spike_is_there(self):
        sample_runs.write_long_run(f"{self.folder}/long", 1_000_000)
        start = time.monotonic()
        path = self.report(f"{self.folder}/long")
        made = time.monotonic() - start
        start = time.monotonic()
        page = self.open(path, picture="million")
        opened = time.monotonic() - start
        print(f"a million points: made in {made:.2f} s, {os.path.getsize(path)} bytes, opened in {opened:.2f} s")
        self.assert_well(page)
        self.assertEqual(page.evaluate("Math.max(...runs[0].series.train_loss.hi)"), 99)
        self.assertLess(os.path.getsize(path), 1_000_000)
        self.assertLess(opened, 2)


class LiveTest(unittest.TestCase):

    def test_follows_a_run_and_says_when_the_server_is_gone(self):
        folder = tempfile.mkdtemp()
        sample_runs.write_run(folder, updates=100, finished=False)
        with subprocess.Popen([OPTIONS.report, "--serve", "--port=0", folder], stdout=subprocess.PIPE, text=True) as server, \
                Chromium() as browser:
            try:
                page = browser.open(server.stdout.readline().strip())
                last = "(() => { const s = runs[0].series.train_loss.s; return s[s.length - 1]; })()"
                self.assertEqual(page.evaluate(last), 100)
                with open(f"{folder}/metrics.jsonl", "a") as file:
                    file.write('{"step":250,"time":1790000100,"train_loss":0.5}\n{"step":260,"ti')
                wait = "new Promise(done => {{ const look = () => {} ? done(true) : setTimeout(look, 50); look(); }})"
                self.assertTrue(page.evaluate(wait.format(f"{last} === 250")))
                self.assertEqual(page.problems(), [])
                server.kill()
                self.assertTrue(page.evaluate(wait.format("document.querySelector('#live').className === 'lost'")))
            finally:
                server.kill()


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=os.path.abspath)
    parser.add_argument("--screenshots", type=os.path.abspath)
    OPTIONS = parser.parse_args()
    if OPTIONS.screenshots:
        os.makedirs(OPTIONS.screenshots, exist_ok=True)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
