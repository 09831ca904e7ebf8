# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyctl import reads three syntaxes: the tree of each text, and the file and line of each error;
and values of other servers. Without a daemon and without root."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts" / "import"))

import check  # noqa: E402
import source  # noqa: E402
import values  # noqa: E402

FLAT, KNOT, NAMED = source.Flat, source.Knot, source.Named


def shown(node):
    """ "name:LINE word word {children}"."""
    text = f"{node.name}:{node.line}" + "".join(f" <{word}>" for word in node.words)
    if node.is_block:
        text += " {" + "".join(map(shown, node.children)) + "}"
    return text + ";"


def tree(kind, path, text):
    path.write_text(text, encoding="utf-8")
    parser = kind()
    parser.read(str(path))
    return "".join(map(shown, parser.top.children))


@pytest.mark.parametrize("kind, text, wanted", [
    (FLAT, "", ""),
    (FLAT, "# nothing\n\n", ""),
    (FLAT, "server:\n\tport: 53 # here\n", "server:1 {port:2 <53>;};"),
    (FLAT, "server: port: 53 do-ip6: no\n", "server:1 {port:1 <53>;do-ip6:1 <no>;};"),
    (FLAT, "server:\n interface: ::1@53\n interface: fe80::\n",
     "server:1 {interface:2 <::1@53>;interface:3 <fe80::>;};"),
    (FLAT, "server:\n port:53\n", "server:1 {port:2 <53>;};"),
    (FLAT, "server:\n local-data: 'a.test. TXT \"two words: here # there\"'\n",
     "server:1 {local-data:2 <a.test. TXT \"two words: here # there\">;};"),
    (FLAT, "zone:\r\n name: \"a.test\"\r\n provide-xfr: 192.0.2.0/24 k\r\nzone:\n name: b.test",
     "zone:1 {name:2 <a.test>;provide-xfr:3 <192.0.2.0/24> <k>;};zone:4 {name:5 <b.test>;};"),
    (FLAT, "server:\n identity: \"\"\n version:\n", "server:1 {identity:2 <>;version:3;};"),
    (FLAT, "forward-zone:\n forward-addr: 192.0.2.1@853#dns.example #here\n forward-addr: ::1#a\t# b\n",
     "forward-zone:1 {forward-addr:2 <192.0.2.1@853#dns.example>;forward-addr:3 <::1#a>;};"),
    (FLAT, "forward-zone: name: . forward-addr: 192.0.2.1#a forward-addr: ::1#b\n",
     "forward-zone:1 {name:1 <.>;forward-addr:1 <192.0.2.1#a>;forward-addr:1 <::1#b>;};"),
    (KNOT, "# nothing\n", ""),
    (KNOT, "server:\n    listen: [ 127.0.0.1@53, ::1@53 ]\n    identity: \"a b\" # c\n",
     "server:1 {listen:2 <127.0.0.1@53> <::1@53>;identity:3 <a b>;};"),
    (KNOT, "server:\n  listen: ::@53\n", "server:1 {listen:2 <::@53>;};"),
    (KNOT, "zone:\n  - domain: a.test\n    file: %s.zone\n  - domain: b.test\nzone:\n  - domain: c.test\n",
     "zone:1 {item:2 {domain:2 <a.test>;file:3 <%s.zone>;};item:4 {domain:4 <b.test>;};};"
     "zone:5 {item:6 {domain:6 <c.test>;};};"),
    (KNOT, "acl:\n  - id: x\n    address: [192.0.2.1,\n      192.0.2.2] # end\n    deny: on\n",
     "acl:1 {item:2 {id:2 <x>;address:3 <192.0.2.1> <192.0.2.2>;deny:5 <on>;};};"),
    (KNOT, "mod-rrl:\n  - id: x\n    whitelist: []\n    slip:\n",
     "mod-rrl:1 {item:2 {id:2 <x>;whitelist:3;slip:4;};};"),
    (KNOT, "server:\n  version: \"say \\\"no\\\"\"\n", "server:1 {version:2 <say \"no\">;};"),
    (NAMED, "// a\n# b\n/* c\n d */\n", ""),
    (NAMED, "options { directory \"/var/x\"; };", "options:1 {directory:1 </var/x>;};"),
    (NAMED, "zone \"a.test\" IN {\n\ttype primary; // its kind\n\tfile \"a b\";\n};\n",
     "zone:1 <a.test> <IN> {type:2 <primary>;file:3 <a b>;};"),
    (NAMED, "options { listen-on port 5353 { 192.0.2.1; !192.0.2.2; { any; }; }; };",
     "options:1 {listen-on:1 <port> <5353> {192.0.2.1:1;!:1 <192.0.2.2>;:1 {any:1;};};};"),
    (NAMED, "acl x { key k.test; ! key other; };", "acl:1 <x> {key:1 <k.test>;!:1 <key> <other>;};"),
    (NAMED, "response-policy { zone r; } qname-wait-recurse no;",
     "response-policy:1 <qname-wait-recurse> <no> {zone:1 <r>;};"),
    (NAMED, "a/*x*/b;c \"\";", "a:1 <b>;c:1 <>;"),
    (NAMED, "a \"say \\\"no\\\"\"; b 10/8; c \"/*\";", "a:1 <say \"no\">;b:1 <10/8>;c:1 </*>;"),
    (NAMED, "catalog-zones { zone c default-primaries { 192.0.2.1; } in-memory yes; };",
     "catalog-zones:1 {zone:1 <c> <default-primaries> <in-memory> <yes> {192.0.2.1:1;};};"),
])
def test_tree(tmp_path, kind, text, wanted):
    assert tree(kind, tmp_path / "x", text) == wanted


@pytest.mark.parametrize("kind, text, line, words", [
    (FLAT, "server:\n port 53\n", 2, "\"port\" is no option"),
    (FLAT, "port: 53\n", 1, "port is in no section"),
    (FLAT, "server:\n identity: \"open\n", 2, "quote"),
    (FLAT, "server:\n\n include: /nowhere/at.all\n", 3, "/nowhere/at.all"),
    (FLAT, "server:\n include:\n", 2, "include needs"),
    (KNOT, "server:\n  listen 53\n", 2, "a name and a colon"),
    (KNOT, "  listen: 53\n", 1, "is in no section"),
    (KNOT, "\nserver:\n  listen: [192.0.2.1,\n", 3, "the list is not closed"),
    (KNOT, "server:\n  identity: \"open\n", 2, "quote"),
    (KNOT, "server:\n  listen: a b\n", 2, "more than one value"),
    (KNOT, "server:\n  listen: ,\n", 2, "a value is expected"),
    (KNOT, "server:\n\ninclude: /nowhere/at.all\n", 3, "/nowhere/at.all"),
    (NAMED, "options {\n directory \"/x\"\n};\n", 3, "a semicolon is expected before the brace"),
    (NAMED, "\nzone \"a\" {\n type primary;\n", 2, "the brace of \"zone\" is not closed"),
    (NAMED, "a;\n}\n", 2, "none is open"),
    (NAMED, "\n/* open\n", 2, "the comment is not closed"),
    (NAMED, "\na \"open\n\";\n", 2, "quote"),
    (NAMED, "a;\nb", 2, "a semicolon is expected after \"b\""),
    (NAMED, "zone \"a\" { type primary; }\nzone \"b\" { type primary; };\n", 2,
     "a semicolon is expected after the brace of \"zone\""),
    (NAMED, "view v {\n zone \"a\" { file \"a\"; }\n zone \"b\" { file \"b\"; };\n};\n", 3,
     "a semicolon is expected after the brace of \"zone\""),
    (NAMED, "options { port 53; }\n{ port 54; };\n", 2,
     "a semicolon is expected after the brace of \"options\""),
    (NAMED, "\ninclude \"/nowhere/at.all\";\n", 2, "/nowhere/at.all"),
    (NAMED, "{" * 1000, 1, "more than 32 braces are open"),
    (NAMED, "a \"\0\";", 1, "a zero octet"),
])
def test_faults(tmp_path, kind, text, line, words):
    with pytest.raises(source.Fault) as fault:
        tree(kind, tmp_path / "x", text)
    assert str(fault.value).startswith(f"{tmp_path}/x:{line}: ") and words in str(fault.value)


@pytest.mark.parametrize("kind, outer, part, wanted", [
    (FLAT, "server:\n include: \"part*.conf\"\n do-ip6: no\n", "port: 53\n",
     "server:1 {port:1 <53>;do-ip6:3 <no>;};"),
    (FLAT, "include-toplevel: part.conf\nserver:\n do-ip6: no\n", "server:\n port: 53\n",
     "server:1 {port:2 <53>;};server:2 {do-ip6:3 <no>;};"),
    (KNOT, "server:\n  version: x\ninclude: part.conf\nzone:\n  - domain: b\n",
     "zone:\n  - domain: a\n", "server:1 {version:2 <x>;};zone:1 {item:2 {domain:2 <a>;};};zone:4 {"
     "item:5 {domain:5 <b>;};};"),
    (NAMED, "view x {\n include \"part.conf\";\n b;\n};", "a;\n",
     "view:1 <x> {include:2 <part.conf>;a:1;b:3;};"),
    (NAMED, "include \"none*.conf\";\na;\n", "", "include:1 <none*.conf>;a:2;"),
])
def test_includes(tmp_path, kind, outer, part, wanted):
    (tmp_path / "part.conf").write_text(part, encoding="utf-8")
    assert tree(kind, tmp_path / "x", outer) == wanted


@pytest.mark.parametrize("text, wanted", [
    ("options { directory \"{}/down\"; };\ninclude \"part.conf\";\n", "down:1;"),
    ("options { directory \"down\"; };\ninclude \"part.conf\";\n", "down:1;"),
    ("options { directory \"{}/down\"; };\ninclude \"other.conf\";\n", "other:1;"),
    ("include \"part.conf\";\noptions { directory \"{}/down\"; };\n", "up:1;"),
    ("options { directory \"{}/down\"; include \"part.conf\"; };\n", "down:1;"),
])
def test_includes_are_relative_to_the_directory_of_named(tmp_path, text, wanted):
    (tmp_path / "down").mkdir()
    for name, word in (("part", "up"), ("other", "other"), ("down/part", "down")):
        (tmp_path / f"{name}.conf").write_text(f"{word};\n", encoding="utf-8")
    assert wanted in tree(NAMED, tmp_path / "x", text.replace("{}", str(tmp_path)))


def test_faults_of_includes(tmp_path):
    """An error names the included file; a file that includes itself, and a FIFO, are errors."""
    part = tmp_path / "part.conf"
    part.write_text("\n\nbroken\n", encoding="utf-8")
    with pytest.raises(source.Fault, match="part.conf:3: \"broken\" is no option"):
        tree(FLAT, tmp_path / "x", "server:\n include: part.conf\n")
    with pytest.raises(source.Fault, match="more than 16 files include each other"):
        tree(NAMED, part, f"include \"{part}\";\n")
    with pytest.raises(source.Fault, match="it is not a regular file"):
        FLAT().read("/dev/null")


@pytest.mark.parametrize("text, wanted", [
    ("90", 90), ("1h30m", 5400), ("P1DT2H", 93600), ("2w", 1209600), ("PT5M", 300), ("", None),
    ("P", None), ("x", None), ("1x", None), ("-1", None), ("30M", 77760000),
])
def test_seconds(text, wanted):
    assert values.seconds(text) == wanted


@pytest.mark.parametrize("text, wanted", [
    ("192.0.2.1", "192.0.2.1"), ("192.0.2.1/24", "192.0.2.0/24"), ("10/8", "10.0.0.0/8"),
    ("192.0.2.7&255.255.255.0", "192.0.2.0/24"), ("2001:db8::1/32", "2001:db8::/32"),
    ("::1/128", "::1"), ("any", "any"), ("192.0.2.7&255.0.255.0", None), ("192.0.2.1/33", None),
    ("192.0.2.1/x", None), ("inside", None), ("", None), ("10", None), ("192.168", "192.168.0.0"),
    ("192.0.2.1&0.255.255.255", None),
])
def test_prefixes(text, wanted):
    assert values.prefix(text) == wanted


@pytest.mark.parametrize("a, b, wanted", [
    ("192.0.2.0/24", "192.0.2.7", "192.0.2.7"), ("any", "::1", "::1"), ("::1", "any", "::1"),
    ("192.0.2.0/24", "192.0.3.0/24", None), ("0.0.0.0/0", "::/0", None),
])
def test_common_prefixes(a, b, wanted):
    assert values.common(a, b) == wanted


@pytest.mark.parametrize("text, wanted", [
    ("A.Example", "a.example."), (".", "."), ("a.", "a."), ("a\\.b.c", "a\\.b.c."), ("a..b", None),
    ("", None), ("a b", None), ("x" * 64, None), ("x" * 63, "x" * 63 + "."), ("a\\", None),
])
def test_domains(text, wanted):
    assert values.domain(text) == wanted


def test_yaml():
    config = {"server": {"listen": ["::", "192.0.2.1@53"], "version": "a \"b\" \\ \n", "nsid": "null"},
              "zones": [{"name": "a.", "file": "/a/%s"}, {"name": "b."}], "cache": {}}
    assert check.to_yaml(config) == (
        "server:\n  listen: [\"::\", 192.0.2.1@53]\n  version: \"a \\\"b\\\" \\\\ \\x0A\"\n"
        "  nsid: \"null\"\nzones:\n  - name: a.\n    file: /a/%s\n  - name: b.\n")
