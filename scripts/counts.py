#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""counts.py [--bound]: prints numbers about the structure of the code.

With --bound it fails, and says so, for each of these:

- a struct with more than four booleans, a state machine without names or a drawing, unless the
  comment before it says what its booleans are;
- a circle of includes within a folder;
- a file name in two folders, unless NAMES_TWICE gives the reason;
- a name in NAMES_TWICE that is in one folder alone;
- a static function whose name stands twice in userspace and xdp;
- a file of network or comparison tests that docs/testing.md does not name, or a file of tests that
it names and that does not exist.

Without --bound it prints the structs with most booleans (of those without such a comment), the fields of `struct daemon`, circles of
includes within a folder, file names in more than one folder, small headers, functions that only
tests call, the longest lines, and the files that name each key of the configuration. It reads only files that git tracks or would add. Each number
has its own line, so `diff` can compare two trees.
"""
import collections
import pathlib
import re
import subprocess
import sys

SHOWN = 10
BOOLEANS_MAX = 4
HEADER_MIN = 20
# File names that stand in more than one folder, and why.
SAME_THING = "the same thing in the driver and in userspace"
NAMES_TWICE = {
    "clock.h": SAME_THING,
    "cookie.h": SAME_THING,
    "tap.h": SAME_THING,
}
STRUCT = re.compile(r"^(?:static )?struct (\w+)(?:\[\w*\])? \{\n(.*?)^\}", re.M | re.S)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# The comment before a struct that says why its booleans are no states.
FACTS = re.compile(r"/\*(?:(?!\*/).)*\bbooleans\b(?:(?!\*/).)*\*/\n(?:static )?struct (\w+)", re.S)
# A static function with its body; the name stands before the arguments.
STATIC = re.compile(r"^static (?:__always_inline |inline |__noinline )?(?:__attribute__\(\([^)]*\)\) )?"
                    r"(?:\w+(?: +\**| *\*+)\n?)+?(?!__attribute__)(\w+)\([^;{]*?\)\s*(?:__attribute__\(\([^\n]*\)\)\s*)?\n\{",
                    re.M)
# A function's declaration or head outside of any other: the name before its arguments
OUTER = re.compile(r"^(?:static inline )?(?!typedef|return|else|static|extern)"
                   r"(?:[A-Za-z_]\w*(?:\(\([^\n]*?\)\))?[ \*]+)+(\w+)\(", re.M)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"')
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def files():
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    names = set(subprocess.run(command, capture_output=True, text=True,
                               check=True).stdout.split("\n"))
    return [path for path in map(pathlib.Path, sorted(names - {""})) if path.is_file()]


def text_of(path):
    return path.read_text(encoding="utf-8")


def declared(line):
    """How many names a declaration declares."""
    return line.count(",") + 1


def structs(sources):
    """
    (name, file, fields, booleans) of each struct; fields of unnamed structs inside count as its own
    """
    for path in sources:
        text = text_of(path)
        facts = set(FACTS.findall(text))
        for name, body in STRUCT.findall(COMMENT.sub("", text)):
            if name in facts:
                continue
            lines = [line.strip() for line in body.split(";")]
            fields = [line for line in lines if line and not line.startswith("}")]
            yield (name, path, sum(map(declared, fields)),
                   sum(declared(line) for line in fields
                       if re.match(r"(?:volatile |_Atomic )?bool\b", line.split("\n")[-1].strip())))


def circles(sources):
    """
    Groups of modules (header and source of one name) of one folder that include each other in a
    circle
    """
    edges = collections.defaultdict(set)
    for path in sources:
        here = (path.parent.name, path.stem)
        for target in INCLUDE.findall(text_of(path)):
            there = pathlib.PurePath(target)
            if there.parent.name == here[0] and there.stem != here[1]:
                edges[here].add((here[0], there.stem))
    reach = {}
    for start in list(edges):
        seen, todo = set(), [start]
        while todo:
            for there in edges.get(todo.pop(), ()):
                if there not in seen:
                    seen.add(there)
                    todo.append(there)
        reach[start] = seen
    groups = {frozenset(b for b in seen if a in reach.get(b, ())) for a, seen in reach.items()
              if a in seen}
    return sorted(sorted(f"{folder}/{name}" for folder, name in group) for group in groups)


def longest(paths, bound):
    found = [(max(map(len, text_of(path).expandtabs(8).split("\n"))), path) for path in paths]
    return len([1 for n, _ in found if n > bound]), sorted(found, reverse=True)[:SHOWN]


def names_twice(sources):
    """(name, folders) of each file name that stands in more than one folder"""
    places = collections.defaultdict(set)
    for path in sources:
        places[path.name].add(path.parent.name)
    return sorted((name, sorted(where)) for name, where in places.items() if len(where) > 1)


def statics_twice(sources):
    """(name, paths) of each static function whose name stands twice"""
    places = collections.defaultdict(list)
    for path in sources:
        for match in STATIC.finditer(path.read_text("utf-8")):
            places[match[1]].append(path)
    return sorted((name, where) for name, where in places.items() if len(where) > 1)


def small_headers(sources):
    """Headers with fewer than HEADER_MIN lines of code, guards and includes among them"""
    for path in sources:
        if path.suffix == ".h":
            lines = COMMENT.sub("", text_of(path)).split("\n")
            if sum(bool(line.strip()) for line in lines) < HEADER_MIN:
                yield path


def only_tests(every, sources):
    """(name, header) of each function of userspace's headers that no code of the tree calls"""
    code = {path: TEXT.sub("", COMMENT.sub("", text_of(path))) for path in sources}
    words = collections.Counter(word for text in code.values() for word in re.findall(r"\w+", text))
    tests = {word for path in every if path.suffix in (".c", ".h") and path.parts[0] == "tests"
             for word in re.findall(r"\w+", text_of(path))}
    lines = collections.Counter(name for text in code.values() for name in OUTER.findall(text))
    for path, text in code.items():
        if path.suffix == ".h" and path.parts[0] == "userspace":
            for name in sorted(set(OUTER.findall(text))):
                if name in tests and words[name] == lines[name]:
                    yield name, path


def unnamed_tests(every):
    """A sentence for each test file that docs/testing.md should name, and does not, or the reverse"""
    named = set(re.findall(r"\btest_\w+\.(?:py|c)\b", text_of(pathlib.Path("docs/testing.md"))))
    tests = {path.name: path for path in every if path.parts[0] == "tests"}
    for name, path in sorted(tests.items()):
        if name.startswith("test_") and path.parts[1] in ("net", "diff") and name not in named:
            yield f"{path}: docs/testing.md does not name it: add it to the row of its subject"
    for name in sorted(named - set(tests)):
        yield f"docs/testing.md: there is no {name} in tests/"


def faults_of(sources):
    """A sentence for each thing that --bound forbids"""
    for name, path, _, n_bool in structs(sources):
        if n_bool > BOOLEANS_MAX:
            yield f"{path}: struct {name} has {n_bool} booleans, more than {BOOLEANS_MAX}: give the states names (enum)"
    for ring in circles([path for path in sources if path.parts[0] == "userspace"]):
        yield f"{' '.join(ring)}: these include each other: what they share goes to a header below them"
    twice = dict(names_twice(sources))
    for name in sorted(set(twice) - set(NAMES_TWICE)):
        yield f"{name} is in {' and '.join(twice[name])}: give one of these a name of its own"
    for name in sorted(set(NAMES_TWICE) - set(twice)):
        yield f"scripts/counts.py: {name} is in one folder alone: take it out of NAMES_TWICE"
    for name, where in statics_twice(sources):
        yield f"{where[1]}: {where[0]} has a static function {name}(), too: give one of them a name of its own"


def check_bound():
    every = files()
    sources = [path for path in every if path.parts[0] in ("userspace", "xdp")
               and path.suffix in (".c", ".h")]
    wrong = [*faults_of(sources), *unnamed_tests(every)]
    for fault in wrong:
        print(fault)
    return 1 if wrong or not sources else 0


def main():
    every = files()
    c = [path for path in every if path.parts[0] in ("userspace", "xdp")
         and path.suffix in (".c", ".h")]
    found = sorted(structs(c), key=lambda row: (-row[3], row[0]))
    print("structs with more than four booleans:",
          len([1 for row in found if row[3] > BOOLEANS_MAX]))
    for name, path, n_fields, n_bool in found[:SHOWN]:
        print(f"  {n_bool} booleans of {n_fields} fields: struct {name}, {path}")
    for name, path, n_fields, n_bool in found:
        if name == "daemon":
            n_files = sum(bool(re.search(r"struct daemon\b", text_of(p))) for p in c)
            print(f"struct daemon: {n_fields} fields, {n_bool} booleans, named in {n_files} files")
    rings = circles([path for path in c if path.parts[0] == "userspace"])
    print("circles of includes within a folder:", len(rings))
    for ring in rings:
        print("  " + " ".join(ring))
    twice = names_twice(c)
    print("file names in more than one folder:", len(twice))
    for name, where in twice:
        print(f"  {name}: {' '.join(where)}")
    headers = [path for path in c if path.suffix == ".h"]
    small = list(small_headers(headers))
    print(f"headers with under {HEADER_MIN} lines of code: {len(small)} of {len(headers)}")
    for name, path in only_tests(every, c):
        print(f"only tests call {name}(), {path}")
    print("names of static functions that stand twice:", len(statics_twice(c)))
    for what, paths, bound in (("code", c, 100),
                               ("docs", [p for p in every if p.suffix == ".md"], 120)):
        n, rows = longest(paths, bound)
        print(f"files of {what} with a line of more than {bound} columns: {n}")
        for columns, path in rows:
            print(f"  {columns} columns: {path}")
    config = [p for p in c if p.parts[1] == "config"]
    keys = collections.Counter()
    for path in config:
        for key in set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', text_of(path))):
            keys[key] += 1
    print("keys of the configuration (with a hyphen) named in more than one file of config/:",
          len([1 for n in keys.values() if n > 1]))
    print("lines of userspace:",
          sum(text_of(p).count("\n") for p in c if p.parts[0] == "userspace"))


if __name__ == "__main__":
    sys.exit(check_bound() if sys.argv[1:] == ["--bound"] else main())
