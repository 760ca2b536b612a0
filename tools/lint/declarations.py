"""Reads what a C++ header declares: in its namespaces, and in the classes there.

Not a compiler: it reads the declarations of headers as clang-format lays them out, and
looks into no function body, no initialiser and no macro.
"""

import dataclasses
import pathlib
import re

_COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.']*|::|->|\S")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_TYPES = {"class": "class", "struct": "class", "union": "class", "enum": "enum"}
# With what they take in parentheses.
_WITH_ARGUMENTS = ("alignas", "decltype", "noexcept", "explicit", "requires", "__attribute__")
_NO_NAMES = {"default", "delete", "const", "noexcept", "override", "final", "if", "return", "auto", "void"}


@dataclasses.dataclass(frozen=True)
class Declaration:
    scope: str  # "trainyard", or "trainyard::Trainer" for a member
    name: str
    kind: str  # class, enum, enumerator, alias, concept, function or variable
    line: int
    defined: bool  # not just announced
    in_class: bool


def read(path: pathlib.Path) -> list[Declaration]:
    return parse(path.read_text())


def parse(text: str) -> list[Declaration]:
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    is_comment = lambda match: match[0].startswith("/")
    text = _COMMENT_OR_TEXT.sub(lambda m: blank(m) if is_comment(m) else '""' + "\n" * m[0].count("\n"), text)
    text = _DIRECTIVE.sub(blank, text)
    tokens, line, last = [], 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", last, match.start())
        last = match.start()
        tokens.append((match[0], line))
    found = []
    _Reader(tokens, found).read_scope(0, [], in_class=False)
    return found


class _Reader:
    def __init__(self, tokens: list[tuple[str, int]], found: list[Declaration]):
        self._tokens = tokens
        self._found = found

    def _text(self, at: int) -> str:
        return self._tokens[at][0] if at < len(self._tokens) else ""

    def _past(self, at: int) -> int:
        """The place after the bracket that closes the one at `at`."""
        close = [_CLOSING[self._text(at)]]
        at += 1
        while close and at < len(self._tokens):
            text = self._text(at)
            if text in _CLOSING:
                close.append(_CLOSING[text])
            elif text == close[-1]:
                close.pop()
            at += 1
        return at

    def _past_angles(self, at: int) -> int:
        depth = 0
        while at < len(self._tokens):
            text = self._text(at)
            if text in _CLOSING:
                at = self._past(at)
                continue
            depth += (text == "<") - (text == ">")
            at += 1
            if depth == 0:
                break
        return at

    def read_scope(self, at: int, scope: list[str], in_class: bool) -> int:
        """Reads declarations up to the closing brace, or the end."""
        while at < len(self._tokens) and self._text(at) != "}":
            text = self._text(at)
            if text == ";":
                at += 1
            elif in_class and text in ("public", "protected", "private") and self._text(at + 1) == ":":
                at += 2
            elif text in ("namespace", "inline") and "namespace" in (text, self._text(at + 1)):
                at = self._read_namespace(at + (text == "inline"), scope)
            elif text == "extern" and self._text(at + 1) == '"' and self._text(at + 3) == "{":
                at = self.read_scope(at + 4, scope, in_class)
            else:
                at = self._read_declaration(at, scope, in_class)
        return at + 1

    def _read_namespace(self, at: int, scope: list[str]) -> int:
        names = []
        at += 1
        while self._text(at) not in ("{", "=", ""):
            if _WORD.fullmatch(self._text(at)):
                names.append(self._text(at))
            at += 1
        if self._text(at) == "=":  # another name for one
            while self._text(at) not in (";", ""):
                at += 1
            return at
        return self.read_scope(at + 1, scope + (names or ["(anonymous)"]), in_class=False)

    def _add(self, name: str, kind: str, line: int, scope: list[str], in_class: bool, defined: bool = True):
        self._found.append(Declaration("::".join(scope), name, kind, line, defined, in_class))

    def _skip_statement(self, at: int) -> int:
        while at < len(self._tokens) and self._text(at) != ";":
            if self._text(at) == "}":
                return at
            if self._text(at) == "{":
                return self._past(at)
            at = self._past(at) if self._text(at) in _CLOSING else at + 1
        return at + 1

    def _read_declaration(self, at: int, scope: list[str], in_class: bool) -> int:
        while self._text(at) == "template" and self._text(at + 1) == "<":
            at = self._past_angles(at + 1)
            if self._text(at) == "requires":
                at += 1
                while self._text(at) == "(" or self._text(at + 1) in ("<", "::"):
                    at = self._past(at) if self._text(at) == "(" else at + 2
        text, line = self._tokens[at]
        if text in ("friend", "static_assert", "template"):
            return self._skip_statement(at)
        if text == "typedef":
            end = at
            while self._text(end) not in (";", ""):
                end += 1
            self._add(self._text(end - 1), "alias", line, scope, in_class)
            return end
        if text in ("using", "concept"):
            if self._text(at + 2) == "=":
                self._add(self._text(at + 1), "alias" if text == "using" else "concept", line, scope, in_class)
            return self._skip_initialiser(at)
        if text in _TYPES:
            read = self._read_type(at, scope, in_class)
            if read is not None:
                return read
        return self._read_function_or_variables(at, scope, in_class)

    def _skip_initialiser(self, at: int) -> int:
        """Up to the semicolon."""
        while at < len(self._tokens) and self._text(at) not in (";", "}"):
            at = self._past(at) if self._text(at) in _CLOSING else at + 1
        return at

    def _read_type(self, at: int, scope: list[str], in_class: bool) -> int | None:
        kind, line = _TYPES[self._text(at)], self._tokens[at][1]
        at += 1
        if self._text(at) in ("class", "struct"):
            at += 1
        while self._text(at) == "[" or self._text(at) in _WITH_ARGUMENTS:
            at = self._past(at if self._text(at) == "[" else at + 1)
        name = self._text(at) if _WORD.fullmatch(self._text(at)) else ""
        at += bool(name)
        special = self._text(at) == "<"
        if special:
            at = self._past_angles(at)
        if self._text(at) == "final":
            at += 1
        if self._text(at) == ":":
            while self._text(at) not in ("{", ";", ""):
                at = self._past_angles(at) if self._text(at) == "<" else at + 1
        if self._text(at) not in ("{", ";"):
            # "struct stat info;", or "class Outer::Inner {".
            if self._text(at) != "::":
                return None
            return self._skip_initialiser(at)
        defined = self._text(at) == "{"
        if name and not special:
            self._add(name, kind, line, scope, in_class, defined)
        if not defined:
            return at
        if kind == "enum":
            end = self._past(at)
            self._read_enumerators(at + 1, end - 1, scope + [name])
        else:
            end = self.read_scope(at + 1, scope + [name] if name else scope, in_class=True)
        # "struct { … } name;"
        while self._text(end) not in (";", ""):
            if _WORD.fullmatch(self._text(end)):
                self._add(self._text(end), "variable", self._tokens[end][1], scope, in_class)
            end += 1
        return end

    def _read_enumerators(self, at: int, end: int, scope: list[str]):
        expected = True
        while at < end:
            text, line = self._tokens[at]
            if expected and _WORD.fullmatch(text):
                self._add(text, "enumerator", line, scope, in_class=True)
                expected = False
            expected = expected or text == ","
            at = self._past(at) if text in _CLOSING else at + 1

    def _read_function_or_variables(self, at: int, scope: list[str], in_class: bool) -> int:
        name, qualified, first = "", False, at
        while at < len(self._tokens):
            text, line = self._tokens[at]
            if text in _WITH_ARGUMENTS and self._text(at + 1) == "(":
                at = self._past(at + 1)
            elif text == "operator":
                return self._skip_function(at + 1 + (self._text(at + 1) == "("))
            elif text == "(":
                if self._text(at + 1) in ("*", "&"):  # a pointer to a function
                    self._add(self._text(at + 2), "variable", line, scope, in_class)
                    return self._skip_initialiser(at)
                # A macro has neither a type before it nor a body.
                plain = name and name not in _NO_NAMES and not qualified
                if plain and (at - 1 > first or in_class):
                    self._add(name, "function", self._tokens[at - 1][1], scope, in_class)
                return self._skip_function(at)
            elif text in ("=", "{", ";", ",", ":", "}") or (text == "[" and self._text(at + 1) != "["):
                if name and name not in _NO_NAMES and not qualified:
                    self._add(name, "variable", self._tokens[at - 1][1], scope, in_class)
                if text in (";", "}"):
                    return at
                while self._text(at) not in (",", ";", "}", ""):
                    at = self._past(at) if self._text(at) in _CLOSING else at + 1
                if self._text(at) != ",":
                    return at
                at += 1
            elif text == "[":
                at = self._past(at)
            elif text == "<":
                at = self._past_angles(at)
            else:
                if _WORD.fullmatch(text):
                    name, qualified = text, self._text(at - 1) == "::" and at > first and self._text(at + 1) != "::"
                    qualified = qualified or self._text(at - 1) == "~"
                at += 1
        return at

    def _skip_function(self, at: int) -> int:
        """From the parameters on: up to its semicolon, or past its body."""
        in_list = False
        while at < len(self._tokens):
            text = self._text(at)
            if text in (";", "}"):
                return at
            if text == "{":
                is_body = not in_list or self._text(at - 1) in (")", "}")
                at = self._past(at)
                if is_body:
                    return at
                continue
            in_list = in_list or text == ":"
            at = self._past(at) if text in ("(", "[") else at + 1
        return at
