# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""A test controls a daemon's clocks, so that waits of minutes are tested in a moment."""
import struct

from netlab import ROOT, run, wait_for


class Clock:
    """The clocks of a daemon and its tick, which comes each TICK_MS, by preload/wallclock.c.

    The driver's clock is the kernel's, and stays as it is: a leap is for what has nothing to do
    with the cache.
    """
    TICK_MS = 100

    def __init__(self, folder):
        self.path, self.library = folder / "clocks", folder / "wallclock.so"
        run("gcc", "-shared", "-fPIC", "-o", self.library, ROOT / "tests/net/preload/wallclock.c")
        self.path.write_bytes(bytes(24))
        self.offset = self.leapt = 0
        self.env = {"LD_PRELOAD": str(self.library), "WALLCLOCK_FILE": str(self.path),
                    "WALLCLOCK_TICK_MS": str(self.TICK_MS)}

    def _write(self, place, number):
        with open(self.path, "r+b") as f:
            f.seek(8 * place)
            f.write(struct.pack("=q", number))

    def set(self, seconds):
        """The wall clock was set: it is off by this much. Clocks for durations are not affected."""
        self.offset = seconds
        self._write(0, seconds)

    def leap(self, seconds):
        """This much time passes, by every clock; waits of that length are over. Returns None."""
        self.leapt += seconds
        self._write(2, self.leapt)

    def ticks(self):
        """How many have begun."""
        return struct.unpack("=qqq", self.path.read_bytes())[1]

    def wait_ticks(self, n=3):
        """So many whole ticks have been."""
        before = self.ticks()
        wait_for(f"there are {n} ticks", lambda: self.ticks() > before + n, 60)
