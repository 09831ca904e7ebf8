#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the driver ever denies a name that exists, while names come and go.

    tests/perf/denialchange.py --rate 1000 --seconds 120 --rebuild 10

Editors on the control socket add a record and remove it: an address, a wildcard, a name below an
empty one, a cut, a DNAME. Each time it is at another name, since one that went stays in the filter.
Others ask for these names meanwhile, before they come, while they are there, and after. The history
of a name is one fact at a time: it is there (from the end of its adding to the beginning of its
removal), it is not there, or it is changing. An answer is judged when the fact was the same before
the query and behind the answer:

denied:  NXDOMAIN for a name that was there. There must be none.
revived: another answer for a name that was not there. There must be none.

--rebuild has the filter rebuilt each so many seconds. Needs root.
"""
import argparse
import json
import pathlib
import random
import shutil
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "net"))
from changes import Client  # noqa: E402
from netlab import V4, Daemon, Lab, write_zone, zone  # noqa: E402

import dns.message  # noqa: E402

ZONE = "z.test"
EDITORS = 10
NXDOMAIN = 3
# A record, and what is asked for, with {} for a name that was never there
KINDS = (("{} 300 A 192.0.2.7", "{}"), ("*.{} 300 A 192.0.2.7", "below.{}"),
         ("below.{} 300 A 192.0.2.7", "{}"),
         ("{} 300 NS ns.other.test.", "below.{}"), ("{} 300 DNAME other.test.", "x.below.{}"))


class Fact:
    """About one name, until the next one; compared by identity."""

    def __init__(self, name, is_there):
        self.name, self.is_there = name, is_there


class Editor(threading.Thread):
    """Adds and removes names; .facts are about the present ones, none while they change."""

    def __init__(self, number, path, rate, end):
        super().__init__()
        self.client, self.number, self.pause, self.end = Client(path), number, len(
            KINDS) / rate, end
        self.n, self.facts, self.error = 0, [], None

    def run(self):
        try:
            self.edit()
        except (RuntimeError, OSError, ValueError) as error:
            self.error = error
        self.facts = []
        self.client.close()

    def edit(self):
        """One of each kind in a command, so that few commands make many edits."""
        i, due = 0, time.monotonic() + self.pause * self.number / EDITORS
        while time.monotonic() < self.end:
            label = f"e{self.number}x{i}"
            rows = [[text.format(f"{label}k{k}") for text in row] for k, row in enumerate(KINDS)]
            names = [f"{asked}.{ZONE}" for _, asked in rows]
            steps = (([f"add {record}" for record, _ in rows], True),
                     ([f"remove {record.split()[0]} {record.split()[2]}" for record, _ in rows],
                      False))
            self.facts = [Fact(name, False) for name in names]
            for changes, is_there in steps:
                due += self.pause
                time.sleep(max(self.pause / 4, due - time.monotonic()))
                self.facts = []
                self.client.run("zone", "edit", ZONE, *changes)
                self.facts = [Fact(name, is_there) for name in names]
                self.n += len(changes)
            time.sleep(self.pause / 4)
            i += 1


class Asker(threading.Thread):
    """Asks for the names of all editors in turn."""

    def __init__(self, lab, editors, end):
        super().__init__()
        self.lab, self.editors, self.end = lab, editors, end
        self.asked = self.lost = self.n_there = self.n_not_there = 0
        self.denied, self.revived = [], []

    def run(self):
        with self.lab.socket("c") as sock:
            sock.settimeout(0.5)
            sock.connect((V4, 53))
            while time.monotonic() < self.end:
                before = self.asked
                for editor in self.editors:
                    facts = editor.facts
                    if facts:
                        self.ask(sock, editor, facts, random.choice(facts))
                if self.asked == before:
                    time.sleep(0.0005)

    def ask(self, sock, editor, facts, fact):
        self.asked += 1
        query = dns.message.make_query(fact.name, "A", id=self.asked & 0xffff).to_wire()
        sock.send(query)
        try:
            reply = sock.recv(2000)
            while reply[:2] != query[:2]:
                reply = sock.recv(2000)
        except socket.timeout:
            self.lost += 1
            return
        if editor.facts is facts:
            self.judge(fact, reply[3] & 15)

    def judge(self, fact, rcode):
        if fact.is_there:
            self.n_there += 1
            if rcode == NXDOMAIN:
                self.denied.append(fact.name)
        else:
            self.n_not_there += 1
            if rcode != NXDOMAIN:
                self.revived.append(fact.name)


def rebuild(daemon, pause, end):
    """The filter, each so many seconds."""
    while pause and time.monotonic() + pause < end:
        time.sleep(pause)
        daemon.ctl("names", "rebuild")


def run(lab, daemon, seconds, rate, askers=2, pause=0):
    """For a daemon that serves ZONE; a dict of figures."""
    lab.ask(f"no.{ZONE}")
    end, before, begun = time.monotonic() + seconds, daemon.reasons(), time.monotonic()
    editors = [Editor(i, daemon.socket, rate / EDITORS, end) for i in range(EDITORS)]
    threads = editors + [Asker(lab, editors, end) for _ in range(askers)]
    for thread in threads:
        thread.start()
    rebuild(daemon, pause, end)
    for thread in threads:
        thread.join()
    took = time.monotonic() - begun
    errors = [str(editor.error) for editor in editors if editor.error]
    asking, after, names = threads[len(editors):], daemon.reasons(), daemon.json("names")
    sums = {key: sum(getattr(asker, key) for asker in asking)
            for key in ("asked", "lost", "n_there", "n_not_there")}
    return {**sums, "denied": sum((asker.denied for asker in asking), []),
            "revived": sum((asker.revived for asker in asking), []), "errors": errors,
            "edits": sum(editor.n for editor in editors),
            "edits_per_second": round(sum(editor.n for editor in editors) / took),
            "denied_by_driver": after["hit-denied"] - before["hit-denied"],
            "checked": after["up-checked"] - before["up-checked"],
            "compared": names["answers_compared"], "undecided": names["answers_undecided"],
            "wrong": names["denials_wrong"] + names["answers_wrong"], "rebuilds": names["rebuilds"]}


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--rate", type=float, default=1000, help="edits a second (1000)")
    parser.add_argument("--askers", type=int, default=2)
    parser.add_argument("--rebuild", type=float, default=0,
                        help="the filter is rebuilt each so many seconds (never)")
    options = parser.parse_args(argv)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="denials-"))
    lab = Lab()
    daemon = Daemon(lab, folder)
    try:
        daemon.start(server={"storage": str(folder / "state")},
                     cache={"size": "64M", "names": "2M"},
                     zones=[zone(ZONE, write_zone(folder / "z.zone", 1))])
        figures = run(lab, daemon, options.seconds, options.rate, options.askers, options.rebuild)
        print(json.dumps(figures, indent=1))
    finally:
        if daemon.process:
            daemon.process.terminate()
            daemon.process.wait(60)
        lab.close()
        shutil.rmtree(folder)
    return (1 if figures["denied"] or figures["revived"] or figures["errors"] or figures["wrong"]
            else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
