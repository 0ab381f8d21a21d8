"""The mutations of `make mutants`: comparisons, arithmetic, constants, conditions, return values and a few calls."""

import ast
import copy
from pathlib import Path

TINY = 1e-6
COSTS = {
    "BLOCK": "rows and columns of the exact pass in memory",
    "DOUBLE": "up to which size it takes double precision",
    "_KEPT": "numbers that it keeps",
    "_DENSE_COLUMNS": "up to which number of columns it multiplies a dense matrix",
    "_LANDMARKS": "rows whose shares stand for those of all rows",
    "_CHUNK": "pairs that the cheap measure scores at a time",
    "_LARGEST_TABLE": "additions up to which sets are matched by a table",
    "_MOST_ROWS": "rows of it that are counted",
    "_STEP": "numbers that matching keeps",
    "_FEW_SETS": "pairs of sets up to which their texts are looked up at once",
    "_CHEAP_AT_ONCE": "pairs that a cheap measure scores at a time",
    "_cost": "additions of that table",
    "_one_cluster": "whether clusters need not be merged one by one",
    "_ASKED_AT_ONCE": "pairs that a measure scores at a time",
    "_LARGEST": "texts that are grouped at a time",
    "_CACHED": "results that are kept",
    "_AT_ONCE": "pairs of which the grid is in memory",
}
"""Numbers and functions that decide about time, memory or the size of a sample, and what of.

Neither they nor the expressions and conditions that compare them are changed: each value gives the same results, or
results within the stated error. Tests set some of them to compare the ways between which they choose.
"""
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


def other_number(value):
    """The value that replaces a constant: nearby, so that a test has to know the constant."""
    if isinstance(value, bool):
        return not value
    return value / 2 if isinstance(value, float) and abs(value) > TINY else value + 1


def changes(node):
    """Functions that change a node in place, with a name for each."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            if type(operator) in COMPARISONS:
                opposite = COMPARISONS[type(operator)]
                yield opposite.__name__, lambda n, index=index, opposite=opposite: n.ops.__setitem__(index, opposite())
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        opposite = OPERATORS[type(node.op)]
        yield opposite.__name__, lambda n, opposite=opposite: setattr(n, "op", opposite())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not not", lambda n: setattr(n, "operand", ast.UnaryOp(ast.Not(), n.operand))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "plus", lambda n: setattr(n, "op", ast.UAdd())
    elif isinstance(node, ast.BoolOp):
        opposite = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield opposite.__name__, lambda n, opposite=opposite: setattr(n, "op", opposite())
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "negated", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    elif isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        value = other_number(node.value)
        yield repr(value), lambda n, value=value: setattr(n, "value", value)
    elif isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in CALLS:
            field = "id" if isinstance(node.func, ast.Name) else "attr"
            yield CALLS[name], lambda n, field=field, name=name: setattr(n.func, field, CALLS[name])
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield "return None", lambda n: setattr(n, "value", ast.Constant(None))


def costs(tree):
    """Ids of the nodes that decide about `COSTS` only."""
    above = {id(inner): node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in COSTS:
            skipped |= {id(inner) for inner in ast.walk(node)}
        names = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        if any(isinstance(name, ast.Name) and name.id in COSTS for name in names) and node.value is not None:
            skipped |= {id(inner) for inner in ast.walk(node.value)}
        if not (isinstance(node, ast.Name) and node.id in COSTS):
            continue
        expression = node
        while isinstance(above[id(expression)], ast.BinOp | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call):
            call = above[id(expression)]
            if isinstance(call, ast.Call) and call.func is not node and getattr(call.func, "id", "") not in CALLS:
                break
            expression = call
        skipped |= {id(inner) for inner in ast.walk(expression)}
        condition = above[id(expression)]
        if isinstance(condition, ast.If | ast.IfExp | ast.While) and condition.test is expression:
            skipped.add(id(condition))
    return skipped


def mutable(tree):
    """(index in the tree, node, line of its statement or None) of each node that can change.

    That is everything inside functions, and the named numbers of modules and classes, which have no line.
    Annotations and tables of data are left alone, and so are `COSTS` and `strict` of `zip`, which shows faults of other
    code only.
    """
    skipped, statement, constants = costs(tree), {}, set()
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if getattr(node, field, None) is not None:
                skipped |= {id(inner) for inner in ast.walk(getattr(node, field))}
        if isinstance(node, ast.keyword) and node.arg == "strict":
            skipped.add(id(node.value))
        if isinstance(node, ast.FunctionDef):
            for inner in ast.walk(node):
                if inner is not node and isinstance(inner, ast.stmt):
                    statement |= {id(child): inner.lineno for child in ast.walk(inner)}
        if isinstance(node, ast.Module | ast.ClassDef):
            values = [s.value for s in node.body if isinstance(s, ast.Assign | ast.AnnAssign) and s.value is not None]
            constants |= {id(v) for v in values if isinstance(v, ast.Constant)}
    for index, node in enumerate(ast.walk(tree)):
        if id(node) not in skipped and (id(node) in statement or id(node) in constants):
            yield index, node, statement.get(id(node))


def mutants(folder):
    """(path, index of the node, number of the change, line of the statement, its line, name) of every mutant."""
    for path in sorted(folder.rglob("*.py")):
        for index, node, statement in mutable(ast.parse(path.read_text(encoding="utf-8"))):
            for number, (name, _) in enumerate(changes(node)):
                yield str(path), index, number, statement, node.lineno, name


def mutated(path, index, number):
    """The tree of a module with one change, and the first line of the changed node, old and new."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[index]
    original = ast.unparse(copy.deepcopy(node)).splitlines()[0]
    _, change = list(changes(node))[number]
    change(node)
    return ast.fix_missing_locations(tree), original, ast.unparse(node).splitlines()[0]
