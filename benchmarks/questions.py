"""Ask many questions in one process. The first one includes the imports. Run as a process of its own."""

import json
import sys
import time


def ask(root: str, questions: int, warm_up: int = 500) -> "dict[str, float]":
    """The seconds of the first and the second question, and how many KiB the process grew by after the warm-up."""
    begin = time.perf_counter()
    from testlore import recall

    times = []
    grown_from = 0
    for number in range(questions):
        answer = recall(root, f"retry timeout {number % 50}")
        times.append(time.perf_counter() - begin)
        if answer.retrieval != "ruvector":
            raise SystemExit(f"not native: {answer}")
        if number == warm_up:
            grown_from = peak()
        begin = time.perf_counter()
    return {"first": times[0], "second": times[1], "grown_kib": peak() - grown_from if grown_from else 0}


def peak() -> int:
    """The most memory that this process ever had, in KiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1], int(sys.argv[2]))))
