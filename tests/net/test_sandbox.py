# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The sandbox of volleyd's threads: each runs with the filter of its kind. What a filter refuses is
tested by tests/unit/base/test_sandbox.c, and that no thread lacks a call by all network tests
(conftest.py).
"""
from netlab import V4, run, threads_of, wait_for, write_zone, zone


def test_each_thread_has_its_filter(daemon, tmp_path):
    """Two: that of control, which starts it, and its own."""
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-subj", "/CN=x", "-keyout", tmp_path / "key", "-out", tmp_path / "pem")
    daemon.start(
        server={"listen": [V4], "workers": 2, "storage": str(tmp_path / "store"),
                "tls": {"listen": [V4], "certificate": str(tmp_path / "pem"),
                        "key": str(tmp_path / "key")}},
        metrics={"listen": f"{V4}@9253"}, dnstap={"file": str(tmp_path / "tap")},
        zones=[zone("z.test", write_zone(tmp_path / "z.zone"))])
    assert not daemon.degraded()

    def all_have_begun():
        now = threads_of(daemon.process.pid)
        return now if all(fields["Seccomp"] == "2" for fields in now) and \
            sum(fields["Seccomp_filters"] == "1" for fields in now) == 1 else None
    found = wait_for("each thread but control has two filters", all_have_begun)
    assert {fields["Seccomp_filters"] for fields in found} == {"1", "2"}
    assert len(found) > 8 and all(fields["NoNewPrivs"] == "1" for fields in found)
    control = [fields for fields in found if fields["Seccomp_filters"] == "1"]
    assert control[0]["Pid"] == str(daemon.process.pid)
