# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of other servers: yes and no, times, sizes, prefixes, names."""
import ipaddress
import re
import unicodedata

NUMBER_MAX = 10 ** 18  # a larger number is taken for this one
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
EVERYONE = ("0.0.0.0/0", "::/0")
REORDERING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def is_yes(text):
    return text.lower() in ("yes", "on", "true", "1")


def number(text):
    """The number in ASCII digits; None if it is none. int() refuses 5,000 digits, and "²" is a digit
    for str.isdigit()."""
    if not re.fullmatch("[0-9]+", text):
        return None
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= 18 else NUMBER_MAX


def shown(text):
    """The text as a terminal and a comment may have it: one line, in its order, in UTF-8."""
    return "".join("?" if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or
                   unicodedata.bidirectional(c) in REORDERING or c in "\u061c\u200e\u200f" else c
                   for c in text)


def is_same(text, default):
    """True if an option with this value is as if it were not there."""
    if default in ("yes", "no"):
        return is_yes(text) == (default == "yes")
    return text == default


def seconds(text):
    """The seconds in "90", "1h30m", "P1DT2H" or "2w"; None if it is no time."""
    is_time, total = False, 0
    rest = text[1:] if text.startswith("P") else text
    while rest:
        match = re.match(r"(T?)([0-9]+)([a-zA-Z]?)", rest)
        if not match:
            return None
        is_time = is_time or bool(match[1])
        # M is a month in Knot and in ISO 8601, but a minute behind the T of ISO 8601
        unit = 30 * 86400 if match[3] == "M" and not is_time else SECONDS.get(match[3].lower())
        if unit is None:
            return None
        total += number(match[2]) * unit
        rest = rest[match.end():]
    return total if text not in ("", "P") else None


def size(text):
    """The octets in "4m", "64k", "10MB"; None if it is no size."""
    match = re.fullmatch(r"([0-9]+)(?:([bkmgt])b?)?", text.lower())
    return number(match[1]) << 10 * "bkmgt".index(match[2] or "b") if match else None


def with_unit(number, units):
    """4096 as "4K": the largest of the units ((factor, letter), ...) that divides it."""
    for factor, letter in units:
        if number and number % factor == 0:
            return f"{number // factor}{letter}"
    return f"{number}{units[-1][1]}"


TIMES = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))
SIZES = ((1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K"), (1, ""))


def address(text):
    """An IPv4 or IPv6 address, which may have a scope, as in fe80::1%eth0; or None."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def split_port(text):
    """("192.0.2.1", "53") of "192.0.2.1@53"; the port is "" if there is none. None: no address."""
    host, at, port = text.partition("@")
    if not address(host) or (at and not 0 < (number(port) or 0) < 65536):
        return None
    return host, port


def network(text):
    """The network of ADDRESS, ADDRESS/LENGTH, 10/8 or ADDRESS&MASK, with all bits behind its
    length cleared; None if the text is no prefix."""
    host, mark, length = re.fullmatch(r"([^/&]*)([/&]?)(.*)", text, re.S).groups()
    if re.fullmatch(r"\d+(\.\d+){0,2}", host) and (mark or "." in host):
        host += ".0" * (3 - host.count("."))
    if "%" in host or not address(host) or (mark and not re.fullmatch(r"[\da-fA-F.:]+", length)):
        return None
    if mark == "/" and not length.isdigit():
        return None
    try:
        if mark == "&" and ":" in length:
            bits = bin(int(ipaddress.IPv6Address(length)))[2:].zfill(128).rstrip("0")
            length = str(len(bits)) if "0" not in bits else "x"
        elif mark == "&":  # ipaddress would take 0.255.255.255 for a mask, too
            bits = bin(int(ipaddress.IPv4Address(length)))[2:].zfill(32).rstrip("0")
            length = str(len(bits)) if "0" not in bits else "x"
        return ipaddress.ip_network(host + ("/" + length if mark else ""), strict=False)
    except ValueError:
        return None


def prefix(text):
    """The prefix as volley.yaml has it, "any", or None if the text is no prefix."""
    if text == "any":
        return text
    found = network(text)
    if found is None:
        return None
    return str(found.network_address if found.prefixlen == found.max_prefixlen else found)


def common(a, b):
    """The smaller of two prefixes that overlap; None if they do not."""
    if "any" in (a, b):
        return b if a == "any" else a
    first, second = network(a), network(b)
    if first.version != second.version or not first.overlaps(second):
        return None
    return a if first.prefixlen >= second.prefixlen else b


def is_within(a, prefixes):
    """True if one of the prefixes has all addresses of A."""
    return any(common(a, b) == a for b in prefixes)


def domain(text):
    """The name in lower case with its last dot, or None if it is no domain name."""
    if text == ".":
        return text
    name = text[:-1] if text.endswith(".") and not text.endswith("\\.") else text
    labels = re.findall(r"((?:\\\d{3}|\\.|[^.\\\s])+)(?:\.|$)", name)
    lengths = [len(re.sub(r"\\(\d{3}|.)", "x", label)) for label in labels]
    if ".".join(labels) != name or not labels or max(lengths) > 63 or sum(lengths) + len(lengths) > 254:
        return None
    return name.lower() + "."
