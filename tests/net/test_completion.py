# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Completion of volleyctl in bash and zsh (scripts/completion): the same commands as in `volleyctl
help`.
"""
import re

import pytest

from netlab import BIN, has, run

COMPLETIONS = BIN.parent / "completion"
NEXT = '_volleyctl_next "$@"; printf "%s\\n" "${next[@]}"'
SHELLS = {
    "bash": ("bash", "-c", f'. {COMPLETIONS}/volleyctl.bash; {NEXT}', "bash"),
    "zsh": ("zsh", "-f", "-c", f'. {COMPLETIONS}/volleyctl.zsh; {NEXT}', "zsh"),
}


@pytest.fixture(name="commands", scope="module")
def make_commands():
    """All commands, as tuples of words."""
    said = run(BIN / "volleyctl", "help").stdout
    found = re.findall(r"^ {2,4}([a-z][a-z-]*(?: [a-z][a-z-]*)*)", said, re.M)
    assert len(found) > 40 and "zone reload" in found, said
    return [tuple(command.split()) for command in found]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_is_offered_word_by_word(commands, shell):
    if not has(shell):
        pytest.skip(f"{shell} is not installed")

    def offered(*typed):
        return set(run(*SHELLS[shell], *typed).stdout.split())
    assert offered() == {command[0] for command in commands} | {"help"}
    for first in {command[0] for command in commands}:
        wanted = {command[1] for command in commands if command[0] == first and len(command) > 1}
        assert offered(first) == wanted
        assert offered("help", first) == wanted
        assert offered("--json", "-s", "a socket", first) == wanted
    assert offered("nothing-of-this-name") == set()


def test_bash_completes_words_and_options():
    def complete(*words):
        line = " ".join(f"'{word}'" for word in words)
        return run("bash", "-c",
                   f". {COMPLETIONS}/volleyctl.bash; COMP_WORDS=({line}); "
                   f"COMP_CWORD={len(words) - 1}; "
                                 '_volleyctl; printf "%s\\n" "${COMPREPLY[@]}"').stdout.split()
    assert complete("volleyctl", "zone", "relo") == ["reload"]
    assert complete("volleyctl", "res") == ["resolver"]
    assert complete("volleyctl", "--so") == ["--socket"]
    assert complete("volleyctl", "-s", "zo") == []  # a path: bash's own completion


def test_bash_quotes_names_of_zones():
    """A name from a catalog is inserted into a command line, and must not be a command there."""
    names = ["plain.test.", "`id`.test.", "a;b|c&d.test.", r"\$\(id\)\032.test."]
    quoted = run("bash", "-c",
                 f'. {COMPLETIONS}/volleyctl.bash; volleyctl() {{ printf "%s\\n" "${{given[@]}}"; }}; '
                 'given=("$@"); COMP_WORDS=(volleyctl zone status ""); COMP_CWORD=3; '
                 '_volleyctl; printf "%s\\n" "${COMPREPLY[@]}"', "bash", *names).stdout.splitlines()
    assert quoted[0] == names[0]
    assert run("bash", "-c", "printf '%s\\n' " + " ".join(quoted)).stdout.splitlines() == names
