# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The result as YAML, and volleyd's judgement on it: volleyd --schema says which keys there are, and
volleyd --check whether it would start with the result."""
import json
import os
import re
import subprocess

import values

SECTIONS = ("server", "interfaces", "cache", "control", "keys", "remotes", "signing", "templates",
            "zones", "recursion", "rrl")
ITEMS_MAX = 1000  # values that volleyd refuses, before the rest is not looked at


# --- YAML -----------------------------------------------------------------------------------------


def quoted(text):
    """The text as YAML reads it back: plain if it has letters, digits and a few others only."""
    if re.fullmatch(r"[A-Za-z0-9/][A-Za-z0-9./_@%-]*", text) and text != "null":
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda c: f"\\x{ord(c[0]):02X}", escaped) + '"'


def lines_of(value, indent):
    """The lines of an object or of a long list; a line of an item begins with "- "."""
    pad = " " * indent
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str):
                yield f"{pad}{key}: {quoted(inner)}"
            elif isinstance(inner, list) and sum(
                    len(one) + 4 if isinstance(one, str) else 100 for one in inner) < 100:
                yield f"{pad}{key}: [{', '.join(map(quoted, inner))}]"
            else:
                yield f"{pad}{key}:"
                yield from lines_of(inner, indent + 2)
        return
    for item in value:
        inner = [pad + "  " + quoted(item)] if isinstance(item, str) else lines_of(item, indent + 2)
        for i, line in enumerate(inner):
            yield line if i else f"{pad}- {line[indent + 2:]}"


def to_yaml(config):
    """Without sections and lists that have nothing."""
    shown = {key: config[key] for key in SECTIONS if config.get(key)}
    return "".join(line + "\n" for line in lines_of(shown, 0))


# --- volleyd --------------------------------------------------------------------------------------


def schema_of(volleyd):
    done = subprocess.run([volleyd, "--schema"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def faults_of(volleyd, text, *options):
    """(what volleyd --check says of the configuration, its file's name); None: it is right."""
    with os.fdopen(os.memfd_create("volley.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        path = f"/proc/self/fd/{file.fileno()}"
        done = subprocess.run([volleyd, "--check", *options, "-c", path], pass_fds=[file.fileno()],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                              errors="replace", check=False)
    if not done.returncode:
        return None
    return re.findall(r"^volleyd[^ ]*: error: (.*)$", done.stderr, re.M) or \
        (done.stderr or done.stdout or f"it ended with {done.returncode}").splitlines()[-1:], path


def refusal(volleyd, text):
    """("zones[0].file", "sentence") of the first thing that volleyd refuses; None: it starts."""
    faults = faults_of(volleyd, text)
    if not faults:
        return None
    said, path = faults
    match = re.match(rf"(?:{re.escape(path)}:(?:\d+: )?)? ?(?:([a-z0-9.\[\]-]+): )?(.*)", said[0])
    return match[1] or "", match[2]


def place_of(config, key):
    """(objects on the way to "zones[0].file", the last key, the index in its list or None)."""
    way, at, leaf, index = [config], config, "", None
    for name, number in re.findall(r"([a-z0-9-]+)(?:\[(\d+)\])?", key):
        if not isinstance(at, dict) or name not in at:
            return way, name, None
        leaf, index = name, int(number) if number else None
        at = at[name]
        if index is not None and index < len(at):
            at = at[index]
        if isinstance(at, dict):
            way.append(at)
    return way, leaf, index


def judge(result, volleyd, first):
    """Adds a note for what volleyd refuses. An item of a list is left out, and the rest is judged
    again. FIRST is the node for what has no option."""
    for _ in range(ITEMS_MAX):
        refused = refusal(volleyd, to_yaml(result.config))
        if not refused:
            return
        way, leaf, index = place_of(result.config, refused[0])
        items = way[-1].get(leaf)
        value = items[index] if isinstance(items, list) and index is not None else None
        nodes = [result.origins.get((id(way[-1]), leaf, value if isinstance(value, str) else None))]
        nodes += [origin for place, origin in result.origins.items() if place[:2] == (id(way[-1]), leaf)]
        nodes += [result.origins.get((id(at), None, None)) for at in reversed(way)]
        node = next((node for node in nodes if node), first)
        if isinstance(value, str) and "cannot be read: No such file" not in refused[1]:
            result.hole(node, refused[1])
            del items[index]
            if not items:
                del way[-1][leaf]
                if way[-1] is result.config.get("server") and leaf == "allow":
                    result.allow_nobody(node)  # without server.allow all clients may ask
            continue
        where = f"{refused[0]}: " if refused[0] else ""
        result.hole(node, f"volleyd does not start with the result: {where}{refused[1]}")
        return
    result.hole(first, "volleyd refuses more than can be listed here")


def judge_zones(result, volleyd):
    """Adds a note for each zone whose file volleyd does not read."""
    said, _path = faults_of(volleyd, to_yaml(result.config), "--zones") or ([], "")
    for line in said:
        match = re.match(r"zone ([^ ]+): (.*)", line)
        zone = result.named("zones", values.domain(match[1])) if match else None
        if zone:
            result.hole(result.origins[id(zone), None, None], f"volleyd refuses the zone: {match[2]}")
