#!/usr/bin/python3
# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes vectors.inc: frames that carry a query, a reply, and the frame that must carry it.

Independent of the C code: sums are taken modulo 65535 over the whole packet as one number, and each
checksum is then proved by summing the finished packet. Run it by hand after a change:

    tests/data/frame/gen.py > tests/data/frame/vectors.inc
"""
import ipaddress
import random
import struct

CLIENT, SERVER = bytes.fromhex('02aabbccdd01'), bytes.fromhex('02aabbccdd02')
UDP = 17


def ones_sum(data):
    """One's complement sum of big-endian words; 0 only for zeros."""
    number = int.from_bytes(data + b'\0' * (len(data) % 2), 'big')
    return 0 if number == 0 else (number - 1) % 65535 + 1


def checksum(data):
    return 65535 - ones_sum(data)


def udp(src, dst, sport, dport, payload, check=None):
    length = 8 + len(payload)
    if src.version == 4:
        pseudo = src.packed + dst.packed + struct.pack('!BBH', 0, UDP, length)
    else:
        pseudo = src.packed + dst.packed + struct.pack('!IHBB', length, 0, 0, UDP)
    if check is None:
        bare = struct.pack('!HHHH', sport, dport, length, 0) + payload
        check = checksum(pseudo + bare) or 0xffff
        full = struct.pack('!HHHH', sport, dport, length, check) + payload
        assert ones_sum(pseudo + full) == 65535
    return struct.pack('!HHHH', sport, dport, length, check) + payload


def ip(src, dst, body, ttl=64, tos=0, ident=0, frag=0x4000, flow=0):
    if src.version == 6:
        first = 6 << 28 | tos << 20 | flow
        return struct.pack('!IHBB', first, len(body), UDP, ttl) + src.packed + dst.packed + body
    head = struct.pack('!BBHHHBBH', 0x45, tos, 20 + len(body), ident, frag, ttl, UDP, 0)
    head += src.packed + dst.packed
    head = head[:10] + struct.pack('!H', checksum(head)) + head[12:]
    assert ones_sum(head) == 65535
    return head + body


def ethernet(to, sender, tags, packet):
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86dd
    head = to + sender
    for proto, tci in tags:
        head += struct.pack('!HH', proto, tci)
    return head + struct.pack('!H', kind) + packet


def vector(name, client, server, query, reply, tags=(), sport=40000, dport=53, pad=0,
           udp_check=None, **fields):
    client, server = ipaddress.ip_address(client), ipaddress.ip_address(server)
    asked = udp(client, server, sport, dport, query, udp_check)
    answer = udp(server, client, dport, sport, reply)
    frame = ethernet(SERVER, CLIENT, tags, ip(client, server, asked, **fields)) + b'\xee' * pad
    back = ethernet(CLIENT, SERVER, tags, ip(server, client, answer))
    return name, frame, len(frame) - pad - len(query), query, reply, back


def payload_with_sum_zero(src, dst, sport, dport):
    """Two octets that make the computed UDP checksum 0, so that 0xffff must be sent."""
    src, dst = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    for value in range(65536):
        data = b'zero' + struct.pack('!H', value)
        length = 8 + len(data)
        if src.version == 4:
            pseudo = src.packed + dst.packed + struct.pack('!BBH', 0, UDP, length)
        else:
            pseudo = src.packed + dst.packed + struct.pack('!IHBB', length, 0, 0, UDP)
        if checksum(pseudo + struct.pack('!HHHH', sport, dport, length, 0) + data) == 0:
            return data
    raise AssertionError('no such payload')


def vectors():
    rnd = random.Random(2006)
    v4, v6 = ('192.0.2.1', '198.51.100.53'), ('2001:db8::1', '2001:db8:53::53')
    yield vector('IPv4', *v4, b'query', b'the reply')
    yield vector('IPv6', *v6, b'query', b'the reply')
    yield vector('IPv4, one tag', *v4, b'query', b'reply', tags=[(0x8100, 0x6064)])
    yield vector('IPv4, two tags', *v4, b'query', b'reply', tags=[(0x88a8, 100), (0x8100, 0x3fff)])
    yield vector('IPv6, one tag', *v6, b'query', b'reply', tags=[(0x8100, 7)])
    yield vector('IPv6, two tags', *v6, b'query', b'reply', tags=[(0x8100, 7), (0x8100, 8)])
    yield vector('IPv4, padded to 60', *v4, b'query', b'r', pad=13)
    yield vector('IPv6, padded', *v6, b'q', b'reply', pad=5)
    yield vector('IPv4, odd fields', *v4, b'query', b'reply', ttl=3, tos=0xb8, ident=0xbeef, frag=0)
    yield vector('IPv6, odd fields', *v6, b'query', b'reply', ttl=255, tos=0xb8, flow=0xfaced)
    yield vector('IPv4, no checksum', *v4, b'query', b'reply', udp_check=0)
    yield vector('IPv4, unfinished checksum', *v4, b'query', b'reply', udp_check=0x1234)
    yield vector('IPv6, unfinished checksum', *v6, b'query', b'reply', udp_check=0x1234)
    yield vector('IPv4, empty query', *v4, b'', b'reply')
    yield vector('IPv4, shorter reply', *v4, b'a rather long query', b'r')
    yield vector('IPv4, many ones', '223.255.255.254', '255.255.255.253', b'\xff' * 40,
                 b'\xff' * 41, sport=65535, dport=65535)
    yield vector('IPv4, checksum 0', *v4, b'query', payload_with_sum_zero(v4[1], v4[0], 53, 40000))
    yield vector('IPv6, checksum 0', *v6, b'query', payload_with_sum_zero(v6[1], v6[0], 53, 40000))
    for n in (1, 2, 3, 4, 5, 512, 1231, 1232, 1432):
        for ends in (v4, v6):
            yield vector(f'IPv{ipaddress.ip_address(ends[0]).version}, random reply of {n}', *ends,
                         rnd.randbytes(30), rnd.randbytes(n), sport=rnd.randrange(1, 65536))


def c_string(data):
    lines = [data[i:i + 22] for i in range(0, len(data), 22)] or [b'']
    return '\n'.join('\t  "' + ''.join(f'\\x{b:02x}' for b in line) + '"' for line in lines)


def main():
    print('/* SPDX-FileCopyrightText: The Volley authors */')
    print('/* SPDX-License-Identifier: GPL-2.0-or-later */')
    print('/* Written by gen.py, not by hand: name; frame, its data offset, query; reply, its '
          'frame. */')
    for name, frame, offset, query, reply, back in vectors():
        print(f'\t{{ "{name}",\n{c_string(frame)},\n\t  {len(frame)}, {offset}, {len(query)},')
        print(f'{c_string(reply)},\n\t  {len(reply)},\n{c_string(back)},\n\t  {len(back)} }},')


if __name__ == '__main__':
    main()
