"""A Python file, and the faults that are seeded into it one at a time."""

from __future__ import annotations

from dataclasses import dataclass

MODULE = '''"""Reads the log of a shop and sums it up."""

import csv
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path


class Order:
    """One line of the log."""

    def __init__(self, number, customer, amount, placed):
        self.number = number
        self.customer = customer
        self.amount = amount
        self.placed = placed

    def is_large(self, limit=100.0):
        return self.amount >= limit

    def describe(self):
        day = self.placed.strftime("%Y-%m-%d")
        return f"{self.number}: {self.customer} paid {self.amount:.2f} on {day}"


def read_orders(path):
    """Return the orders in a file of comma-separated values."""
    orders = []
    with Path(path).open(newline="") as stream:
        for row in csv.DictReader(stream):
            placed = datetime.fromisoformat(row["placed"])
            amount = float(row["amount"])
            orders.append(Order(row["number"], row["customer"], amount, placed))
    return orders


def total(orders, customer=None):
    """Return the sum of the amounts, of one customer or of all."""
    result = 0.0
    for order in orders:
        if customer is None or order.customer == customer:
            result += order.amount
    return result


def best_customers(orders, count=3):
    """Return the customers who ordered most often, with the number of their orders."""
    counter = Counter(order.customer for order in orders)
    return counter.most_common(count)


def largest(orders):
    """Return the order with the largest amount, or None."""
    found = None
    for order in orders:
        if found is None or order.amount > found.amount:
            found = order
    return found


def main(arguments):
    """Print the sums of a log; return the exit code."""
    if len(arguments) != 1:
        print("usage: orders FILE", file=sys.stderr)
        return 2
    orders = read_orders(arguments[0])
    for customer, number in best_customers(orders):
        print(f"{customer}: {number} orders, {total(orders, customer):.2f}")
    top = largest(orders)
    if top is not None:
        print(top.describe())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''


@dataclass(frozen=True, slots=True)
class Seeded:
    """One fault: `right` stands once in a module without faults, and `wrong` takes its place."""

    name: str
    right: str
    wrong: str
    whole: str = MODULE
    """The module without faults."""

    def module(self) -> str:
        """Return the module with the fault in it."""
        if self.whole.count(self.right) != 1:
            raise ValueError(f"the text of the fault {self.name!r} does not stand in the module once")
        return self.whole.replace(self.right, self.wrong)


SEEDED = (
    Seeded("misspelt name", "result += order.amount", "resutl += order.amount"),
    Seeded("wrong name", "return counter.most_common", "return counts.most_common"),
    Seeded("misspelt argument", "self.amount >= limit", "self.amount >= limt"),
    Seeded("misspelt module", "main(sys.argv[1:])", "main(syss.argv[1:])"),
    Seeded("missing import", "import csv\n", ""),
    Seeded("missing import from", "from collections import Counter\n", ""),
    Seeded("wrong keyword", "for customer, number in", "foreach customer, number in"),
    Seeded("missing colon", "if top is not None:", "if top is not None"),
    Seeded("unbalanced bracket", 'float(row["amount"])', 'float(row["amount"]'),
    Seeded("wrong indentation", '        print("usage: ', '    print("usage: '),
    Seeded("unexpected indentation", "    found = None\n", "        found = None\n"),
    Seeded("missing quote", '"%Y-%m-%d")', '"%Y-%m-%d)'),
    Seeded("assignment in a condition", "len(arguments) != 1", "len(arguments) = 1"),
    Seeded("comparison with a literal", "if customer is None", 'if customer is ""'),
    Seeded(
        "missing argument",
        'f"{self.number}: {self.customer} paid {self.amount:.2f} on {day}"',
        '"{}: {} paid {:.2f} on {}".format(self.number, self.customer, day)',
    ),
)
