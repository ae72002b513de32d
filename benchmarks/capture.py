"""Put one more episode into a project's memory, as the last step of a capture does. Run as a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from testlore.memory import writer

from benchmarks import corpus

if __name__ == "__main__":
    root, number = sys.argv[1], int(sys.argv[2])
    writer.update(root, lambda records: [*records, *corpus.more(number, 1)])
