"""Checks Kubernetes objects against the classes that clients have of them, generated from the API's schemas.

    models = ApiModels(folder)
    problems = models.check(document, "JobsetV1alpha2JobSet")

The classes are read, not run: the generators' two styles, one of which needs pydantic. A field that the
API does not have, one that it requires, a type and a value out of a list of values are found; what only the
server's own code knows is not.
"""

import ast
import dataclasses
import functools
import pathlib
import re

# The classes of Kubernetes' own objects have other names in the two styles.
_SAME = {
    "V1PodTemplateSpec": "IoK8sApiCoreV1PodTemplateSpec",
    "V1ObjectMeta": "IoK8sApimachineryPkgApisMetaV1ObjectMeta",
}
_SCALARS = {
    "str": str, "StrictStr": str, "int": int, "StrictInt": int, "bool": bool, "StrictBool": bool,
    "datetime": str, "float": (int, float), "StrictFloat": (int, float),
}


@dataclasses.dataclass
class Field:
    type: str  # "str", "list[X]", "dict[X]" or the name of a class
    required: bool
    values: list[str] | None = None


class ApiModels:

    def __init__(self, folder: pathlib.Path):
        self._files = {}
        for path in folder.glob("*.py"):
            for name in re.findall(r"^class (\w+)\(", path.read_text(), re.M):
                self._files[name] = path
        if not self._files:
            raise ValueError(f"{folder} has no classes")

    @functools.cache
    def fields(self, name: str) -> dict[str, Field]:
        """By their names in JSON. Empty: anything goes."""
        text = self._files[name].read_text()
        body = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == name).body
        tables = {node.targets[0].id: ast.literal_eval(node.value) for node in body
                  if isinstance(node, ast.Assign) and node.targets[0].id in ("openapi_types", "attribute_map")}
        if tables:
            required = set(re.findall(r"Invalid value for `(\w+)`, must not be `None`", text))
            return {tables["attribute_map"][own]: Field(_old_type(kind), own in required)
                    for own, kind in tables["openapi_types"].items()}
        found = {}
        values = {node.name.removesuffix("_validate_enum"): _enum(node) for node in body
                  if isinstance(node, ast.FunctionDef) and node.name.endswith("_validate_enum")}
        for node in body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call) and not node.target.id.startswith("__"):
                keywords = {word.arg: word.value for word in node.value.keywords}
                own = node.target.id
                alias = ast.literal_eval(keywords["alias"]) if "alias" in keywords else own
                found[alias] = Field(_new_type(node.annotation), "default" not in keywords, values.get(own))
            elif isinstance(node, ast.AnnAssign) and not node.target.id.startswith("__"):
                found[node.target.id] = Field(_new_type(node.annotation), node.value is None, values.get(node.target.id))
        return found

    def check(self, value, kind: str, where: str = "") -> list[str]:
        """What is wrong with it, a sentence each."""
        where = where or kind
        kind = _SAME.get(kind, kind)
        if match := re.fullmatch(r"(list|dict)\[(.*)\]", kind):
            outer, inner = (list if match[1] == "list" else dict), match[2]
            if not isinstance(value, outer):
                return [f"{where} is {value!r}, not a {match[1]}"]
            items = enumerate(value) if outer is list else value.items()
            return [problem for key, item in items for problem in self.check(item, inner, f"{where}[{key}]")]
        if kind in _SCALARS:
            # A bool is an int for Python.
            good = isinstance(value, _SCALARS[kind]) and (kind in ("bool", "StrictBool") or not isinstance(value, bool))
            return [] if good else [f"{where} is {value!r}, not of type {kind}"]
        if kind not in self._files:
            return [] if kind == "object" else [f"{where}: the models have no class {kind}"]
        fields = self.fields(kind)
        if not fields:
            return []
        if not isinstance(value, dict):
            return [f"{where} is {value!r}, not an object"]
        problems = [f"{where} has no {name}" for name, field in fields.items() if field.required and name not in value]
        for name, item in value.items():
            if name not in fields:
                problems.append(f"{where} has {name}, and the API has only {', '.join(sorted(fields))}")
                continue
            problems += self.check(item, fields[name].type, f"{where}.{name}")
            if fields[name].values is not None and item not in fields[name].values:
                problems.append(f"{where}.{name} is {item!r}, not one of {', '.join(fields[name].values)}")
        return problems


def _old_type(text: str) -> str:
    """"dict(str, X)" and "list[X]"."""
    return re.sub(r"dict\(str, (.*)\)", r"dict[\1]", text)


def _new_type(node: ast.expr) -> str:
    """Optional[List[X]] and the like."""
    text = ast.unparse(node)
    while match := re.fullmatch(r"Optional\[(.*)\]", text):
        text = match[1]
    if match := re.fullmatch(r"List\[(.*)\]", text):
        return f"list[{_new_type(ast.parse(match[1], mode='eval').body)}]"
    if match := re.fullmatch(r"Dict\[StrictStr, (.*)\]|Dict\[str, (.*)\]", text):
        return f"dict[{_new_type(ast.parse(match[1] or match[2], mode='eval').body)}]"
    return "object" if text in ("Any", "object") or text.startswith(("Annotated", "Union")) else text


def _enum(function: ast.FunctionDef) -> list[str]:
    """The values in "set([...])"."""
    found = [ast.literal_eval(node) for node in ast.walk(function) if isinstance(node, ast.List)]
    return found[0]
