#!/usr/bin/env python3
"""Opens reports in headless Chromium, looks and clicks.

    browser_test.py REPORT_PROGRAM [--screenshots=FOLDER]

Needs Chromium: tools/bazel test //tools/report:browser_test
"""
import argparse
import math
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
        sample_runs.write_run(f"{cls.folder}/first", ema=True)
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
        self.assertRegex(tip, r"(?m)^eval [\d.]+ \(update 800\)")
        self.assertRegex(tip, r"(?m)^ema_eval [\d.]+ \(update 800\)")
        page.mouse("mouseMoved", 5, 5)
        self.assertTrue(page.evaluate("""document.querySelector('.chart[data-title="loss"] .tip').hidden"""))

    def test_dragging_zooms_all_charts_and_a_double_click_ends_it(self):
        page = self.open(self.report(f"{self.folder}/first"))
        x, y = page.middle(CHART)
        page.mouse("mousePressed", x, y, button="left", clickCount=1)
        page.mouse("mouseMoved", x + 60, y, button="left")
        page.mouse("mouseReleased", x + 60, y, button="left", clickCount=1)
        tip = 'document.querySelector(\'.chart[data-title="loss"] .tip\')'
        self.assertTrue(page.evaluate(f"{tip}.hidden"), "what it told was of another range")
        page.mouse("mouseMoved", x + 10, y)
        self.assertGreaterEqual(page.evaluate(f"{tip}.offsetLeft"), 0)
        low, high = page.evaluate("view.range")
        self.assertTrue(900 < low < 1000 < high < 1300, (low, high))
        if OPTIONS.screenshots:
            page.screenshot(f"{OPTIONS.screenshots}/zoomed.png")
        page.click(CHART, count=1)
        page.click(CHART, count=2)
        self.assertIsNone(page.evaluate("view.range"))

    def test_numbers_of_axes_are_told_apart(self):
        page = self.open(self.report(f"{self.folder}/first"))
        for expression, wanted in [
                ("[499950, 500000, 500050].map(x => axisCount(x, 50))", ["499950", "500000", "500050"]),
                ("[0, 200000, 1000000, 1200000].map(x => axisCount(x, 200000))", ["0", "200k", "1M", "1200k"]),
                ("[1.0838, 1.084, 1.0842].map(y => axisNumber(y, 0.0002))", ["1.0838", "1.084", "1.0842"]),
                ("[-0.00002, 0, 0.00002].map(y => axisNumber(y, 0.00002))", ["-2e-5", "0", "2e-5"]),
                ("[0.1 + 0.2, 2500].map(y => axisNumber(y, 0.1))", ["0.3", "2500"]),
                ("[5400.5, 5401].map(t => axisTime(t, 0.5, 3))", ["5400.5 s", "5401 s"]),
                ("[600, 1200].map(t => axisTime(t, 600, 3000))", ["10 min", "20 min"])]:
            self.assertEqual(page.evaluate(expression), wanted)

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
        self.assertLess(os.path.getsize(path), 8_000_000)
        self.assertLess(opened, 2)

    def drag(self, page, width):
        """Zooms to so many pixels on both sides of the first chart's middle."""
        x, y = page.middle(CHART)
        page.mouse("mousePressed", x - width, y, button="left", clickCount=1)
        page.mouse("mouseMoved", x + width, y, button="left")
        page.mouse("mouseReleased", x + width, y, button="left", clickCount=1)
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    DRAWN = """(() => { const c = charts.get('loss'), [x0, x1] = view.range, s = c.seriesOf(c.lines[0]);
      const shown = s.s.map((step, i) => [step, s.v[i], s.lo ? s.hi[i] : null]).filter(([step]) => step >= x0 && step <= x1);
      return {shown, merged: s.lo !== undefined, width: x1 - x0}; })()"""

    def test_zooming_shows_ever_finer_points_down_to_the_real_ones(self):
        sample_runs.write_long_run(f"{self.folder}/long", 1_000_000)
        page = self.open(self.report(f"{self.folder}/long"))
        # The first time the finer points are unpacked.
        spent = page.evaluate("""(async () => { const start = performance.now(); setRange([400000, 600000]);
          await view.fine.load(); redraw(); const spent = performance.now() - start; setRange(null); return spent; })()""")
        print(f"zoomed for the first time in {spent:.0f} ms")
        self.assertLess(spent, 2000)
        counts = []
        for level in range(4):
            self.drag(page, 40)
            drawn = page.evaluate(self.DRAWN)
            counts.append((round(drawn["width"]), len(drawn["shown"]), drawn["merged"]))
            if OPTIONS.screenshots:
                page.screenshot(f"{OPTIONS.screenshots}/million-zoom-{level + 1}.png")
        print("zoomed: updates in view, points drawn, merged:", counts)
        # Where they are merged, thousands are drawn, of fewer and fewer updates.
        for width, points, merged in counts:
            self.assertTrue(not merged or points > 1500, counts)
        # The last range, and one around the spike: every update once, with its own value.
        self.assertFalse(drawn["merged"])
        page.evaluate("setRange([499900, 500100])")
        if OPTIONS.screenshots:
            page.screenshot(f"{OPTIONS.screenshots}/million-spike.png")
        self.assert_real(drawn)
        drawn = page.evaluate(self.DRAWN)
        self.assert_real(drawn)
        self.assertEqual({step: value for step, value, _ in drawn["shown"]}[500_000], 99)
        self.assert_well(page)

    def assert_real(self, drawn):
        steps = [step for step, _, _ in drawn["shown"]]
        self.assertEqual(steps, list(range(steps[0], steps[0] + len(steps))))
        self.assertAlmostEqual(len(steps), drawn["width"], delta=1.01)
        for step, value, _ in drawn["shown"]:
            self.assertAlmostEqual(value, 99 if step == 500_000 else 1 + math.sin(step / 1e6 * 20), delta=1e-5)

    def test_zooming_works_by_time_and_within_a_budget(self):
        sample_runs.write_long_run(f"{self.folder}/medium", 100_000)
        path = self.report(f"{self.folder}/medium", "--zoom_mb=1")
        self.assertLess(os.path.getsize(path), 1_400_000)
        page = self.open(path)
        page.evaluate("(() => { const s = document.querySelector('#axis'); s.value = 't';"
                      " s.dispatchEvent(new Event('change')); })()")
        self.drag(page, 20)
        self.drag(page, 20)
        times = page.evaluate("""(() => { const c = charts.get('loss'), [x0, x1] = view.range, s = c.seriesOf(c.lines[0]);
          return s.t.map((t, i) => [s.s[i], t]).filter(([, t]) => t >= x0 && t <= x1); })()""")
        self.assertGreater(len(times), 100)
        for step, when in times:
            self.assertAlmostEqual(when, (step - 1) / 1000, delta=2e-3)
        coarse = self.open(self.report(f"{self.folder}/medium", "--zoom_mb=0"))
        self.drag(coarse, 40)
        self.assertTrue(coarse.evaluate(self.DRAWN)["merged"])
        self.assert_well(coarse)


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
                self.assertEqual(page.evaluate("view.fine.load().then(() => view.fine.packed)"), [{}])
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
