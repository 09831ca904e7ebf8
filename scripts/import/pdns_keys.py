# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""DNSSEC keys as PowerDNS keeps them: the private key in the format of BIND's tools, without its
public key and its tag. Volley wants both, so they are computed here. An RSA key has its public key
in the private one. For RFC 6605 it is a multiple of the curve's base point (FIPS 186-4 appendix
D.1.2), and for RFC 8080 it is that of RFC 8032 section 5.1.5.

The speed matters: a hoster has a key or two in each of 100,000 zones. The doubles of the base point
are computed once, so a key costs about 128 additions, without a division.
"""
import base64
import functools
import hashlib
import re
import struct

# p, b, order, base point; a is -3
CURVES = {
    13: (2**256 - 2**224 + 2**192 + 2**96 - 1,
         0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296,
         0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5),
    14: (
        2**384 - 2**128 - 2**96 + 2**32 - 1,
        0xaa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7,
        0x3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f
    )
}
P25519 = 2**255 - 19
D25519 = -121665 * pow(121666, P25519 - 2, P25519) % P25519
BASE25519 = (0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a,
             0x6666666666666666666666666666666666666666666666666666666666666658)
# what may stand in a file of a private key: others, such as Role and times, would change its use
FIELDS = set("Private-key-format Algorithm Modulus PublicExponent PrivateExponent Prime1 Prime2 "
             "Exponent1 Exponent2 Coefficient PrivateKey".split())


class Fault(Exception):
    """The key cannot be used; the text is a sentence."""


def inverse(value, p):
    return pow(value, p - 2, p)


# --- y² = x³ - 3x + b -----------------------------------------------------------------------------


@functools.lru_cache(None)
def doubles(algorithm):
    """1, 2, 4, ... times the base point."""
    p, x, y = CURVES[algorithm]
    found = []
    for _ in range(p.bit_length()):
        found.append((x, y))
        slope = 3 * (x * x - 1) * inverse(2 * y, p) % p
        next_x = (slope * slope - 2 * x) % p
        x, y = next_x, (slope * (x - next_x) - y) % p
    return found


def add(p, one, x2, y2):
    """A point in Jacobian coordinates plus one with z = 1. They are never equal here: the sum of
    smaller doubles is less than the next one."""
    x1, y1, z1 = one
    zz = z1 * z1 % p
    h = (x2 * zz - x1) % p
    r = (y2 * zz * z1 - y1) % p
    hh = h * h % p
    v = x1 * hh % p
    x3 = (r * r - hh * h - 2 * v) % p
    return x3, (r * (v - x3) - y1 * hh * h) % p, h * z1 % p


def ecdsa_public(algorithm, secret):
    p = CURVES[algorithm][0]
    size = p.bit_length() // 8
    number, at = int.from_bytes(secret, "big"), None
    for i, (x, y) in enumerate(doubles(algorithm)):
        if number >> i & 1:
            at = add(p, at, x, y) if at else (x, y, 1)
    if at is None or len(secret) > size:
        raise Fault("its number is out of range")
    z = inverse(at[2], p)
    x, y = at[0] * z * z % p, at[1] * z * z * z % p
    return x.to_bytes(size, "big") + y.to_bytes(size, "big")


# --- Ed25519 --------------------------------------------------------------------------------------


def add_25519(one, other):
    """RFC 8032 section 5.1.4; complete, so it also doubles."""
    p = P25519
    a = (one[1] - one[0]) * (other[1] - other[0]) % p
    b = (one[1] + one[0]) * (other[1] + other[0]) % p
    c = 2 * one[3] * other[3] * D25519 % p
    d = 2 * one[2] * other[2] % p
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % p, g * h % p, f * g % p, e * h % p


@functools.lru_cache(None)
def doubles_25519():
    x, y = BASE25519
    found = [(x, y, 1, x * y % P25519)]
    for _ in range(254):
        found.append(add_25519(found[-1], found[-1]))
    return found


def ed25519_public(secret):
    if len(secret) != 32:
        raise Fault("its private key has not 32 octets")
    number = int.from_bytes(hashlib.sha512(secret).digest()[:32], "little")
    number = number & (1 << 254) - 8 | 1 << 254
    at = (0, 1, 1, 0)
    for i, point in enumerate(doubles_25519()):
        if number >> i & 1:
            at = add_25519(at, point)
    z = inverse(at[2], P25519)
    x, y = at[0] * z % P25519, at[1] * z % P25519
    return (y | (x & 1) << 255).to_bytes(32, "little")


# --- Keys -----------------------------------------------------------------------------------------


def rsa_public(fields):
    exponent, modulus = (octets(fields, name).lstrip(b"\0")
                         for name in ("PublicExponent", "Modulus"))
    length = bytes([len(exponent)]) if len(exponent) < 256 else struct.pack("!BH", 0, len(exponent))
    return length + exponent + modulus


def octets(fields, name):
    try:
        return base64.b64decode(fields[name], validate=True)
    except (KeyError, ValueError):
        raise Fault(f"it has no {name} in base64") from None


class Key:
    """`content` is the text of a private key, with a field in each line. Raises Fault."""
    def __init__(self, number, flags, is_active, is_published, content):
        self.number, self.flags = number, flags
        self.is_active, self.is_published = is_active, is_published
        if flags is None or not 0 <= flags < 1 << 16:
            raise Fault("its flags are not a number of 16 bits")
        self.fields = dict(re.findall(r"^([^:\n]+):[ \t]*(.*?)[ \t\r]*$", content, re.M))
        if "Algorithm" not in self.fields or not re.match("[0-9]{1,3}( |$)",
                                                          self.fields["Algorithm"]):
            raise Fault("it has no Algorithm")
        self.algorithm = int(self.fields["Algorithm"].split()[0])
        if not set(self.fields) <= FIELDS:
            raise Fault("its private key is in a device (PKCS #11), which volleyd does not ask")

    @functools.cached_property
    def dnskey(self):
        """The rdata of its DNSKEY record."""
        if self.algorithm in CURVES:
            public = ecdsa_public(self.algorithm, octets(self.fields, "PrivateKey"))
        elif self.algorithm == 15:
            public = ed25519_public(octets(self.fields, "PrivateKey"))
        else:
            public = rsa_public(self.fields)
        return struct.pack("!HBB", self.flags, 3, self.algorithm) + public

    @property
    def tag(self):
        """RFC 4034 appendix B."""
        total = sum(octet << 8 if i % 2 == 0 else octet for i, octet in enumerate(self.dnskey))
        return total + (total >> 16 & 0xffff) & 0xffff

    def file_name(self, zone):
        """Without .key and .private; ZONE has its last dot."""
        return f"K{zone.replace('/', '%')}+{self.algorithm:03}+{self.tag:05}"

    def private_text(self, times):
        """TIMES are lines such as "Publish: 20260101000000"."""
        return "".join(f"{name}: {value}\n" for name, value in self.fields.items()) + \
            "".join(line + "\n" for line in times)

    def public_text(self, zone):
        public = base64.b64encode(self.dnskey[4:]).decode("ascii")
        return f"{zone} IN DNSKEY {self.flags} 3 {self.algorithm} {public}\n"
