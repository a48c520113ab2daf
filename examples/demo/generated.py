"""Writes orders.tbl and lineitem.tbl of generated columns, if the TPC-H generator is not available.

Usage: generated.py KEYRAY SCALE FOLDER

Columns stand where TPC-H has them: orders 0 key, 3 price, 4 date; lineitem 0 order key. Numbers come from
`keyray gen`, so the files are the same on every machine.
"""
import datetime
import pathlib
import subprocess
import sys

import npy

DAYS = 2406  # of TPC-H's order dates, from 1992-01-01


def main():
    keyray, scale, folder = sys.argv[1], float(sys.argv[2]), pathlib.Path(sys.argv[3])
    n = max(100, int(1500000 * scale))

    def gen(what, name, *options):
        path = folder / name
        subprocess.run([keyray, "gen", what, "-o", path, "--quiet", *map(str, options)], check=True)
        return path

    def column(path):
        values = npy.read(path)
        path.unlink()
        return values

    print(f"generating {n} orders and {4 * n} lines with 'keyray gen'")
    keys = gen("keys", "keys.npy", "--count", n, "--stride", 4)
    lines = column(gen("probes", "lines.npy", "--keys", keys, "--count", 4 * n))
    days = gen("keys", "days.npy", "--count", DAYS)
    order_days = column(gen("probes", "order_days.npy", "--keys", days, "--count", n))
    prices = column(gen("probes", "prices.npy", "--keys", keys, "--count", n, "--seed", 43))
    days.unlink()

    first = datetime.date(1992, 1, 1)
    dates = [(first + datetime.timedelta(day)).isoformat() for day in range(DAYS)]
    with open(folder / "orders.tbl", "w") as out:
        for key, price, day in zip(column(keys), prices, order_days):
            out.write(f"{key}|0|O|{price // 100 + 1000}.{price % 100:02}|{dates[day]}|\n")
    with open(folder / "lineitem.tbl", "w") as out:
        out.writelines(f"{key}|0|\n" for key in lines)


try:
    main()
except (subprocess.CalledProcessError, OSError) as problem:
    sys.exit(f"generated.py: {problem}")
