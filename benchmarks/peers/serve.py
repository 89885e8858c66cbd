"""Runs the peers' side of the workloads in one long-lived process.

Reads a request a line and answers each with one line:

    describe                    {"numpy": "2.4.6", ...}
    prepare WORKLOAD SEED       ok CONTENDER ...
    run CONTENDER TIMES         ok WALL_NS CPU_NS CHECKSUM
    drop                        ok

An answer that starts with "error" says why there is none. The end of the input ends it.
"""

import gc
import json
import os
import sys
import time
import traceback

import workloads

# Idle threads of OpenBLAS spin for some 25 ms before they sleep: what runs next must
# not share the cores with them.
SETTLE = 0.05 if int(os.environ.get("OMP_NUM_THREADS", "1")) > 1 else 0


def timed(call, times):
    """Nanoseconds of wall and of process CPU time."""
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(times):
        call()
    return time.perf_counter_ns() - wall, time.process_time_ns() - cpu


def run(contender, times):
    wall, cpu = contender.measure(timed, times)
    time.sleep(SETTLE)
    return f"ok {wall} {cpu} {contender.checksum()!r}"


class Server:
    def __init__(self):
        self.contenders = {}

    def answer(self, request):
        verb, *args = request.split()
        if verb == "describe":
            return json.dumps(workloads.versions())
        if verb == "prepare":
            self.contenders = {}
            self.contenders = workloads.contenders(args[0], int(args[1]))
            gc.collect()
            return " ".join(["ok", *self.contenders])
        if verb == "run":
            return run(self.contenders[args[0]], int(args[1]))
        if verb == "drop":
            self.contenders = {}
            gc.collect()
            return "ok"
        raise ValueError(f"unknown request {verb!r}")


def main():
    gc.disable()  # a collection inside a timed call would be noise, and nothing here has cycles
    server = Server()
    # Libraries print to stdout at times: only answers may go there.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            print(server.answer(line), file=answers)
        except Exception as e:  # the answer names it; the other side decides
            traceback.print_exc()
            print(f"error {type(e).__name__}: {e}".replace("\n", " "), file=answers)


if __name__ == "__main__":
    main()
