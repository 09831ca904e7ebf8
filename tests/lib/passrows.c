/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/passrows.h"

#include <string.h>

#include "xdp/abi.h"

#define O(octets) (octets), sizeof(octets) - 1

enum { ETH = 14, IPV4_UDP = ETH + 20, IPV6_UDP = ETH + 40 };

const struct pass_row pass_rows4[] = {
	{ "ARP", VOLLEY_PASS_ETHERTYPE, 12, O("\x08\x06\0\1\x08\0\6\4\0\1") },
	{ "MPLS", VOLLEY_PASS_ETHERTYPE, 12, O("\x88\x47") },
	{ "LLDP", VOLLEY_PASS_ETHERTYPE, 12, O("\x88\xcc") },
	{ "802.3 length in place of a type", VOLLEY_PASS_ETHERTYPE, 12, O("\0\x2e") },
	{ "jumbo LLC", VOLLEY_PASS_ETHERTYPE, 12, O("\x88\x70") },
	{ "IPv6 in an IPv4 frame", VOLLEY_PASS_IP_LENGTH, ETH, O("\x60") },
	{ "IPv4 in an IPv6 frame", VOLLEY_PASS_IP_LENGTH, 12, O("\x86\xdd") },
	{ "IP version 0", VOLLEY_PASS_IP_LENGTH, ETH, O("\x05") },
	{ "IHL 4", VOLLEY_PASS_IP_OPTIONS, ETH, O("\x44") },
	{ "IHL 6: an option", VOLLEY_PASS_IP_OPTIONS, ETH, O("\x46") },
	{ "IHL 15: options", VOLLEY_PASS_IP_OPTIONS, ETH, O("\x4f") },
	{ "first fragment", VOLLEY_PASS_FRAGMENT, ETH + 6, O("\x20\0") },
	{ "later fragment", VOLLEY_PASS_FRAGMENT, ETH + 6, O("\x20\x10") },
	{ "last fragment", VOLLEY_PASS_FRAGMENT, ETH + 6, O("\0\1") },
	{ "last fragment at the highest offset", VOLLEY_PASS_FRAGMENT, ETH + 6, O("\x1f\xff") },
	{ "ICMP", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\1") },
	{ "IGMP", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\2") },
	{ "TCP", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\6") },
	{ "IPv6 in IPv4", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\x29") },
	{ "SCTP", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\x84") },
	{ "UDP-Lite", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\x88") },
	{ "total length 0", VOLLEY_PASS_IP_LENGTH, ETH + 2, O("\0\0") },
	{ "total length 19", VOLLEY_PASS_IP_LENGTH, ETH + 2, O("\0\x13") },
	{ "total length 20", VOLLEY_PASS_UDP_LENGTH, ETH + 2, O("\0\x14") },
	{ "total length one octet short", VOLLEY_PASS_UDP_LENGTH, ETH + 2, O("\0\x38") },
	{ "total length one octet beyond the frame", VOLLEY_PASS_IP_LENGTH, ETH + 2, O("\0\x3a") },
	{ "total length 65535", VOLLEY_PASS_IP_LENGTH, ETH + 2, O("\xff\xff") },
	{ "UDP length 0", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\0\0") },
	{ "UDP length 7", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\0\7") },
	{ "UDP length one octet short", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\0\x24") },
	{ "UDP length one octet long", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\0\x26") },
	{ "UDP length 65535", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\xff\xff") },
	{ "source 0.0.0.0", VOLLEY_PASS_SOURCE, ETH + 12, O("\0\0\0\0") },
	{ "source 0.1.2.3", VOLLEY_PASS_SOURCE, ETH + 12, O("\0\1\2\3") },
	{ "source 127.0.0.1", VOLLEY_PASS_SOURCE, ETH + 12, O("\x7f\0\0\1") },
	{ "source 224.0.0.1", VOLLEY_PASS_SOURCE, ETH + 12, O("\xe0\0\0\1") },
	{ "source 240.0.0.1", VOLLEY_PASS_SOURCE, ETH + 12, O("\xf0\0\0\1") },
	{ "source 255.255.255.255", VOLLEY_PASS_SOURCE, ETH + 12, O("\xff\xff\xff\xff") },
	{ "source port 0", VOLLEY_PASS_SOURCE, IPV4_UDP, O("\0\0") },
	{ "from the echo port", VOLLEY_PASS_SOURCE, IPV4_UDP, O("\0\x07") },
	{ "from the daytime port", VOLLEY_PASS_SOURCE, IPV4_UDP, O("\0\x0d") },
	{ "from the quote of the day port", VOLLEY_PASS_SOURCE, IPV4_UDP, O("\0\x11") },
	{ "from the chargen port", VOLLEY_PASS_SOURCE, IPV4_UDP, O("\0\x13") },
	{ "from the time port", VOLLEY_PASS_SOURCE, IPV4_UDP, O("\0\x25") },
	{ "source is the address asked", VOLLEY_PASS_SOURCE, ETH + 12, O("\xc0\0\2\x35") },
	{ "another address", VOLLEY_PASS_SERVICE, ETH + 16, O("\xc0\0\2\x36") },
	{ "the address backwards", VOLLEY_PASS_SERVICE, ETH + 16, O("\x35\2\0\xc0") },
	{ "to 255.255.255.255", VOLLEY_PASS_SERVICE, ETH + 16, O("\xff\xff\xff\xff") },
	{ "to a multicast address", VOLLEY_PASS_SERVICE, ETH + 16, O("\xe0\0\0\xfb") },
	{ "port 54", VOLLEY_PASS_SERVICE, IPV4_UDP + 2, O("\0\x36") },
	{ "mDNS", VOLLEY_PASS_SERVICE, IPV4_UDP + 2, O("\x14\xe9") },
	{ "to the broadcast MAC", VOLLEY_PASS_GROUP, 0, O("\xff\xff\xff\xff\xff\xff") },
	{ "to a multicast MAC", VOLLEY_PASS_GROUP, 0, O("\x01\0\x5e\0\0\xfb") },
	{ "from a multicast MAC", VOLLEY_PASS_GROUP, 6, O("\x01\0\x5e\0\0\xfb") },
	{ "from the broadcast MAC", VOLLEY_PASS_GROUP, 6, O("\xff\xff\xff\xff\xff\xff") },
	{ "a response", VOLLEY_PASS_RESPONSE, IPV4_UDP + 10, O("\x80") },
	{ "a response, opcode and all", VOLLEY_PASS_RESPONSE, IPV4_UDP + 10, O("\xff\xff") },
};

const struct pass_row pass_rows6[] = {
	{ "hop-by-hop options", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\0") },
	{ "TCP", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\6") },
	{ "routing header", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x2b") },
	{ "fragment", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x2c") },
	{ "ESP", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x32") },
	{ "authentication header", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x33") },
	{ "ICMPv6", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x3a") },
	{ "no next header", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x3b") },
	{ "destination options", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x3c") },
	{ "IPv4 version", VOLLEY_PASS_IP_LENGTH, ETH, O("\x45") },
	{ "IPv6 as IPv4", VOLLEY_PASS_IP_LENGTH, 12, O("\x08\0") },
	{ "payload length 0", VOLLEY_PASS_UDP_LENGTH, ETH + 4, O("\0\0") },
	{ "payload length one octet short", VOLLEY_PASS_UDP_LENGTH, ETH + 4, O("\0\x24") },
	{ "payload length beyond the frame", VOLLEY_PASS_IP_LENGTH, ETH + 4, O("\0\x26") },
	{ "payload length 65535", VOLLEY_PASS_IP_LENGTH, ETH + 4, O("\xff\xff") },
	{ "UDP length one octet short", VOLLEY_PASS_UDP_LENGTH, IPV6_UDP + 4, O("\0\x24") },
	{ "UDP length one octet long", VOLLEY_PASS_UDP_LENGTH, IPV6_UDP + 4, O("\0\x26") },
	{ "no UDP checksum", VOLLEY_PASS_CHECKSUM, IPV6_UDP + 6, O("\0\0") },
	{ "source ::", VOLLEY_PASS_SOURCE, ETH + 8, O("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0") },
	{ "source ::1", VOLLEY_PASS_SOURCE, ETH + 8, O("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1") },
	{ "source ::192.0.2.1", VOLLEY_PASS_SOURCE, ETH + 8,
	  O("\0\0\0\0\0\0\0\0\0\0\0\0\xc0\0\2\1") },
	{ "source ::ffff:192.0.2.1", VOLLEY_PASS_SOURCE, ETH + 8,
	  O("\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\2\1") },
	{ "source ff02::1", VOLLEY_PASS_SOURCE, ETH + 8, O("\xff\2") },
	{ "source port 0", VOLLEY_PASS_SOURCE, IPV6_UDP, O("\0\0") },
	{ "from the echo port", VOLLEY_PASS_SOURCE, IPV6_UDP, O("\0\x07") },
	{ "from the daytime port", VOLLEY_PASS_SOURCE, IPV6_UDP, O("\0\x0d") },
	{ "from the quote of the day port", VOLLEY_PASS_SOURCE, IPV6_UDP, O("\0\x11") },
	{ "from the chargen port", VOLLEY_PASS_SOURCE, IPV6_UDP, O("\0\x13") },
	{ "from the time port", VOLLEY_PASS_SOURCE, IPV6_UDP, O("\0\x25") },
	{ "source is the address asked", VOLLEY_PASS_SOURCE, ETH + 8,
	  O("\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x53") },
	{ "another address, first octet", VOLLEY_PASS_SERVICE, ETH + 24, O("\x21") },
	{ "another address, last octet", VOLLEY_PASS_SERVICE, ETH + 39, O("\x54") },
	{ "two words of the address exchanged", VOLLEY_PASS_SERVICE, ETH + 24,
	  O("\0\0\0\0\x20\1\x0d\xb8") },
	{ "port 54", VOLLEY_PASS_SERVICE, IPV6_UDP + 2, O("\0\x36") },
	{ "multicast MAC", VOLLEY_PASS_GROUP, 0, O("\x33\x33\0\0\0\1") },
	{ "from a multicast MAC", VOLLEY_PASS_GROUP, 6, O("\x33\x33\0\0\0\1") },
	{ "a response", VOLLEY_PASS_RESPONSE, IPV6_UDP + 10, O("\x80") },
};

const size_t pass_n_rows4 = sizeof(pass_rows4) / sizeof(pass_rows4[0]);
const size_t pass_n_rows6 = sizeof(pass_rows6) / sizeof(pass_rows6[0]);

size_t pass_query(uint8_t *frame, const struct pkt *p)
{
	struct pkt_ask ask = { .name = (const uint8_t *)PASS_NAME };
	uint8_t dns[PKT_NAME_MAX];

	return pkt_build(frame, p, dns, pkt_ask(dns, &ask));
}

size_t pass_frame(uint8_t *frame, const struct pass_row *row, bool ipv6)
{
	size_t n = pass_query(frame, ipv6 ? &pkt_ipv6 : &pkt_ipv4);

	memcpy(frame + row->at, row->octets, row->n);
	return n;
}
