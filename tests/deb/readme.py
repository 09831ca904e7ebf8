# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of README.md and of the pages that continue it, as they stand there."""
import re

from netlab import ROOT

PAGES = ("README.md", "docs/installing.md", "docs/serving.md")
PROGRAMS = ("make", "apt-get", "cp", "dig", "editor", "ip", "journalctl", "ln", "mkdir", "podman", "systemctl",
            "volleyctl", "volleyd", "xdp-loader")
COMMAND = re.compile(rf"(?:{'|'.join(PROGRAMS)}|(?:build/bin|scripts)/\S+) ")
YAML = re.compile(r"(?:# my\.yaml|[a-z]+:)$")
# What a block shows that is neither commands nor a configuration: output, the map of folders.
OTHERS = re.compile(r"QUERY |xdp/ ")


def text():
    return "\n".join((ROOT / page).read_text("utf-8") for page in PAGES)


class Command(str):
    """`section`: the heading above it. `comment`: what stands behind it."""
    section = comment = ""


def blocks(text):
    """
    (heading, lines) of each block that is indented; a line that ends in a backslash goes on in the
    next one.
    """
    heading, lines = "", []
    for line in [*text.replace("\\\n", "").splitlines(), "end"]:
        if line.startswith("    ") or (not line and lines):
            lines.append(line.strip())
            continue
        if any(lines):
            yield heading, [one for one in lines if one]
        lines = []
        if line.startswith("#"):
            heading = line.lstrip("# ")


def is_commands(heading, lines):
    if COMMAND.match(lines[0]):
        assert all(COMMAND.match(line)
                   for line in lines), f"{heading}: a command and something else: {lines}"
        return True
    assert YAML.match(lines[0]) or OTHERS.match(lines[0]), f"{heading}: neither commands nor a configuration: {lines}"
    return False


def read():
    """All commands of the blocks, in their order."""
    found = []
    for heading, lines in blocks(text()):
        if not is_commands(heading, lines):
            continue
        for line in lines:
            words, _, comment = line.partition(" # ")
            command = Command(re.sub(r"\s+", " ", words.strip()))
            command.section, command.comment = heading, comment.strip()
            found.append(command)
    return found


def configuration(first):
    """The text of the block that begins with this line."""
    block = re.search(rf"(?m)^    {re.escape(first)}\n((?:    .*\n)+)", text())[1]
    return re.sub(r"(?m)^    ", "", block)


def in_prose():
    """Commands in the sentences, between backticks: the program and what follows."""
    prose = re.sub(r"(?m)^    .*$", "", text())
    return [words.split() for words in re.findall(r"`([^`]+)`", prose)
            if words.split()[0] in PROGRAMS and " " in words]
