# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""volleyd --schema: an editor that knows the schema and volleyd say the same of a configuration.

No daemon: each configuration is given to volleyd --check, which refuses it with status 2, and to a
validator of the schema. An editor reads YAML 1.2, so the validator does, too.
"""
import json
import re

import jsonschema
import pytest
import yaml

from netlab import BIN, ROOT, run

LISTEN = "server: {listen: [192.0.2.53]}\n"
KEY = "keys: [{name: a, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]\n"


class Yaml12(yaml.SafeLoader):
    """true and false are the booleans, and 0660 is a number in decimal."""
    yaml_implicit_resolvers = {}


Yaml12.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), list("tf"))
Yaml12.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"),
                             list("-+0123456789"))
Yaml12.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+\.[0-9]+$"),
                             list("-+0123456789"))
Yaml12.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(null|~|)$"), ["n", "~", ""])
Yaml12.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value, 10))


@pytest.fixture(scope="module", name="validator")
def fixture_validator():
    schema = json.loads(run(BIN / "volleyd", "--schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def faults(validator, text, loader=Yaml12):
    return [f"{error.json_path}: {error.message}"
            for error in validator.iter_errors(yaml.load(text, loader))]


GOOD = {
    "the least": LISTEN,
    "every kind of number": "server: {listen: [\"::1@5353\"], workers: auto, control-cores: [0], "
                            "max-udp-size: 1400,\n"
                            "  tcp: {idle-timeout: 2m}, storage: state, storage-size: 2G}\n"
                            "cache: {size: 8388608, orphan-serve: 90}\nrecursion: {query-timeout: "
                            "300ms, max-ttl: 2h}\n",
    "numbers as texts": LISTEN +
        "cache: {size: \"8M\"}\nrecursion: {threads: \"4\", prefetch: \"false\"}\n",
    "texts that look like numbers": "server: {listen: [192.0.2.53], version: 9.18, identity: true, "
                                    "nsid: 12}\n",
    "a mode": LISTEN + "control: {mode: 0600}\n",
    "words that YAML 1.1 takes for booleans": LISTEN +
        "interfaces: [{name: eth0, xdp: off, zero-copy: on, busy-poll: true}]\n",
    "keys, remotes, zones": LISTEN.replace("}", ", storage: s}") + KEY +
        "remotes: [{name: hub, address: [192.0.2.1], key: a}]\n"
                            "zones:\n- {name: a, primaries: [hub], allow-transfer: [any, "
                            "10.0.0.0/8 key a tls]}\n"
                            "- {name: b, file: b, verify: [check, '', 1]}\n",
    "templates": LISTEN.replace("}", ", storage: s}") +
        "templates: [{name: t, file: \"%s.db\", ixfr: false}]\n"
                 "zones: [{name: a, template: t}, {name: c, catalog: consume, groups: [{template: "
                 "t}]}]\n",
    "telling": LISTEN +
        "dnstap: {tcp: 127.0.0.1@6000, client-prefix: 24/48, messages: [auth-query]}\n"
               "query-log: {journal: true, rcodes: [refused, badcookie]}\n",
    "nothing included": "include: conf.d/*.yaml\n" + LISTEN,
    "no list of files": "include: []\n" + LISTEN,
}

BAD = {
    "unknown at the top": LISTEN + "zone: []\n",
    "unknown in a map": "server: {listen: [192.0.2.53], worker: 1}\n",
    "unknown in an item": LISTEN + "interfaces: [{name: eth0, speed: 1}]\n",
    "unknown in a template": LISTEN + "templates: [{name: a, template: b}]\n",
    "a number below its bounds": "server: {listen: [192.0.2.53], max-udp-size: 511}\n",
    "a number above its bounds": LISTEN + "recursion: {threads: 17}\n",
    "a size below its bounds": LISTEN + "cache: {size: 8388607}\n",
    "a time above its bounds": LISTEN + "recursion: {query-timeout: 61}\n",
    "a unit that there is not": LISTEN + "cache: {size: 64MB}\n",
    "a negative number": "server: {listen: [192.0.2.53], workers: -1}\n",
    "a fraction": "server: {listen: [192.0.2.53], workers: 1.5}\n",
    "no choice": LISTEN + "log: {level: loud}\n",
    "no boolean": LISTEN + "rrl: {dry-run: yes}\n",
    "a value for a map": "server: 53\n",
    "nothing for a map": LISTEN + "cache:\n",
    "a map for a list": LISTEN + "zones: {name: a, file: b}\n",
    "a value for a list": "server: {listen: 192.0.2.1}\n",
    "a list for a value": LISTEN + "cache: {size: [8M]}\n",
    "a value in a list of maps": LISTEN + "zones: [example.com]\n",
    "an item without its name": LISTEN + "interfaces: [{xdp: native}]\n",
    "no address": "server: {listen: [eth0]}\n",
    "an address without its port": LISTEN + "metrics: {listen: 127.0.0.1}\n",
    "an address twice": "server: {listen: [192.0.2.1, 192.0.2.1]}\n",
    "an empty list that would let nobody ask": "server: {listen: [192.0.2.53], allow: []}\n",
    "too many items": "server: {listen: [192.0.2.53], cookies: {secret-files: [a, b, c, d, e]}}\n",
    "a tunnel twice": LISTEN + "interfaces: [{name: a, tunnels: [gue, gue]}]\n",
    "a name with a space": LISTEN + "remotes: [{name: a b, address: [192.0.2.1]}]\n",
    "no base64": LISTEN + "keys: [{name: a, secret: '!!!'}]\n",
    "a text that is empty": "server: {listen: [192.0.2.53], version: ''}\n",
    "a mode with another digit": LISTEN + "control: {mode: \"0680\"}\n",
}

# What a schema does not say: the editor is silent, and volleyd refuses.
BEYOND = {
    "no address to listen at": "log: {level: info}\n",
    "a bound with a unit": LISTEN + "cache: {size: 7M}\n",
    "keys that do not go together": LISTEN + "recursion: {do-ip4: false, do-ip6: false}\n",
    "a name that is not there": LISTEN + "zones: [{name: a, file: b, notify: [hub]}]\n",
    "a zone twice": LISTEN + "zones: [{name: a, file: b}, {name: A., file: b}]\n",
    "no power of two": LISTEN + "interfaces: [{name: a, ring-size: 96}]\n",
}


@pytest.mark.parametrize("text,is_good,is_marked", [
    pytest.param(text, is_good, is_marked, id=name)
    for rows, is_good, is_marked in ((GOOD, True, False), (BAD, False, True),
                                     (BEYOND, False, False))
    for name, text in rows.items()])
def test_the_editor_and_volleyd_say_the_same(tmp_path, validator, text, is_good, is_marked):
    path = tmp_path / "volley.yaml"
    path.write_text(text, encoding="utf-8")
    checked = run(BIN / "volleyd", "--check", "-c", path, check=False)
    assert (checked.returncode != 2) == is_good, f"{checked.stdout}{checked.stderr}"
    assert bool(faults(validator, text)) == is_marked
    if is_good:  # in quotes, too
        assert not faults(validator, text, yaml.BaseLoader)


def test_a_reader_of_yaml_1_1(validator):
    """It takes on and off for booleans."""
    assert not faults(validator, GOOD["words that YAML 1.1 takes for booleans"], yaml.SafeLoader)


@pytest.mark.parametrize("words", [["extra"], ["--strict"]])
def test_nothing_beside_the_schema(words):
    said = run(BIN / "volleyd", "--schema", *words, check=False)
    assert said.returncode == 2 and words[0] in said.stderr and not said.stdout


@pytest.mark.parametrize("name", ["zones/volley.yaml.example", "scripts/debian/volley.yaml"])
def test_examples_have_no_mark(validator, name):
    assert not faults(validator, (ROOT / name).read_text("utf-8"))


def test_each_key_of_the_man_page_is_in_the_schema(validator):
    page = re.search(r"(?s)\n\.Sh KEYS\n(.*?)\n\.Sh ",
                     (BIN.parent / "man/volley.yaml.5").read_text("utf-8"))[1]
    keys = [key.replace("\\-", "-")
            for key in re.findall(r"(?m)^\.It Cm ([a-z0-9\\.\[\]-]+)$", page)]
    assert len(keys) > 200
    for key in keys:
        at = validator.schema
        for word in key.split("."):
            at = at["properties"].get(word.removesuffix("[]"), {})
            at = at.get("items", {}) if word.endswith("[]") else at
            assert at, f"{key} is not in the schema"


def test_each_map_knows_its_keys_and_tells_of_them(validator):
    def look(at, path):
        if at.get("type") == "object":
            assert at["additionalProperties"] is False, path
            for word, below in at["properties"].items():
                assert below["description"], f"{path}.{word}"
                look(below, f"{path}.{word}")
        elif at.get("type") == "array":
            look(at["items"], f"{path}[]")
    look(validator.schema, "")
