"""Kind d: a block is written again with a small change; the old one stands above and is what the user replaces."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A block, and what its new version says instead in its first line."""

    name: str
    language: str
    change: str
    """The comment above the new version."""
    replaced: tuple[str, str]
    """Old and new text, in the first line of the block."""
    block: str


REWRITTEN: tuple[Rewrite, ...] = (
    Rewrite(
        "load",
        "python",
        "`path` is called `file`",
        ("path", "file"),
        """def load(path, encoding):
    with open(path, encoding=encoding) as stream:
        text = stream.read()
    result = {}
    for number, line in enumerate(text.splitlines()):
        key, _, value = line.partition("=")
        if not key.strip():
            continue
        result[key.strip()] = value.strip()
    return result
""",
    ),
    Rewrite(
        "total",
        "typescript",
        "free items are left out",
        ("totalPrice", "totalPaid"),
        """function totalPrice(items: Item[], rate: number): number {
  let total = 0;
  for (const item of items) {
    const price = item.price * item.count;
    total += price;
  }
  const tax = Math.round(total * rate);
  return total + tax;
}
""",
    ),
    Rewrite(
        "copy file",
        "go",
        "`from` and `to` are called `source` and `target`",
        ("from, to string", "source, target string"),
        """func copyFile(from, to string) (int64, error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	return io.Copy(out, in)
}
""",
    ),
    Rewrite(
        "render",
        "python",
        "`depth` is called `level`",
        ("depth", "level"),
        """def render(node, depth=0):
    indent = "  " * depth
    if isinstance(node, str):
        return indent + node
    lines = [indent + "<" + node.tag + ">"]
    for child in node.children:
        lines.append(render(child, depth + 1))
    lines.append(indent + "</" + node.tag + ">")
    return "\\n".join(lines)
""",
    ),
    Rewrite(
        "upload",
        "javascript",
        "uses PUT instead of POST",
        ("create", "replace"),
        """async function create(url, record) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(record),
  });
  if (!response.ok) {
    throw new Error(`the server answered ${response.status}`);
  }
  return response.json();
}
""",
    ),
    Rewrite(
        "largest",
        "go",
        "returns the smallest instead of the largest",
        ("Largest", "Smallest"),
        """func Largest(values []float64) (float64, error) {
	if len(values) == 0 {
		return 0, errors.New("no values")
	}
	best := values[0]
	for _, value := range values[1:] {
		if value > best {
			best = value
		}
	}
	return best, nil
}
""",
    ),
)
