#!/usr/bin/env -S python3 -B
"""As lint_selftest.py, for the checks that compare names and examples.

    names_selftest.py LINT_PY CLANG_FORMAT BUILDIFIER
"""

import sys
import unittest

import conformance
from lint_selftest import LintTest


class NamesTest(LintTest):
    def test_a_name_that_no_header_declares(self):
        self.write("trainer/NAMES.md", "| there | here |\n| --- | --- |\n| `Gone` | `Ok`, `Missing` |\n")
        self.assert_fails("names", "trainer/NAMES.md:3: no header declares Missing")

    def test_a_name_in_a_comment_is_not_declared(self):
        self.write("tools/comment.h", "// Missing is not here.\n")
        self.write("trainer/NAMES.md", "| `x` | `Missing` |\n")
        self.assert_fails("names", "trainer/NAMES.md:1: no header declares Missing")

    def test_a_word_that_is_only_used_is_not_declared(self):
        self.write("tools/use.h", "struct S {\n  bool Get(int missing) const { return other(missing); }\n  std::vector<Type> list = made();\n};\n")
        self.write("trainer/NAMES.md", "| `x` | `missing`, `other`, `Type`, `vector`, `made`, `S`, `Get`, `list` |\n")
        self.assert_fails("names", *(f"trainer/NAMES.md:1: no header declares {name}" for name in ("missing", "other", "Type", "vector", "made")))

    def test_declared_names(self):
        self.write("trainer/NAMES.md", "No table, and `Missing`.\n\n| `x` | `Ok` |\n")
        self.assert_clean("names")


class ConformanceTest(LintTest):
    def page(self, changes: dict[str, str], counts: dict[str, str]) -> str:
        """A page whose rows are all held by LoopTest.Runs, but for `changes`."""
        numbers = {section: conformance.SECTIONS[section] or 1 for section in conformance.SECTIONS}
        sums = {section: f"{number} | 0 | 0 | {number}" for section, number in numbers.items()}
        sums["all"] = f"{sum(numbers.values())} | 0 | 0 | {sum(numbers.values())}"
        lines = [f"| {section} of it | {numbers_of} |" for section, numbers_of in (sums | counts).items()]
        for section, number in numbers.items():
            for i in range(1, number + 1):
                lines.append(changes.get(f"{section}-{i}", f"| {section}-{i} | a | held | `LoopTest.Runs` |"))
        return "\n".join(lines) + "\n"

    def plant(self, changes: dict[str, str] = {}, counts: dict[str, str] = {}):
        self.write("trainer/loop_test.cc", "TEST_F(LoopTest,\n       Runs) {}\n")
        self.write("trainer/CONFORMANCE.md", self.page(changes, counts))

    def test_every_behaviour_with_its_test(self):
        self.plant({"2.1-2": "| 2.1-2 | a | held | by type |", "2.5-1": "| 2.5-1 | a | held | `//tools:ok` |"})
        self.assert_clean("names")

    def test_a_test_or_target_that_is_not_there(self):
        self.plant({"2.1-2": "| 2.1-2 | a | held | `LoopTest.Gone`, `//tools:gone` |"})
        self.assert_fails("names", "trainer/CONFORMANCE.md:9: there is no test LoopTest.Gone", "trainer/CONFORMANCE.md:9: there is no target //tools:gone")

    def test_a_row_that_nothing_holds(self):
        self.plant({"2.1-2": "| 2.1-2 | a | held | |"})
        self.assert_fails("names", "trainer/CONFORMANCE.md:9: 2.1-2 names no test that holds it; nor does it say: by type, nothing to hold")

    def test_a_row_that_is_left_out(self):
        self.plant({"2.1-38": ""}, {"2.1": "37 | 0 | 0 | 37", "all": "248 | 0 | 0 | 248"})
        self.assert_fails("names", "trainer/CONFORMANCE.md: 2.1 has 37 rows; the reference has 38 behaviours")

    def test_a_row_out_of_order_or_without_status(self):
        self.plant({"2.1-38": "| 2.1-39 | a | held | `LoopTest.Runs` |"})
        self.assert_fails("names", "trainer/CONFORMANCE.md:45: 2.1-39 is not the next one: 2.1-38 is")
        self.plant({"2.1-38": "| 2.1-38 | a | `LoopTest.Runs` |"}, {"2.1": "37 | 0 | 0 | 37", "all": "248 | 0 | 0 | 248"})
        self.assert_fails("names", "trainer/CONFORMANCE.md:45: 2.1-38 needs 4 cells, the third held, decided, missing", "trainer/CONFORMANCE.md: 2.1 has 37 rows; the reference has 38 behaviours")

    def test_wrong_counts(self):
        self.plant({"2.5-33": "| 2.5-33 | a | missing | |"})
        self.assert_fails("names", "trainer/CONFORMANCE.md:5: the counts of 2.5 must be 32 | 0 | 1 | 33", "trainer/CONFORMANCE.md:7: the counts of all must be 248 | 0 | 1 | 249")


class UniqueNamesTest(LintTest):
    def plant(self, first: str, second: str):
        self.write("a.h", f"namespace trainyard {{\n{first}\n}}  // namespace trainyard\n")
        self.write("b.h", f"namespace trainyard {{\n{second}\n}}  // namespace trainyard\n")

    def assert_collides(self, first: str, second: str, kinds: str):
        self.plant(first, second)
        self.assert_fails("unique_names", f"b.h:2: trainyard::Twice is a {kinds} in a.h:2: rename one, or put it into a namespace of its own")

    def test_fails_on_two_things_of_one_name(self):
        declared = {
            "class": ["class Twice {};", "struct Twice final : public Base<int> { int Other(); };", "template <class T> struct Twice {};"],
            "enum": ["enum class Twice { kA, kB };", "enum Twice : int { kTwo };"],
            "alias": ["using Twice = std::vector<int>;", "template <class T> using Twice = T;"],
            "function": ["int Twice(int a);", "inline std::vector<int> Twice() { return {}; }", "const Other& Twice(std::function<int(int)> f = [] {});"],
            "variable": ["constexpr int Twice = 3;", "inline const std::map<int, Other> Twice{{1, {}}};", "extern int Twice[3];"],
        }
        for kind, texts in declared.items():
            for text in texts:
                with self.subTest(text):
                    self.assert_collides("class Twice {};", text, f"{kind} here and a class")
                    if kind != "function":
                        self.assert_collides(texts[0], text, f"{kind} here and a {kind}")

    def test_a_definition_after_a_forward_declaration_collides_with_another(self):
        self.plant("class Twice;", "class Twice {};")
        self.write("c.h", "namespace trainyard {\n\nclass Twice {};\n}\n")
        self.assert_fails("unique_names", "c.h:3: trainyard::Twice is a class here and a class in b.h:2: rename one, or put it into a namespace of its own")

    def test_passes_for_overloads_and_forward_declarations(self):
        self.plant("int Twice(int);\nclass C;\nenum class E;", "int Twice(double);\nclass C {};\nclass C;\nenum class E { kA };")
        self.assert_clean("unique_names")

    def test_passes_for_members_other_namespaces_and_specialisations(self):
        self.plant("struct A {\n  enum class Twice { kA };\n  void Get() { int Twice = 1; }\n};", "struct B {\n  int Twice;\n  B() : Twice{1}, b_(2) {}\n};\nint Twice(int A);")
        self.write("c.h", "namespace trainyard::other {\nclass Twice {};\n}\nnamespace {\nclass Twice {};\n}\n// class Twice {};\n#define Twice 1\n")
        self.write("d.h", "namespace std {\ntemplate <>\nstruct hash<int> {};\ntemplate <>\nstruct hash<char> {};\nclass Twice::Inner {};\n}\n")
        self.assert_clean("unique_names")


class ExamplesTest(LintTest):
    def test_an_example_that_no_source_has(self):
        self.write("README.md", "Text.\n\n```cpp\nint Gone() { return 1; }\n```\n")
        self.assert_fails("examples", "README.md:3: no .cc file has this example; put it into a test or a program, word for word")

    HEADER = "// Purpose.\n//\n//   Go(1);  // a remark\n//   if (gone) {\n//     …\n//   }\n//\n//   a    table\n#ifndef X\n//   Gone();\n"

    def test_an_example_of_a_header_that_no_source_has(self):
        self.write("tools/x.h", self.HEADER)
        self.write("tools/x_test.cc", "if (gone) {\n}\nGo(1);\n")  # in another order
        self.assert_fails("examples", "tools/x.h:3: no .cc file has this example; put it into a test or a program")

    def test_between_the_statements_of_an_example_others_may_stand(self):
        self.write("tools/x.h", self.HEADER)
        self.write("tools/x_test.cc", "Go(\n    1);\nEXPECT_TRUE(gone);\nif (gone) {\n  Stop();\n}\n")
        self.assert_clean("examples")

    def test_white_space_and_other_languages_do_not_matter(self):
        self.write("README.md", "```cpp\nint Ok() {\n  return 1;\n}\n```\n\n```python\nnot_cpp()\n```\n")
        self.assert_clean("examples")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
