# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Explores all executions of a few threads on a processor that orders as little as arm64 does.

A thread is a list of steps. A step may run before an earlier one of its thread unless one of these
holds: both touch the same place; the later one computes its place or its value from what the earlier
one read; the later one stores, and whether it runs depends on what the earlier one read; the
earlier one acquires; the later one releases; one of them is a barrier. All threads see stores in one
order (arm64 is multi-copy atomic). This allows more than a processor does, never less.

A grace period ends when each thread that began before it has ended, and is a barrier.

    run([writer, reader], {"word": 0}) ──► every (registers, memory) in which the threads can end
"""
import dataclasses
from typing import Callable


@dataclasses.dataclass(frozen=True)
class Step:
    kind: str                               # load, store, swap, fence, grace
    place: Callable | str = ""              # a name, or a function of the registers
    value: Callable | int = 0               # what is stored
    expect: Callable | int | None = None    # swap: only if the place has this value
    register: str = ""
    needs: tuple = ()                       # registers that place and value are computed from
    guard: Callable | None = None           # runs only if this holds
    guards: tuple = ()                      # registers that the guard reads
    order: str = ""                         # acquire, release


def load(register, place, needs=(), order=""):
    return Step("load", place, register=register, needs=needs, order=order)


def store(place, value, needs=(), guard=None, guards=(), order=""):
    return Step("store", place, value, needs=needs, guard=guard, guards=guards, order=order)


def swap(register, place, expect, value, needs=(), guard=None, guards=()):
    """A compare-and-swap. One that fails orders nothing, but it is not run early here."""
    return Step("swap", place, value, expect, register, needs, guard, guards)


FENCE = Step("fence")
GRACE = Step("grace")


def _of(what, registers):
    return what(registers) if callable(what) else what


def _is_ordered(first, later, registers):
    """Whether `later` has to wait for `first`, which stands before it in its thread."""
    if {"fence", "grace"} & {first.kind, later.kind} or "swap" in (first.kind, later.kind):
        return True
    if first.order == "acquire" or later.order == "release":
        return True
    if first.register and first.register in later.needs:
        return True
    if first.register and first.register in later.guards and later.kind == "store":
        return True
    if callable(first.place) or callable(later.place):
        known = all(name in registers for name in first.needs + later.needs)
        return known and _of(first.place, registers) == _of(later.place, registers)
    return first.place == later.place


def _execute(step, registers, memory):
    """The registers and the memory after the step."""
    if step.guard and not step.guard(registers):
        return registers, memory
    if step.kind in ("fence", "grace"):
        return registers, memory
    place = _of(step.place, registers)
    if step.kind == "load":
        return {**registers, step.register: memory.get(place, 0)}, memory
    if step.kind == "swap":
        found = memory.get(place, 0)
        registers = {**registers, step.register: found}
        if found != _of(step.expect, registers):
            return registers, memory
    return registers, {**memory, place: _of(step.value, registers)}


def _can_run(threads, done, t, i, registers):
    step = threads[t][i]
    if any(not done[t] >> k & 1 and _is_ordered(threads[t][k], step, registers[t])
           for k in range(i)):
        return False
    return step.kind != "grace" or all(
        other == t or not done[other] or done[other] == (1 << len(threads[other])) - 1
        for other in range(len(threads)))


def run(threads, memory):
    """Each end once, as (registers of each thread, memory)."""
    ends, seen = [], set()
    todo = [(tuple(0 for _ in threads), tuple({} for _ in threads), memory)]
    while todo:
        done, registers, memory = todo.pop()
        key = (done, tuple(tuple(sorted(r.items())) for r in registers),
               tuple(sorted(memory.items())))
        if key in seen:
            continue
        seen.add(key)
        if all(done[t] == (1 << len(thread)) - 1 for t, thread in enumerate(threads)):
            ends.append((registers, memory))
        for t, thread in enumerate(threads):
            for i, step in enumerate(thread):
                if done[t] >> i & 1 or not _can_run(threads, done, t, i, registers):
                    continue
                mine, after = _execute(step, registers[t], memory)
                todo.append((done[:t] + (done[t] | 1 << i,) + done[t + 1:],
                             registers[:t] + (mine,) + registers[t + 1:], after))
    return ends
