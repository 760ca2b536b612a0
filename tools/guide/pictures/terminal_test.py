#!/usr/bin/env -S python3 -B
"""Tests terminal.py, and that the picture that it drew is one."""

import pathlib
import sys
import unittest
import xml.etree.ElementTree

import terminal

HERE = pathlib.Path(__file__).parent


class TerminalTest(unittest.TestCase):
    def shown(self, text):
        screen = terminal.Screen()
        screen.write(text)
        return screen.lines

    def test_a_line_that_is_drawn_again_replaces_the_old_one(self):
        self.assertEqual(self.shown("step 10\rstep 9\x1b[K"), ["step 9"])
        self.assertEqual(self.shown("step 10\rstep 9"), ["step 90"])
        self.assertEqual(self.shown("bar\r\x1b[Krow\r\nbar"), ["row", "bar"])

    def test_a_program_runs_on_a_terminal_of_the_given_width(self):
        script = "import os, sys; print(os.get_terminal_size(1).columns, sys.stdout.isatty())"
        pieces = terminal.run([sys.executable, "-c", script], 77)
        self.assertEqual("".join(pieces).split(), ["77", "True"])
        with self.assertRaisesRegex(RuntimeError, "exit code 3"):
            terminal.run(["sh", "-c", "exit 3"], 80)

    def test_draws_each_line_once_and_escapes_it(self):
        picture = terminal.svg(["$ a < b", "", "c & d"], "title", 40)
        texts = [element.text.replace("\u00a0", " ") for element in xml.etree.ElementTree.fromstring(picture).iter() if element.tag.endswith("}text")]
        self.assertEqual(texts, ["title", "$ a < b", "c & d"])
        self.assertIn("a\u00a0\u00a0b<", terminal.svg(["a  b"], "title", 40), "viewers join plain spaces")

    def test_the_recorded_picture_shows_a_run(self):
        picture = (HERE / "terminal.svg").read_text()
        xml.etree.ElementTree.fromstring(picture)
        for wanted in ("//tools/examples:fashion_mnist", "eval_accuracy", "5/5"):
            self.assertIn(wanted, picture)
        self.assertLess(len(picture), 200_000)


if __name__ == "__main__":
    unittest.main()
