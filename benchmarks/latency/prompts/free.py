"""Kind a: a function or a class is begun, and nothing in the file says how it goes on. (Name, language, text.)"""

FREE: tuple[tuple[str, str, str], ...] = (
    (
        "python files",
        "python",
        """import os


def python_files(root):
    \"\"\"Yield the path and the size of every Python file below root.\"\"\"
""",
    ),
    (
        "lru cache",
        "typescript",
        """// Keeps the values that were read last, at most `capacity` of them.
export class RecentValues<K, V> {
  private readonly values = new Map<K, V>();

  constructor(private readonly capacity: number) {}

  get(key: K): V | undefined {
""",
    ),
    (
        "word count",
        "go",
        """package words

import (
	"bufio"
	"io"
	"strings"
)

// Count returns how often each word occurs in r, in lower case.
func Count(r io.Reader) (map[string]int, error) {
""",
    ),
    (
        "settings",
        "python",
        """import json


class Settings:
    \"\"\"Settings in a JSON file.\"\"\"

    def __init__(self, path):
""",
    ),
    (
        "query string",
        "javascript",
        """/** Returns the parameters of a URL as an object; a parameter without a value is an empty string. */
function parseQuery(url) {
""",
    ),
    (
        "intervals",
        "python",
        """def merge_intervals(intervals):
    \"\"\"Return the intervals as a sorted list in which none overlap.\"\"\"
""",
    ),
    (
        "rate limiter",
        "go",
        """package limit

import (
	"sync"
	"time"
)

// Limiter allows a number of events in each period.
type Limiter struct {
	mu     sync.Mutex
	events []time.Time
	most   int
	period time.Duration
}

// Allow reports whether one more event may happen now.
func (l *Limiter) Allow() bool {
""",
    ),
    (
        "retry",
        "javascript",
        """/** Calls an async function until it succeeds; waits twice as long after each failure. */
async function retry(action, attempts = 5, delay = 100) {
""",
    ),
)
