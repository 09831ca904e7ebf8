# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zones that the daemon keeps signed, through changes, restarts and time: the validators' own tools
check them."""
import json
import signal

import dns.dnssec
import dns.message
import dns.rcode
import dns.rdatatype
import dns.zone
import pytest

from netlab import ROOT, V4, V6, run, texts, tsig_key, wait_for, write_zone, zone

DAY = 86400


def configure(daemon, tmp_path, path, **policy):
    return daemon.configure(
        server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
        signing=[{"name": "p", **policy}],
        zones=[zone("z.test", path, signing="p", allow_transfer=["any"])])


@pytest.fixture
def content(tmp_path):
    more = "".join(f"n{i} IN A 10.0.0.{i}\n" for i in range(50)) + \
        "*.wild IN TXT \"w\"\na.b.c IN A 192.0.2.7\nsub IN NS ns.sub\nns.sub IN A 192.0.2.8\n" \
        "safe IN NS ns.elsewhere.test.\nsafe IN DS 1 13 2 " + "ab" * 32 + "\n"
    return write_zone(tmp_path / "z.zone", 7, more=more)


def transferred(lab, path):
    text = run("nsenter", f"--net=/run/netns/{lab.name}-c", "--", "kdig", "+tcp", f"@{V4}",
               "z.test", "AXFR").stdout
    path.write_text("\n".join(line for line in text.splitlines() if line and line[0] != ";") + "\n",
                    encoding="ascii")
    return path


def verify(lab, tmp_path, clock=None):
    """The whole zone, as others see it, by two tools at the daemon's time."""
    path = transferred(lab, tmp_path / "axfr")
    env = {} if clock is None else clock.env
    words = ["env", *[f"{k}={v}" for k, v in env.items()]]
    result = run(*words, "ldns-verify-zone", path, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    result = run(*words, "dnssec-verify", "-z", "-o", "z.test", path, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return path.read_text(encoding="ascii")


def serial(daemon):
    return daemon.json("zone", "status", "z.test")["zones"][0]["serial"]


def keys(daemon):
    return daemon.json("zone", "keys", "z.test")["keys"]


def restart(daemon):
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait(20)
    daemon.process = None
    daemon.spawn()
    daemon.wait_ready()


POLICIES = {
    "csk": {},
    "ksk-zsk": {"keys": "ksk-zsk"},
    "ed25519": {"algorithm": "ed25519"},
    "p384": {"algorithm": "ecdsap384sha384"},
    "rsa": {"algorithm": "rsasha256"},
    "nsec3": {"denial": "nsec3"},
    "opt-out": {"denial": "nsec3", "nsec3-opt-out": True, "nsec3-salt-length": 8,
                "nsec3-iterations": 3},
}


@pytest.mark.parametrize("policy", POLICIES)
def test_signed_changed_and_started_again(lab, daemon, tmp_path, content, policy):
    configure(daemon, tmp_path, content, **POLICIES[policy]).spawn().wait_ready()
    verify(lab, tmp_path)
    for lines in (["add new 60 A 192.0.2.1"], ["remove n7"], ["add x.y.z 60 TXT t", "remove n8"],
                  ["add cut 60 NS ns.cut", "add ns.cut 60 A 192.0.2.9"], ["remove sub NS"],
                  ["remove a.b.c"], ["add b.c 60 A 192.0.2.10"], ["remove cut", "remove ns.cut"]):
        before = serial(daemon)
        daemon.ctl("zone", "edit", "z.test", *lines)
        assert serial(daemon) == before + 1
        verify(lab, tmp_path)
    before = verify(lab, tmp_path)
    restart(daemon)
    assert verify(lab, tmp_path) == before, "nothing is signed anew"
    assert texts(lab.ask("new.z.test")) == ["192.0.2.1"]
    assert lab.ask("n7.z.test").rcode() == dns.rcode.NXDOMAIN
    daemon.ctl("zone", "edit", "z.test", "add after 60 A 192.0.2.3")
    verify(lab, tmp_path)


def never_holds(lab, tmp_path):
    """
    The records of never.z.test, whose signature holds. named cannot read them; ldns and knot sign
    64 KiB of them at most.
    """
    path = transferred(lab, tmp_path / "axfr")
    found = dns.zone.from_file(str(path), "z.test.", relativize=False)
    texts_of = found.find_rrset("never.z.test.", "TXT")
    keys_of = found.find_rrset("z.test.", "DNSKEY")
    dns.dnssec.validate(texts_of, found.find_rrset("never.z.test.", "RRSIG", "TXT"),
                        {keys_of.name: keys_of})
    return sorted(texts_of.to_text().splitlines())


def test_rrset_that_fits_no_message(lab, daemon, tmp_path):
    """It is signed, changed, transferred, kept and written like any other."""
    more = "".join(f'never TXT "{i:0240}"\n' for i in range(280))
    configure(daemon, tmp_path, write_zone(tmp_path / "z.zone", 7, more=more)).spawn().wait_ready()
    assert len(never_holds(lab, tmp_path)) == 280
    daemon.ctl("zone", "edit", "z.test", *(f'add never 300 TXT "more {i}"' for i in range(20)))
    before = never_holds(lab, tmp_path)
    assert len(before) == 300
    restart(daemon)
    assert never_holds(lab, tmp_path) == before
    daemon.ctl("zone", "edit", "z.test", "remove never TXT \"more 7\"")
    daemon.ctl("zone", "flush", "z.test")
    restart(daemon)
    assert never_holds(lab, tmp_path) == [line for line in before if "more 7" not in line]
    daemon.ctl("zone", "edit", "z.test", "remove never TXT")
    assert "never" not in verify(lab, tmp_path)


def test_signed_file_follows_the_changes(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content)
    say(daemon, lambda zone: zone.update({"zonefile-sync": 1}))
    daemon.spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.77")
    wait_for("its file has it",
             lambda: "192.0.2.77" in (tmp_path / "store/signed/z.test.zone").read_text(), 20)
    assert "192.0.2.77" not in content.read_text(), "that is the operator's"


def ask_signed(lab):
    return lab.udp(dns.message.make_query("www.z.test", "A", want_dnssec=True, payload=1232))


def test_no_old_answer_behind_a_change(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    for _ in range(3):
        answer = ask_signed(lab)
    assert any(rrset.rdtype == dns.rdatatype.RRSIG for rrset in answer.answer)
    daemon.ctl("zone", "edit", "z.test", "remove www A", "add www 60 A 192.0.2.99")
    answer = ask_signed(lab)
    assert "192.0.2.99" in texts(answer)
    assert any(rrset.rdtype == dns.rdatatype.RRSIG for rrset in answer.answer)


def test_new_content_of_the_operator(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    signed = serial(daemon)
    write_zone(content, 3, "192.0.2.55")
    daemon.ctl("zone", "reload", "z.test")
    assert serial(daemon) > signed
    assert "192.0.2.55" in verify(lab, tmp_path)
    write_zone(content, 5000, "192.0.2.56")
    daemon.ctl("zone", "reload", "z.test")
    assert serial(daemon) == 5000


def test_updates_by_nsupdate_are_signed(lab, daemon, tmp_path, content):
    key = tsig_key()
    daemon.configure(
        server={"listen": [V4, V6], "workers": 2, "storage": str(tmp_path / "store")},
        signing=[{"name": "p", "denial": "nsec3"}], keys=[key],
        zones=[zone("z.test", content, signing="p", allow_transfer=["any"],
                    allow_update=[f"any key {key['name']}"])]).spawn().wait_ready()
    for lines in (["add new.z.test 60 A 192.0.2.1"], ["del n7.z.test", "add x.y.z.test 60 TXT t"],
                  ["add cut.z.test 60 NS ns.elsewhere.test."],
                  ["del x.y.z.test", "del cut.z.test"]):
        script = "\n".join([f"server {V4}", "zone z.test", *lines, "send", ""])
        done = lab.exec("c", "nsupdate", "-y", f"{key['algorithm']}:{key['name']}:{key['secret']}",
                        input=script, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        verify(lab, tmp_path)
    assert texts(lab.ask("new.z.test")) == ["192.0.2.1"]


def test_another_negative_ttl_is_not_one_change_of_many(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    before = serial(daemon)
    said = daemon.ctl("zone", "edit", "z.test", "add @ 300 SOA ns hostmaster 99 3600 900 86400 30",
                      check=False)
    assert said.returncode != 0 and "TTL of negative answers" in said.stderr
    assert "reload" in said.stderr
    assert serial(daemon) == before
    content.write_text(content.read_text().replace(" 7 3600 900 86400 60", " 7 3600 900 86400 30"),
                       encoding="ascii")
    daemon.ctl("zone", "reload", "z.test")
    assert serial(daemon) > before and " 900 86400 30" in verify(lab, tmp_path)


def test_reload_that_fails_leaves_keys_and_policies(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content)
    before = json.loads(daemon.path.read_text())
    before["keys"] = [tsig_key()]
    before["zones"][0]["allow-update"] = ["any key xfr.test."]
    daemon.path.write_text(json.dumps(before))
    daemon.spawn().wait_ready()
    after = {**before, "keys": [tsig_key(secret=b"another secret, which is not to hold")],
             "recursion": {"allow": ["192.0.2.0/24"], "root-hints": "nowhere"}}
    daemon.path.write_text(json.dumps(after))
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode != 0 and "nowhere: No such file" in said.stderr
    key = before["keys"][0]
    done = lab.exec("c", "nsupdate", "-y", f"{key['algorithm']}:{key['name']}:{key['secret']}",
                    input=f"server {V4}\nzone z.test\nadd new.z.test 60 A 192.0.2.1\nsend\n",
                    check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_denial_is_another_after_a_reload(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    assert "NSEC3PARAM" not in verify(lab, tmp_path)
    for denial, chain in (("nsec3", True), ("nsec", False)):
        before = serial(daemon)
        configure(daemon, tmp_path, content, denial=denial)
        daemon.ctl("zone", "reload")
        wait_for("it is signed anew", lambda s=before: serial(daemon) > s, 20)
        assert ("NSEC3PARAM" in verify(lab, tmp_path)) == chain


OF_A_SIGNER = ("RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "DNSKEY", "CDS", "CDNSKEY")


def is_signed(text):
    return any(line.split()[3] in OF_A_SIGNER for line in text.splitlines() if line)


def say(daemon, change):
    """Another configuration: CHANGE edits what is there."""
    config = json.loads(daemon.path.read_text())
    change(config["zones"][0])
    daemon.path.write_text(json.dumps(config))


def sign(daemon):
    say(daemon, lambda zone: zone.update(signing="p"))


def unsign(daemon):
    say(daemon, lambda zone: zone.pop("signing"))


def change(daemon, start_again):
    if start_again:
        restart(daemon)
    else:
        daemon.ctl("zone", "reload")


def ixfr(lab, since):
    """The records of an answer to IXFR, as kdig says them."""
    text = run("nsenter", f"--net=/run/netns/{lab.name}-c", "--", "kdig", "+tcp", f"@{V4}",
               "z.test", f"IXFR={since}").stdout
    return [line for line in text.splitlines() if line and line[0] != ";"]


@pytest.mark.parametrize("start_again", [False, True])
@pytest.mark.parametrize("policy", ["csk", "nsec3"])
def test_signing_that_ends(lab, daemon, tmp_path, content, policy, start_again):
    configure(daemon, tmp_path, content, **POLICIES[policy]).spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1", "remove n7")
    assert is_signed(verify(lab, tmp_path))
    signed = serial(daemon)
    unsign(daemon)
    change(daemon, start_again)
    for _ in range(2):
        assert serial(daemon) == signed + 1
        served = transferred(lab, tmp_path / "axfr").read_text(encoding="ascii")
        assert not is_signed(served)
        assert texts(lab.ask("e.z.test")) == ["192.0.2.1"]
        assert lab.ask("n7.z.test").rcode() == dns.rcode.NXDOMAIN
        assert len(ixfr(lab, 7)) == len(served.splitlines()), "who has the signed 7 gets all"
        assert daemon.ctl("zone", "ds", "z.test", check=False).returncode != 0
        restart(daemon)
    daemon.ctl("zone", "edit", "z.test", "add f 60 A 192.0.2.2")
    restart(daemon)
    assert texts(lab.ask("f.z.test")) == ["192.0.2.2"] and serial(daemon) == signed + 2
    daemon.ctl("zone", "flush", "z.test")
    wait_for("it is in the operator's file", lambda: "192.0.2.2" in content.read_text())
    assert not is_signed(content.read_text()) and "192.0.2.1" in content.read_text()
    write_zone(content, signed + 9, "192.0.2.99")
    daemon.ctl("zone", "reload", "z.test")
    assert texts(lab.ask("www.z.test")) == ["192.0.2.99"]
    assert lab.ask("e.z.test").rcode() == dns.rcode.NXDOMAIN


@pytest.mark.parametrize("start_again", [False, True])
def test_signing_that_begins_where_records_were_changed(lab, daemon, tmp_path, content,
                                                        start_again):
    configure(daemon, tmp_path, content)
    unsign(daemon)
    daemon.spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    for _ in range(2):
        before = serial(daemon)
        sign(daemon)
        change(daemon, start_again)
        assert serial(daemon) == before + 1
        assert "192.0.2.1" in verify(lab, tmp_path)
        unsign(daemon)
        change(daemon, start_again)
        assert serial(daemon) == before + 2 and texts(lab.ask("e.z.test")) == ["192.0.2.1"]


@pytest.mark.parametrize("start_again", [False, True])
def test_other_content_when_signing_ends(lab, daemon, tmp_path, content, start_again):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    signed = serial(daemon)
    write_zone(content, 3, "192.0.2.55")
    unsign(daemon)
    change(daemon, start_again)
    for _ in range(2):
        assert serial(daemon) == signed + 1, "not that of the file, which is none that others see"
        assert texts(lab.ask("www.z.test")) == ["192.0.2.55"]
        assert lab.ask("e.z.test").rcode() == dns.rcode.NXDOMAIN
        restart(daemon)


def test_content_that_another_has_signed(lab, daemon, tmp_path, content, clock):
    """It is served as it is or not at all; until then ours goes on, with its signatures."""
    configure(daemon, tmp_path, content).spawn().wait_ready()
    theirs = transferred(lab, tmp_path / "axfr").read_text(encoding="ascii").splitlines()[:-1]
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    content.write_text("\n".join(theirs) + "\n", encoding="ascii")
    unsign(daemon)
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode != 0 and "serial 7 is not newer than 8" in said.stderr
    daemon.ctl("zone", "edit", "z.test", "add f 60 A 192.0.2.2")
    assert "192.0.2.2" in verify(lab, tmp_path)
    daemon.ctl("zone", "flush", "z.test")
    settle(daemon, clock)
    assert "192.0.2.2" not in content.read_text()
    content.write_text(content.read_text().replace(" 7 3600", " 20 3600"), encoding="ascii")
    daemon.ctl("zone", "reload")
    assert serial(daemon) == 20 and is_signed(transferred(lab, tmp_path / "axfr").read_text())


def test_signing_goes_on_while_the_file_is_broken(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    good = content.read_text()
    content.write_text("broken", encoding="ascii")
    unsign(daemon)
    assert daemon.ctl("zone", "reload", check=False).returncode != 0
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    assert "192.0.2.1" in verify(lab, tmp_path)
    sign(daemon)
    content.write_text(good, encoding="ascii")
    daemon.ctl("zone", "reload")
    assert "192.0.2.1" in verify(lab, tmp_path), "as if it had never been said"


def spoil(content, how):
    if how == "gone":
        content.unlink()
    else:
        content.write_text("broken", encoding="ascii")


@pytest.mark.parametrize("how", ["broken", "gone"])
def test_start_without_the_operators_file(lab, daemon, tmp_path, content, how):
    """The zone that was signed before is served and kept signed until the file exists again."""
    configure(daemon, tmp_path, content).spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    before, good = verify(lab, tmp_path), content.read_text()

    def status(key):
        return daemon.json("zone", "status", "z.test")["zones"][0].get(key, "")

    spoil(content, how)
    for _ in range(2):
        restart(daemon)
        assert verify(lab, tmp_path) == before
        assert status("state") == "stale" and str(content) in status("error")
        assert f"{content}" in daemon.ctl("-w", "2", "health", check=False).stdout
        assert "the version that was signed before is served" in daemon.log()
        assert daemon.ctl("zone", "reload", "z.test", check=False).returncode != 0
        assert verify(lab, tmp_path) == before
    daemon.ctl("zone", "edit", "z.test", "add f 60 A 192.0.2.2")
    restart(daemon)
    assert "192.0.2.2" in verify(lab, tmp_path)
    before = serial(daemon)
    content.write_text(good, encoding="ascii")
    daemon.ctl("zone", "reload", "z.test")
    assert status("state") == "serving" and not status("error")
    assert serial(daemon) == before and "192.0.2.2" in verify(lab,
                                                              tmp_path), "as if it had never been gone"
    spoil(content, how)
    restart(daemon)
    write_zone(content, 3, "192.0.2.55")
    daemon.ctl("zone", "reload")
    for _ in range(2):
        now = verify(lab, tmp_path)
        assert serial(daemon) > before and "192.0.2.55" in now and "192.0.2.2\n" not in now
        assert status("state") == "serving"
        restart(daemon)


def test_start_without_the_operators_file_when_signatures_have_ended(lab, daemon, tmp_path, content,
                                                                     clock):
    configure(daemon, tmp_path, content)
    daemon.spawn().wait_ready()
    verify(lab, tmp_path, clock)
    before = serial(daemon)
    spoil(content, "broken")
    clock.set(40 * DAY)
    restart(daemon)
    wait_for("signatures are renewed", lambda: serial(daemon) > before, 20)
    verify(lab, tmp_path, clock)
    configure(daemon, tmp_path, content, denial="nsec3")
    assert "z.zone" in daemon.ctl("zone", "reload", check=False).stderr
    wait_for("another chain",
             lambda: "NSEC3PARAM" in transferred(lab, tmp_path / "axfr").read_text(), 20)
    verify(lab, tmp_path, clock)
    assert daemon.json("zone", "status",
                       "z.test")["zones"][0]["state"] == "stale", "the file is broken as ever"


def test_first_start_without_the_operators_file(lab, daemon, tmp_path, content):
    good = content.read_text()
    spoil(content, "broken")
    configure(daemon, tmp_path, content).spawn().wait_ready()
    assert lab.ask("www.z.test").rcode() == dns.rcode.SERVFAIL, "there is nothing yet"
    content.write_text(good, encoding="ascii")
    daemon.ctl("zone", "reload", "z.test")
    verify(lab, tmp_path)


def spawn_to_die(daemon, tmp_path):
    """It ends as soon as the signed zone's file is in place, before that is recorded."""
    library, go = tmp_path / "die.so", tmp_path / "go"
    run("gcc", "-shared", "-fPIC", "-o", library, ROOT / "tests/net/preload/dieonrename.c")
    go.touch()
    daemon.spawn(env={"LD_PRELOAD": str(library), "DIEONRENAME_GO": str(go),
                      "DIEONRENAME_PATH": str(tmp_path / "store/signed/z.test.zone")})


def end_and_spawn(daemon):
    daemon.process.wait(30)
    daemon.process = None
    daemon.spawn().wait_ready()


def stop(daemon):
    daemon.ctl("stop")
    daemon.process.wait(20)
    daemon.process = None


def test_killed_when_the_first_signed_zone_is_written(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content)
    spawn_to_die(daemon, tmp_path)
    end_and_spawn(daemon)
    assert "192.0.2.10" in verify(lab, tmp_path)
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    restart(daemon)
    assert "192.0.2.1" in verify(lab, tmp_path)


@pytest.mark.parametrize("what", ["content", "chain"])
def test_killed_when_the_zone_is_signed_anew(lab, daemon, tmp_path, content, what):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    stop(daemon)
    spawn_to_die(daemon, tmp_path)
    daemon.wait_ready()
    daemon.ctl("zone", "edit", "z.test", "add f 60 A 192.0.2.2")
    before = serial(daemon)
    if what == "content":
        write_zone(content, 8, "192.0.2.55")
    else:
        configure(daemon, tmp_path, content, denial="nsec3")
    daemon.ctl("zone", "reload", check=False)
    end_and_spawn(daemon)
    assert serial(daemon) > before
    for _ in range(2):
        served = verify(lab, tmp_path)
        assert ("192.0.2.55" in served) == (what == "content")
        assert ("192.0.2.1\n" in served) == ("192.0.2.2\n" in served) == (what == "chain")
        assert ("NSEC3PARAM" in served) == (what == "chain")
        daemon.ctl("zone", "edit", "z.test", "add g 60 A 192.0.2.3")
        restart(daemon)
        assert "192.0.2.3\n" in verify(lab, tmp_path)
        daemon.ctl("zone", "edit", "z.test", "remove g")


def test_what_a_command_refuses_is_in_no_file(lab, daemon, tmp_path, content):
    """Changes of the version that stays are present at the next start."""
    refuse = tmp_path / "refuse"
    configure(daemon, tmp_path, content)
    say(daemon, lambda zone: zone.update(verify=["/usr/bin/test", "!", "-e", str(refuse)]))
    daemon.spawn().wait_ready()
    refuse.touch()
    good = content.read_text(encoding="ascii")
    write_zone(content, 8, "192.0.2.55")
    assert "not accepted" in daemon.ctl("zone", "reload", check=False).stderr
    daemon.ctl("zone", "edit", "z.test", "add e 60 A 192.0.2.1")
    refuse.unlink()
    content.write_text(good, encoding="ascii")
    restart(daemon)
    assert texts(lab.ask("www.z.test")) == ["192.0.2.10"]
    assert "192.0.2.1\n" in verify(lab, tmp_path)


def test_what_people_see_of_keys(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content, keys="ksk-zsk").spawn().wait_ready()
    [ksk] = [key["tag"] for key in keys(daemon) if key["role"] == "ksk"]
    [path] = (tmp_path / "store" / "keys").glob(f"Kz.test.+013+{ksk:05}.key")
    [theirs] = run("dnssec-dsfromkey", "-2", path).stdout.splitlines()
    [ours] = daemon.json("zone", "ds", "z.test")["ds"]
    assert ours.lower() == theirs.lower()
    assert ours in daemon.ctl("zone", "ds", "z.test").stdout
    table = daemon.ctl("zone", "keys", "z.test").stdout.splitlines()
    assert len(table) >= 3 and any("ksk" in line and str(ksk) in line for line in table), table


def test_private_keys_are_private(daemon, tmp_path, content):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    [path] = (tmp_path / "store" / "keys").glob("*.private")
    assert path.stat().st_mode & 0o777 == 0o600
    daemon.ctl("stop")
    daemon.process.wait(20)
    daemon.process = None
    path.chmod(0o644)
    daemon.spawn().wait_ready()
    status = daemon.json("zone", "status", "z.test")["zones"][0]
    assert status["state"] == "stale" and "chmod 600" in status["error"]


def test_signatures_are_renewed_before_they_end(lab, daemon, tmp_path, content, clock):
    configure(daemon, tmp_path, content, **{"signature-lifetime": "14d", "refresh": "7d",
                                            "jitter": "0s"})
    daemon.spawn().wait_ready()
    first = serial(daemon)
    for day in (8, 16, 24):
        clock.set(day * DAY)
        wait_for("signatures are renewed", lambda s=first: serial(daemon) > s, 20)
        verify(lab, tmp_path, clock)
        first = serial(daemon)


def settle(daemon, clock):
    """
    What is due has been done: three whole ticks of the daemon, and behind the last of them it is as
    before.
    """
    before = None
    while before != (before := serial(daemon)):
        clock.wait_ticks()


@pytest.mark.parametrize("role, policy", [("zsk", {"keys": "ksk-zsk"}), ("csk", {})])
def test_rollover(lab, daemon, tmp_path, content, clock, role, policy):
    configure(daemon, tmp_path, content, **policy)
    daemon.spawn().wait_ready()
    [old] = [key["tag"] for key in keys(daemon) if key["role"] == role]
    daemon.ctl("zone", "rollover", "z.test", role)
    wait_for("there is a new key", lambda: len(keys(daemon)) == (3 if role == "zsk" else 2), 20)
    seen = False
    for _ in range(30):
        settle(daemon, clock)
        verify(lab, tmp_path, clock)
        if old not in [key["tag"] for key in keys(daemon)]:
            break
        if role == "csk" and not seen:
            seen = daemon.ctl("zone", "ds-seen", "z.test", check=False).returncode == 0
        clock.set(clock.offset + DAY)
    assert old not in [key["tag"] for key in keys(daemon)], keys(daemon)
    verify(lab, tmp_path, clock)


def test_a_key_stays_for_what_caches_may_hold(lab, daemon, tmp_path, content, clock):
    """The record with the longest TTL has gone when the key does, but not from caches."""
    with content.open("a", encoding="ascii") as f:
        f.write("long 604800 IN A 192.0.2.9\n")
    configure(daemon, tmp_path, content, keys="ksk-zsk")
    daemon.spawn().wait_ready()
    [old] = [key["tag"] for key in keys(daemon) if key["role"] == "zsk"]
    settle(daemon, clock)
    daemon.ctl("zone", "edit", "z.test", "remove long")
    daemon.ctl("zone", "rollover", "z.test", "zsk")
    for _ in range(20):
        settle(daemon, clock)
        [key] = [key for key in keys(daemon) if key["tag"] == old]
        if "removed_at" in key:
            break
        clock.set(clock.offset + DAY)
    assert key["removed_at"] - key["retired_at"] >= 604800
    verify(lab, tmp_path, clock)


OTHER_KEYS = {
    "algorithm": ({"algorithm": "rsasha256"}, {"algorithm": "ecdsap256sha256"}),
    "algorithm of two": ({"keys": "ksk-zsk"}, {"keys": "ksk-zsk", "algorithm": "ed25519"}),
    "one for two": ({"keys": "ksk-zsk"}, {"keys": "csk", "denial": "nsec3"}),
    "two for one": ({}, {"keys": "ksk-zsk"}),
}


@pytest.mark.parametrize("what", OTHER_KEYS)
def test_other_keys_by_a_reload(lab, daemon, tmp_path, content, clock, what):
    """
    RFC 6781 section 4.1.4: each state on the way is one that validates, by any of the algorithms.
    """
    before, after = OTHER_KEYS[what]
    configure(daemon, tmp_path, content, **before)
    daemon.spawn().wait_ready()
    old = {key["tag"] for key in keys(daemon)}
    settle(daemon, clock)
    configure(daemon, tmp_path, content, **after)
    daemon.ctl("zone", "reload")
    wait_for("there is a new key", lambda: len(keys(daemon)) > len(old), 20)
    said = daemon.ctl("zone", "rollover", "z.test", "ksk" if "keys" in before else "csk",
                      check=False)
    assert "a rollover is on already" in said.stderr
    assert len(daemon.json("zone", "ds", "z.test")["ds"]) == 1, "nobody knows the new key yet"
    numbers = set()
    for step in range(30):
        settle(daemon, clock)
        verify(lab, tmp_path, clock)
        now = keys(daemon)
        numbers.add(len(now))
        if not old & {key["tag"] for key in now}:
            break
        if step % 3 == 1:
            daemon.ctl("zone", "edit", "z.test", f"add e{step} 60 A 192.0.2.1")
        daemon.ctl("zone", "ds-seen", "z.test", check=False)  # too early, at first
        clock.set(clock.offset + DAY)
    assert not old & {key["tag"] for key in now}, now
    two = after.get("keys") == "ksk-zsk"
    assert {key["role"] for key in now} == ({"ksk", "zsk"} if two else {"csk"})
    numbers_of = {"rsasha256": 8, "ecdsap256sha256": 13, "ed25519": 15}
    assert {key["algorithm"] for key in now} == {numbers_of[after.get("algorithm",
                                                                      "ecdsap256sha256")]}
    assert max(numbers) == len(old) + len(now)


def test_keys_stay_in_their_folder(lab, daemon, tmp_path, content):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    before = keys(daemon)
    configure(daemon, tmp_path, content,
              **{"key-folder": str(tmp_path / "other"), "denial": "nsec3"})
    said = daemon.ctl("zone", "reload", check=False)
    assert said.returncode != 0
    assert f"stay in {tmp_path}/store/keys while volleyd runs" in said.stderr
    assert keys(daemon) == before and not (tmp_path / "other").exists()
    (tmp_path / "store/keys").rename(tmp_path / "other")
    restart(daemon)
    assert [key["tag"] for key in keys(daemon)] == [key["tag"] for key in before]
    wait_for("it is signed as was asked",
             lambda: "NSEC3PARAM" in transferred(lab, tmp_path / "axfr").read_text(), 20)
    verify(lab, tmp_path)


def test_records_of_the_signer_are_refused(daemon, tmp_path, content):
    configure(daemon, tmp_path, content).spawn().wait_ready()
    before = serial(daemon)
    for line in ("add www 60 NSEC z.test. A", "remove @ DNSKEY", "add @ CDS 1 13 2 00",
                 "remove www RRSIG"):
        said = daemon.ctl("zone", "edit", "z.test", line, check=False)
        assert said.returncode != 0 and "the zone is signed here" in said.stderr
    assert serial(daemon) == before


@pytest.mark.parametrize("policy", ["csk", "ksk-zsk", "nsec3"])
def test_delv_validates(lab, daemon, tmp_path, content, policy):
    configure(daemon, tmp_path, content, **POLICIES[policy]).spawn().wait_ready()
    [tag] = [key["tag"] for key in keys(daemon) if key["role"] in ("csk", "ksk")]
    [path] = (tmp_path / "store" / "keys").glob(f"*+{tag:05}.key")
    words = path.read_text(encoding="ascii").splitlines()[-1].split()
    anchor = tmp_path / "anchor"
    anchor.write_text(f'trust-anchors {{ z.test. static-key {words[3]} 3 {words[5]} '
                      f'"{"".join(words[6:])}"; }};\n', encoding="ascii")
    for name, kind, said in (("www.z.test", "A", "; fully validated"),
                             ("x.wild.z.test", "TXT", "; fully validated"),
                             ("none.z.test", "A", "; negative response, fully validated"),
                             ("www.z.test", "MX", "; negative response, fully validated")):
        result = lab.exec("c", "delv", f"@{V4}", "-a", anchor, "+root=z.test", name, kind)
        assert said in result.stdout, result.stdout + result.stderr
