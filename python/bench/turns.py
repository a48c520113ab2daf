"""Ways that are timed beside each other."""
import time


def least(ways, runs, calls=1):
    """Seconds of a call of each way, the least of `runs`, each in its turn."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(runs):
        for name, way in ways.items():
            begun = time.perf_counter()
            for _ in range(calls):
                way()
            best[name] = min(best[name], (time.perf_counter() - begun) / calls)
    return best
