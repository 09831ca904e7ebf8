# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records as the tables of PowerDNS have them, as lines of a master file.

    name          type  content        ttl   prio
    www.a.test    MX    mail.a.test    3600  10      ->  www.a.test. 3600 MX 10 mail.a.test

Names have no last dot, so the file begins with "$ORIGIN .". Contents come from customers, through
the web pages of a hoster: each stays within its line.
"""
import re
import time

WEEK = 7 * 86400


class Fault(Exception):
    """The record cannot be in a master file; the text is a sentence."""


def canonical(name):
    """The name with its last dot and the escapes of RFC 1035 section 5.1 where they are needed, in
    lower case; it is also the name that volleyd uses."""
    octets, out = name.lower().encode(errors="surrogateescape"), []
    for match in re.finditer(rb"\\(\d{3})|\\(.)|(.)", octets.removesuffix(b"."), re.S):
        c = int(match[1]) if match[1] else (match[2] or match[3])[0]
        if c > 255:
            raise Fault(f"\"{name}\" is no domain name")
        if match[3] == b"." or (33 <= c <= 126 and c not in b".\\\"();@$"):
            out.append(chr(c))
        else:
            out.append(f"\\{c:03}" if not 33 <= c <= 126 else "\\" + chr(c))
    return "".join(out) + "."


def tidy(content):
    """The content as one line of a master file. Outside of quotes a semicolon would begin a comment
    there, and a parenthesis would join lines."""
    if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", content):
        raise Fault("its content has a control character")
    parts = re.findall(r'"(?:\\.|[^"\\])*"|\\.|[^"\\]', content)
    if "".join(parts) != content:
        raise Fault("a quote of its content is not closed")
    return "".join("\\" + part if part in (";", "(", ")") else part for part in parts)


class Record:
    def __init__(self, name, kind, content, ttl, prio, is_disabled):
        self.name, self.is_disabled = name or "", bool(is_disabled)
        self.type = (kind or "").upper().replace("TYPE0",
                                                 "")  # "": the name exists, and has nothing
        self.content, self.ttl, self.prio = str(content or ""), ttl, prio or 0

    @property
    def data(self):
        """The rdata. PowerDNS stores the first number of MX and SRV in a column of its own."""
        content = self.content.strip() or ("." if self.type in ("MX", "NS", "CNAME", "DNAME",
                                                                "PTR") else "")
        if self.type in ("MX", "SRV"):
            content = f"{self.prio} {content}"
            return content + " ." if self.type == "SRV" and len(content.split()) == 3 else content
        return content

    def line(self, default_ttl):
        """Raises Fault."""
        if not re.fullmatch("[A-Z0-9-]{1,16}", self.type):
            raise Fault("it has no type")
        ttl = default_ttl if self.ttl is None else self.ttl
        if not isinstance(ttl, int) or not 0 <= ttl < 1 << 31:
            raise Fault(f"its TTL {ttl} is out of range")
        return f"{canonical(self.name)} {ttl} {self.type} {tidy(self.data)}\n"


# --- SOA ------------------------------------------------------------------------------------------


def start_of_week(now):
    """Signatures of PowerDNS begin on Thursday, 0 o'clock UTC."""
    return now - now % WEEK


def edited(serial, kind, now):
    """The serial number that PowerDNS tells, by its SOA-EDIT; None if that is not known."""
    week, kind = start_of_week(now), kind.upper()
    if kind in ("", "NONE"):
        return serial
    if kind == "EPOCH":
        return now
    if kind == "INCREMENT-WEEKS":
        return serial + now // WEEK & 0xffffffff
    if kind == "INCEPTION-EPOCH":
        return max(serial, week)
    if kind == "INCEPTION-INCREMENT":
        first = int(time.strftime("%Y%m%d01", time.localtime(week)))
        last = int(time.strftime("%Y%m%d99", time.localtime(week + 2 * 86400)))
        return first if serial < first - 1 else serial + 2 if serial <= last else serial
    return None


class Soa:
    """The fields of a SOA record; those that are missing have PowerDNS's defaults. Raises Fault."""

    DEFAULTS = ("0", "10800", "3600", "604800", "3600")

    def __init__(self, content):
        words = content.split()
        if len(words) < 2 or not all(re.fullmatch("[0-9]{1,10}", word) for word in words[2:]):
            raise Fault("its SOA record cannot be read")
        self.names = [words[0], words[1].replace("@", ".")]
        self.numbers = [int(word) for word in (*words[2:7], *self.DEFAULTS[len(words[2:7]):])]

    @property
    def serial(self):
        return self.numbers[0]

    @property
    def minimum(self):
        return self.numbers[4]

    def content(self, serial):
        return " ".join([*self.names, str(serial), *map(str, self.numbers[1:])])
