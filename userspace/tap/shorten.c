/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/event.h"

#include <string.h>
#include <sys/socket.h>

#include "base/wire.h"
#include "dns/proto.h"

#define ECS_FIXED_BYTES 4 /* family, source and scope prefix length: RFC 7871 section 6 */
#define ECS_IPV4        1
#define ECS_IPV6        2

static void clear_behind(uint8_t *octets, size_t n, unsigned int bits)
{
	size_t whole = bits / 8;

	if (whole >= n)
		return;
	octets[whole] &= (uint8_t)(0xff00 >> bits % 8);
	memset(octets + whole + 1, 0, n - whole - 1);
}

void tap_shorten(uint8_t *address, uint8_t family, const struct tap_prefix *prefix)
{
	if (family == AF_INET)
		clear_behind(address, 4, prefix->bits4);
	else
		clear_behind(address, 16, prefix->bits6);
}

static void shorten_option(uint8_t *value, size_t n, const struct tap_prefix *prefix)
{
	unsigned int bits;

	if (n < ECS_FIXED_BYTES)
		return;
	bits = wire_load_be16(value) == ECS_IPV4 ? prefix->bits4 :
	       wire_load_be16(value) == ECS_IPV6 ? prefix->bits6 :
						   0;
	if (value[2] > bits)
		value[2] = (uint8_t)bits;
	clear_behind(value + ECS_FIXED_BYTES, n - ECS_FIXED_BYTES, bits);
}

void tap_shorten_subnet(uint8_t *msg, size_t n, const struct tap_prefix *prefix)
{
	struct tap_options o;
	uint16_t code;
	size_t bytes;
	size_t at;

	if (!tap_options_find(&o, msg, n))
		return;
	while (tap_options_next(&o, &code, &at, &bytes))
		if (code == DNS_OPTION_ECS)
			shorten_option(msg + at, bytes, prefix);
}
