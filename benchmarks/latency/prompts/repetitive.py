"""Kind b: the file holds several pieces of one pattern, and the next one is due. (Name, language, text.)"""


def _each(names: tuple[str, ...], template: str) -> str:
    """Return `template` once for each name; `NAME` in it is the name, `Name` the same with a capital."""
    return "".join(template.replace("NAME", name).replace("Name", name.capitalize()) for name in names)


_GETTERS = "class Record:\n    def __init__(self, data):\n        self.data = data\n\n" + _each(
    ("name", "path", "size", "color"),
    """    def get_NAME(self, default=None):
        value = self.data.get("NAME")
        if value is None:
            raise KeyError("NAME")
        return value

""",
)
_OPTIONS = "import argparse\n\nparser = argparse.ArgumentParser()\n" + _each(
    ("name", "path", "size", "color", "weight"),
    'parser.add_argument("--NAME", type=str, default=None, help="the NAME of the record")\n',
)
_ROWS = "TABLE = [\n" + "".join(
    f'    {{"id": {number}, "name": "item {number}", "price": {number}00, "tags": ["a", "b"]}},\n'
    for number in range(1, 8)
)
_REDUCER = "function settings(state, action) {\n  switch (action.type) {\n" + _each(
    ("theme", "font", "language"),
    """    case "set-NAME":
      if (state.NAME === action.value) return state;
      return { ...state, NAME: action.value, changed: true };
""",
)
_ROUTES = 'import { Router } from "express";\n\nexport const router = Router();\n\n' + _each(
    ("order", "invoice", "customer"),
    """router.get("/NAMEs/:id", async (request, response) => {
  const NAME = await load("NAME", request.params.id);
  response.json(NAME);
});

""",
)
_TESTS = 'import { expect, test } from "vitest";\nimport { area } from "./area";\n\n' + "".join(
    f"test('the area of {width} by {height}', () => {{\n"
    f"  expect(area({width}, {height})).toBe({width * height});\n"
    "});\n\n"
    for width, height in ((2, 3), (4, 5), (0, 7), (6, 6))
)
_SETTERS = "package person\n\ntype Builder struct {\n\tperson Person\n\terr    error\n}\n\n" + _each(
    ("name", "street", "city"),
    """// WithName sets the NAME.
func (b *Builder) WithName(value string) *Builder {
	if value == "" {
		b.err = errors.New("empty NAME")
	}
	b.person.Name = value
	return b
}

""",
)
_CASES = """package shape

var cases = []struct {
	name   string
	w, h   int
	area   int
	square bool
}{
""" + "".join(
    f'\t{{name: "{width} by {height}", w: {width}, h: {height}, area: {width * height}, square: {square}}},\n'
    for width, height, square in ((1, 1, "true"), (1, 2, "false"), (2, 2, "true"), (3, 4, "false"), (5, 5, "true"))
)

REPETITIVE: tuple[tuple[str, str, str], ...] = (
    ("getters", "python", _GETTERS),
    ("reducer", "javascript", _REDUCER),
    ("setters", "go", _SETTERS),
    ("options", "python", _OPTIONS),
    ("routes", "typescript", _ROUTES),
    ("table", "python", _ROWS),
    ("test cases", "go", _CASES),
    ("tests", "typescript", _TESTS),
)
