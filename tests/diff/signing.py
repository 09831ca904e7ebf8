# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Zone files, signed where the zone says so: one ECDSA key for each zone."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
TOOLS = ("dnssec-signzone", "dnssec-keygen", "ldns-signzone", "ldns-keygen")


def which(tool):
    return shutil.which(tool, path=PATH)


def run(folder, *words):
    done = subprocess.run([which(words[0]), *words[1:]], cwd=folder,
                          capture_output=True, text=True, check=False, timeout=120)
    assert not done.returncode, f"{' '.join(words)}: {done.stderr[-1500:]}"
    return done.stdout.strip()


def sign_dnssec(z, folder, key):
    nsec3 = []
    if z.signing == "nsec3":
        nsec3 = ["-3", z.salt, "-H", str(z.iterations)] + (["-A"] if z.opt_out else [])
    run(folder, "dnssec-signzone", "-S", "-z", "-n", "1", "-P", "-q", "-K", ".", "-d", ".", *nsec3,
        "-o", z.origin, "-f", "signed", "zone", key)


def sign_ldns(z, folder, key):
    nsec3 = []
    if z.signing == "nsec3":
        nsec3 = ["-n", "-t", str(z.iterations), *(["-s", z.salt] if z.salt != "-" else []),
                 *(["-p"] if z.opt_out else [])]
    run(folder, "ldns-signzone", *nsec3, "-o", z.origin, "-f", "signed", "zone", key)


def write(z, folder):
    """The file of zone Z, below FOLDER."""
    place = pathlib.Path(folder) / str(z.number)
    place.mkdir()
    (place / "zone").write_text(z.text())
    if not z.signing:
        return str(place / "zone")
    if z.signer == "dnssec-signzone":
        key = run(place, "dnssec-keygen", "-q", "-a", "ECDSAP256SHA256", "-f", "KSK", z.origin)
        sign_dnssec(z, place, key)
    else:
        sign_ldns(z, place, run(place, "ldns-keygen", "-a", "ECDSAP256SHA256", z.origin))
    return str(place / "signed")


def write_all(zones, folder):
    """{origin: file}."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip((z.origin for z in zones), pool.map(lambda z: write(z, folder), zones)))
