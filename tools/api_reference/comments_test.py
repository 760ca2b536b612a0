#!/usr/bin/env -S python3 -B
"""Tests comments.py.

    comments_test.py COMMENTS_PY
"""

import importlib.util
import sys
import unittest

_SPEC = importlib.util.spec_from_file_location("comments", sys.argv.pop(1))
SUBJECT = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(SUBJECT)


class CommentsTest(unittest.TestCase):
    def test_the_first_comment_describes_the_file_and_has_its_example_as_code(self):
        self.assertEqual(
            SUBJECT.converted("// Adds <one>.\n//\n//   Add(1);  // 2\n//\n// Thread-safe.\n#ifndef X_H_\n"),
            "/// @file\n/// Adds \\<one\\>.\n///\n/// @code{.cpp}\n///   Add(1);  // 2\n///\n/// @endcode\n/// Thread-safe.\n"
            "#ifndef X_H_\n")

    def test_later_comments_describe_what_follows_or_what_is_before_them(self):
        self.assertEqual(
            SUBJECT.converted("// Top.\n\nstruct A {\n  // ---- Numbers.\n\n  // The `a`.\n  int a = 0;\n  int b;  // the other\n};\n"),
            "/// @file\n/// Top.\n\nstruct A {\n\n\n  /// The 'a'.\n  int a = 0;\n  int b; ///< the other\n};\n")

    def test_guards_and_notes_for_tools_stay(self):
        text = "\nusing namespace x;  // NOLINT: y\n}  // namespace x\n#endif  // X_H_\n"
        self.assertEqual(SUBJECT.converted(text), text)


if __name__ == "__main__":
    unittest.main()
