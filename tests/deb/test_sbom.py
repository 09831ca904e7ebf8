# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The bill of materials in the package, and beside it: the fields that SPDX 2.3 requires, every file,
every dependency.
"""
import hashlib
import json
import re

import pytest

from bare import DEBS, deb, units
from netlab import ROOT, run

IDENTIFIER = re.compile(r"SPDXRef-[A-Za-z0-9.-]+$")
LICENCE = re.compile(r"(NOASSERTION|NONE|[A-Za-z0-9.+-]+|[()]| AND | OR )+$")
PLACE = "usr/share/doc/volley/volley.spdx.json"


@pytest.fixture(name="tree", scope="module")
def unpacked(tmp_path_factory):
    tree = tmp_path_factory.mktemp("package")
    run("dpkg-deb", "-R", deb("volley"), tree)
    return tree


@pytest.fixture(name="bill", scope="module")
def read(tree):
    return json.loads((tree / PLACE).read_text("utf-8"))


def test_it_lies_beside_the_package_too(tree):
    (beside,) = DEBS.glob("volley_*.spdx.json")
    assert beside.read_bytes() == (tree / PLACE).read_bytes()


def test_required_fields(bill):
    """SPDX 2.3, clauses 6 (document), 7 (packages), 8 (files), 11 (relationships)."""
    assert bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0"
    assert bill["SPDXID"] == "SPDXRef-DOCUMENT"
    assert bill["name"] and re.match(r"https?://[^#\s]+$", bill["documentNamespace"])
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", bill["creationInfo"]["created"])
    assert all(re.match(r"(Person|Organization|Tool): \S", one)
               for one in bill["creationInfo"]["creators"])
    for one in bill["packages"]:
        assert one["name"] and one["downloadLocation"] and one["copyrightText"], one
        assert LICENCE.match(one["licenseConcluded"]) and LICENCE.match(one["licenseDeclared"]), one
        assert ("packageVerificationCode" in one) == one["filesAnalyzed"], one
    for one in bill["files"]:
        assert one["fileName"].startswith("./") and LICENCE.match(one["licenseConcluded"]) and one[
            "licenseInfoInFiles"], one
    ids = ["SPDXRef-DOCUMENT"] + [one["SPDXID"] for one in bill["packages"] + bill["files"]]
    assert len(ids) == len(set(ids)) and all(IDENTIFIER.match(one) for one in ids)
    for one in bill["relationships"]:
        assert one["spdxElementId"] in ids and one["relatedSpdxElement"] in ids, one
        assert one["relationshipType"] in ("DESCRIBES", "DEPENDS_ON")
    assert sum(one["relationshipType"] == "DESCRIBES" for one in bill["relationships"]) == 1


def test_every_file_with_its_checksums_and_licence(tree, bill):
    files = {one["fileName"][2:]: one for one in bill["files"]}
    there = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()
             and not path.is_symlink()}
    assert set(files) == {path for path in there if not path.startswith("DEBIAN/")} - {PLACE}
    for path, one in files.items():
        data = (tree / path).read_bytes()
        assert {sum_["algorithm"]: sum_["checksumValue"] for sum_ in one["checksums"]} == {
            "SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(
                data).hexdigest()}, path
    assert (files["usr/lib/volley/volley.bpf.o"]["licenseConcluded"] ==
            "GPL-2.0-only OR BSD-2-Clause")
    assert (files["usr/sbin/volleyd"]["licenseInfoInFiles"] ==
            ["BSD-2-Clause", "GPL-2.0-only", "GPL-2.0-or-later"])
    assert files[f"{units(tree).relative_to(tree)}/volleyd.service"]["licenseConcluded"] == "GPL-2.0-or-later"
    sums = "".join(sorted(one["checksums"][0]["checksumValue"] for one in bill["files"]))
    assert (bill["packages"][0]["packageVerificationCode"]["packageVerificationCodeValue"] ==
            hashlib.sha1(sums.encode()).hexdigest())


def test_every_dependency_with_its_version(tree, bill):
    control = (tree / "DEBIAN/control").read_text("utf-8")
    depends = re.search(r"(?m)^Depends: (.*)", control)[1].split(", ")
    packages = {one["name"]: one for one in bill["packages"]}
    assert packages["volley"]["versionInfo"] == re.search(r"(?m)^Version: (.*)", control)[1]
    ours = {one["relatedSpdxElement"] for one in bill["relationships"]
            if one["spdxElementId"] == packages["volley"]["SPDXID"]
            and one["relationshipType"] == "DEPENDS_ON"}
    for text in depends:
        names = [re.match(r"[\w.+-]+", word).group() for word in text.split(" | ")]
        assert ours & {packages[name]["SPDXID"] for name in names if name in packages}, text
    for name in ("libbpf1", "libunbound8", "libssl3", "libc6"):
        assert (run("dpkg-query", "-W", "-f", "${Version}", name).stdout ==
                packages[name]["versionInfo"])
    assert packages["liblmdb0"]["licenseDeclared"] == "OLDAP-2.8"
    assert packages["libjansson4"]["licenseDeclared"] == "MIT"
    assert "libevent-2.1-7" in packages or "libnettle8" in packages  # what a library needs itself


def test_the_same_package_has_the_same_bill(tree, bill):
    made = re.sub(r"[-TZ:]", " ", bill["creationInfo"]["created"]).split()
    seconds = run("date", "-u", "+%s", "-d", "{}-{}-{} {}:{}:{}".format(*made)).stdout.strip()
    again = run("env", f"SOURCE_DATE_EPOCH={seconds}", ROOT / "scripts/sbom.py",
                tree / "DEBIAN/control", tree, ROOT).stdout
    assert json.loads(again)["files"] == bill["files"]
    assert json.loads(again)["creationInfo"] == bill["creationInfo"]
