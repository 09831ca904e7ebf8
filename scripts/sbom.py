#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbom.py CONTROL TREE SOURCE: prints the bill of materials (SPDX 2.3, JSON) of a Debian package
during its build.

CONTROL is the package's finished control file, TREE the folder with its files, SOURCE the project's
sources. The document has:
  - the package, with its version, its files and their checksums;
  - the licences of our files, by the SPDX tags of the sources that they are made from;
  - each package that it depends on at run time, and what those depend on: version and licence as
  this machine's dpkg and
    /usr/share/doc/PACKAGE/copyright say. A package that is not installed here has no version.
scripts/debian/rules calls it. The same input gives the same octets: the time is SOURCE_DATE_EPOCH,
the name a checksum.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

PLACE = "usr/share/doc/volley/volley.spdx.json"
TAG = re.compile(rb"SPDX-License-Identifier: ([^\n*]+?)(?: \*/)?\n")
NONE = "NOASSERTION"
# Debian's short names of licences and SPDX's, of those that our dependencies name.
SPDX_OF = {
    "GPL-1": "GPL-1.0-only", "GPL-1+": "GPL-1.0-or-later", "GPL-2": "GPL-2.0-only",
           "GPL-2+": "GPL-2.0-or-later",
    "GPL-3": "GPL-3.0-only", "GPL-3+": "GPL-3.0-or-later", "LGPL-2": "LGPL-2.0-only",
           "LGPL-2+": "LGPL-2.0-or-later",
    "LGPL-2.0+": "LGPL-2.0-or-later", "LGPL-2.1": "LGPL-2.1-only", "LGPL-2.1+": "LGPL-2.1-or-later",
           "LGPL-3": "LGPL-3.0-only",
    "LGPL-3+": "LGPL-3.0-or-later", "GPL-2.0": "GPL-2.0-only", "GPL-2.0+": "GPL-2.0-or-later",
    "BSD-2-clause": "BSD-2-Clause", "BSD-2-Clause": "BSD-2-Clause", "BSD-3-Clause": "BSD-3-Clause",
           "BSD-3-clause": "BSD-3-Clause", "MIT": "MIT",
    "Expat": "MIT", "ISC": "ISC", "Apache-2.0": "Apache-2.0", "Zlib": "Zlib", "zlib": "Zlib",
           "CC0-1.0": "CC0-1.0",
    "CC0": "CC0-1.0", "OpenLDAP-2.8": "OLDAP-2.8",
}


def digest(kind, data):
    return hashlib.new(kind, data).hexdigest()


def fields(text):
    """A paragraph of Debian's control format."""
    return {key: re.sub(r"\n\s+", " ", value).strip()
            for key, value in re.findall(r"(?m)^([\w-]+):((?:.*)(?:\n[ \t].*)*)", text)}


def identifier(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def installed(arch):
    """The fields of each package that is installed here, by its name: where several architectures
    are, those of `arch`."""
    shown = subprocess.run(["dpkg-query", "-W", "-f",
                            "Package: ${Package}\nVersion: ${Version}\nArchitecture: "
                            "${Architecture}\n"
                            "Source: ${source:Package}\nHomepage: ${Homepage}\nMaintainer: "
                            "${Maintainer}\nStatus: ${db:Status-Status}\n"
                            "Provides: ${Provides}\nDepends: ${Pre-Depends}, ${Depends}\n\n"],
                           check=True, text=True, capture_output=True).stdout
    found = [fields(text) for text in shown.split("\n\n") if text]
    found.sort(key=lambda one: one["Architecture"] == arch)
    return {one["Package"]: one for one in found if one["Status"] == "installed"}


def names_of(depends, here):
    """The first alternative that is installed here, else the first one. A virtual package stands
    for the package that provides it."""
    provided = {name: one["Package"] for one in here.values()
                for name in re.findall(r"([\w.+-]+)(?: \([^)]*\))?(?:,|$)", one["Provides"])}
    for one in filter(None, (part.strip() for part in depends.split(","))):
        names = [re.match(r"[\w.+-]+", word.strip()).group() for word in one.split("|")]
        known = [name for name in names if name in here] or [provided[name] for name in names
                                                             if name in provided]
        yield (known or names)[0]


def closure(depends, here):
    """The dependencies of each package, by its name; "" is the package itself."""
    edges, todo = {}, [("", depends)]
    while todo:
        name, text = todo.pop()
        edges[name] = sorted(set(names_of(text, here)) - {name})
        todo += [(other, here[other]["Depends"] if other in here else "") for other in edges[name]
                 if other not in edges]
        edges.update({other: edges.get(other, []) for other in edges[name]})
    return edges


def debian_licences(name):
    """The short names in Debian's copyright file; none if that is not in machine-readable form."""
    path = pathlib.Path(f"/usr/share/doc/{name}/copyright")
    text = path.read_text("utf-8", "replace") if path.exists() else ""
    if "copyright-format/1.0" not in text:
        return []
    lines = re.findall(r"(?m)^Files:(?:.*\n)(?:[^\n].*\n)*?License:[ \t]*(\S.*)$", text)
    return sorted(set(lines))


def expression(word):
    """SPDX's expression for Debian's "GPL-2+ or Expat"; None where a name is not known."""
    parts = [SPDX_OF.get(part.strip()) for part in word.split(" or ")]
    return " OR ".join(parts) if all(parts) else None


def dependency(name, here):
    known = here.get(name)
    result = {"SPDXID": identifier("Package", name), "name": name, "downloadLocation": NONE,
              "filesAnalyzed": False,
              "licenseConcluded": NONE, "licenseDeclared": NONE, "copyrightText": NONE}
    if not known:
        return result
    result["versionInfo"] = known["Version"]
    result["supplier"] = "Organization: Debian"
    if known["Homepage"]:
        result["homepage"] = known["Homepage"]
    words = debian_licences(name)
    if words:
        result["licenseComments"] = "Debian's copyright file names: " + "; ".join(words)
        known_words = [expression(word) for word in words]
        if all(known_words):
            result["licenseDeclared"] = all_of(sorted(set(known_words)))
    result["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                               "referenceLocator":
                               f"pkg:deb/debian/{name}@{known['Version']}?arch={known['Architecture']}".replace("+", "%2B")}]
    return result


def tags(folder):
    """The licences that the files below a folder name."""
    return sorted({tag.decode() for path in folder.rglob("*") if path.is_file()
                   for tag in TAG.findall(path.read_bytes()[:400])})


def all_of(expressions):
    return " AND ".join(f"({text})" if " " in text and len(expressions) > 1 else text
                        for text in expressions)


def simple(expressions):
    return sorted({word for text in expressions for word in re.split(r" OR | AND ", text)})


def our_files(tree, source):
    """
    An XDP object is of xdp/, a program of userspace/, with the headers of xdp/; else a file's own
    tag says, or that of the project.
    """
    kernel, user = tags(source / "xdp"), tags(source / "userspace")
    for path in sorted(path for path in tree.rglob("*") if path.is_file()
                       and not path.is_symlink()):
        name = path.relative_to(tree)
        if name.parts[0] == "DEBIAN" or str(name) == PLACE:
            continue
        data = path.read_bytes()
        own = sorted({tag.decode() for tag in TAG.findall(data[:400])})
        found = kernel if name.name.endswith(".bpf.o") else user + kernel if data[
            :4] == b"\x7fELF" else own or user
        yield {"SPDXID": identifier("File", str(name)), "fileName": f"./{name}",
               "licenseConcluded": all_of(found),
               "licenseInfoInFiles": simple(found), "copyrightText": "The Volley authors",
               "checksums": [{"algorithm": "SHA1", "checksumValue": digest("sha1", data)},
                             {"algorithm": "SHA256", "checksumValue": digest("sha256", data)}]}


def volley(control, files):
    sums = sorted(one["checksums"][0]["checksumValue"] for one in files)
    licences = sorted({word for one in files for word in one["licenseInfoInFiles"]})
    return {"SPDXID": "SPDXRef-Package-volley", "name": "volley", "versionInfo": control["Version"],
            "supplier": "Organization: The Volley authors",
            "downloadLocation": NONE, "filesAnalyzed": True, "primaryPackagePurpose": "APPLICATION",
            "packageVerificationCode": {"packageVerificationCodeValue": digest("sha1",
                                                                               "".join(
                                                                                   sums).encode()),
                                        "packageVerificationCodeExcludedFiles": [f"./{PLACE}"]},
            "licenseDeclared": "GPL-2.0-or-later AND (GPL-2.0-only OR BSD-2-Clause)",
            "licenseConcluded": NONE,
            "licenseInfoFromFiles": licences, "copyrightText": "2025-2026 The Volley authors",
            "hasFiles": [one["SPDXID"] for one in files],
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator":
                              f"pkg:deb/volley@{control['Version']}?arch={control['Architecture']}"}]}


def relation(left, kind, right):
    return {"spdxElementId": left, "relationshipType": kind, "relatedSpdxElement": right}


def document(control, tree, source):
    here = installed(control.get("Architecture"))
    edges = closure(f"{control.get('Pre-Depends', '')}, {control.get('Depends', '')}", here)
    files = list(our_files(tree, source))
    packages = [volley(control, files)] + [dependency(name, here) for name in sorted(edges) if name]
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Package-volley")]
    relations += [relation(identifier("Package", name or "volley"), "DEPENDS_ON",
                           identifier("Package", other))
                  for name in sorted(edges) for other in edges[name]]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    name = digest("sha256", json.dumps([packages, files], sort_keys=True).encode())[:32]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"volley-{control['Version']}",
            "documentNamespace": f"https://volley.invalid/spdx/volley-{control['Version']}-{name}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
                             "creators": ["Organization: The Volley authors", "Tool: volley-sbom"]},
            "packages": packages, "files": files, "relationships": relations}


if __name__ == "__main__":
    control_file, tree_folder, source_folder = map(pathlib.Path, sys.argv[1:])
    print(json.dumps(document(fields(control_file.read_text("utf-8")), tree_folder, source_folder),
                     indent=1))
