# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Without -c volleyd reads the configuration below SYSCONFDIR, the path that --help and the man page
name.
"""
import pathlib
import re

import pytest

from netlab import BIN, ROOT, run, write_zone

GOOD = "server: {listen: ['127.0.0.1@5353']}\nzones: [{name: example.com, file: z.zone}]\n"


def default_path():
    words = run(BIN / "volleyd", "--help").stdout
    return pathlib.Path(re.search(r"Read the configuration from FILE, "
                                  r"see\s+volley\.yaml\(5\)\.\s+Default:\s+(\S+)\.\n", words)[1])


def with_configuration(folder, *words):
    """volleyd in a mount namespace where FOLDER is the folder of the default configuration."""
    there = default_path().parent
    script = 'mount -t tmpfs none "$1" && mkdir "$2" && mount --bind "$3" "$2" && shift 3 && exec "$@"'
    return run("unshare", "-m", "sh", "-c", script, "sh", there.parent, there, folder,
               BIN / "volleyd", *words, check=False)


def test_the_man_pages_name_it():
    page = (BIN.parent / "man/volleyd.8").read_text("utf-8")
    assert (f"Default: {default_path()}." in
            page.replace("\n", " ").replace("\\&", "").replace("\\-", "-"))
    for name in ("volleyd.8", "volley.yaml.5"):
        page = (BIN.parent / "man" / name).read_text("utf-8")
        assert f".It Pa {default_path()}\n" in page and "@SYSCONFDIR@" not in page


def test_it_is_the_one_that_the_unit_names():
    unit = (ROOT / "scripts/volleyd.service").read_text("ascii")
    named = re.findall(r"-c (\S+)$", unit, re.M)
    assert named == ["@SYSCONFDIR@/volley/volley.yaml"] * 2
    assert ([path.replace("@SYSCONFDIR@", str(default_path().parents[1])) for path in named] ==
            [str(default_path())] * 2)


@pytest.mark.parametrize("text, status, said", [
    (GOOD, 0, "the configuration is right"),
    ("server: {listen: [nowhere]}\n", 2, "server.listen"),
    (None, 1, "No such file or directory"),
])
def test_check_reads_it(tmp_path, text, status, said):
    write_zone(tmp_path / "z.zone")
    if text:
        (tmp_path / "volley.yaml").write_text(text, "ascii")
    result = with_configuration(tmp_path, "--check")
    assert result.returncode == status, result.stdout + result.stderr
    assert str(default_path()) in result.stdout + result.stderr
    assert said in result.stdout + result.stderr


def test_a_start_reads_it(tmp_path):
    (tmp_path / "volley.yaml").write_text("server: {listen: [nowhere]}\n", "ascii")
    result = with_configuration(tmp_path)
    assert result.returncode == 2 and f"{default_path()}:" in result.stderr


def test_dash_c_comes_first(tmp_path):
    (tmp_path / "volley.yaml").write_text("server: {listen: [nowhere]}\n", "ascii")
    other = tmp_path / "other.yaml"
    write_zone(tmp_path / "z.zone")
    other.write_text(GOOD, "ascii")
    assert with_configuration(tmp_path, "--check", "-c", other).returncode == 0


def test_a_word_that_is_no_option_is_named():
    result = run(BIN / "volleyd", "my.yaml", check=False)
    assert result.returncode == 2 and "my.yaml" in result.stderr and "-c FILE" in result.stderr
