# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""In the machine: guest.py CARD. Takes the steps of a cell, one after the other (STEPS="attach
doctor" in the environment: these alone). Prints a line for each; ends with 1 if one failed, or if
the kernel complains.

Each step has a daemon of its own, in a folder of its own, which is stopped behind it, whatever
became of it.
"""
import os
import sys
import tempfile
import time
import traceback

import steps
import steps_driver
import steps_links
from card import Absent, CardDaemon, CardLab
from netlab import run

STEPS = steps_driver.STEPS + steps.STEPS + steps_links.STEPS
COMPLAINTS = ("BUG:", "Oops", "WARNING:", "Call Trace", "UBSAN")


def one_step(step, lab, folder):
    """(result, words)"""
    daemon = CardDaemon(lab, folder)
    try:
        return "PASS", step(lab, daemon)
    except Absent as why:
        return "NONE", str(why)
    except Exception as err:  # whatever it is, the next steps are taken
        traceback.print_exc(limit=-3, file=sys.stdout)
        print("\n".join(daemon.log().splitlines()[-12:]))
        return "FAIL", f"{type(err).__name__}: {err}".replace("\n", " ")[:600]
    finally:
        daemon.clean_up()


def complaints():
    """What the kernel says that it must not."""
    lines = run("dmesg").stdout.splitlines()
    return [line for line in lines if any(word in line for word in COMPLAINTS)]


def main():
    wanted = os.environ.get("STEPS", "").split()
    failed = 0
    lab = CardLab(sys.argv[1])
    for number, step in enumerate(STEPS + steps_driver.ON_REQUEST):
        name = step.__name__.removeprefix("step_")
        if name not in wanted and (wanted or step in steps_driver.ON_REQUEST):
            continue
        began = time.monotonic()
        folder = tempfile.mkdtemp(prefix=f"{number}-")
        result, words = one_step(step, lab, folder)
        failed += result == "FAIL"
        print(f"{result} {name}: {words} [{time.monotonic() - began:.1f} s]", flush=True)
    said = complaints()
    if said:
        print("FAIL kernel:", said[0])
    sys.exit(1 if failed or said else 0)


if __name__ == "__main__":
    main()
