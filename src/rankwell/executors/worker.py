"""A process that other processes call: `[function, argument]` on each line of standard input, an
answer on each of its output.
"""

import json
import os
import queue
import sys
import threading

from rankwell.core.kernels.interrupts import leave_interrupts_to_parent
from rankwell.executors import call


def main() -> None:
    """Answers until the input ends, and then ends at once, in the middle of a call, too."""
    leave_interrupts_to_parent()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is not an answer
    calls: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(calls,), daemon=True).start()
    while True:
        function, argument = json.loads(calls.get())
        answers.write(call(function, argument) + "\n")
        answers.flush()


def _read(calls: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        calls.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
