/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers of configuration values; each accepts the whole text or refuses it. */
#include "config/value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "config/config.h"
#include "dns/name.h"
#include "port/addr.h"

#define MAPPED_BITS   96u /* of the prefix before an IPv4 address */
#define BASE64_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit no_units[] = { { "", 1 }, { 0 } };
static const struct unit size_units[] = {
	{ "", 1 },           { "K", 1ull << 10 }, { "M", 1ull << 20 },
	{ "G", 1ull << 30 }, { "T", 1ull << 40 }, { 0 },
};
static const struct unit time_units[] = {
	{ "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 }, { 0 },
};
static const struct unit ms_units[] = {
	{ "", 1000 },     { "ms", 1 },       { "s", 1000 }, { "m", 60000 },
	{ "h", 3600000 }, { "d", 86400000 }, { 0 },
};

/* Reads digits of BASE, at least one; *end is the text after them. */
static int read_digits(const char *text, unsigned int base, uint64_t *out, const char **end)
{
	uint64_t value = 0;
	const char *at = text;

	for (; isdigit((unsigned char)*at) && (unsigned int)(*at - '0') < base; at++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return -ERANGE;
	if (at == text)
		return -EINVAL;
	*out = value;
	*end = at;
	return 0;
}

/* Reads a number, followed by at most one unit. */
static int read_units(const char *text, const struct unit *units, uint64_t *out)
{
	const char *rest;
	uint64_t value;
	int err = read_digits(text, 10, &value, &rest);

	if (err)
		return err;
	while (units->name && strcmp(units->name, rest) != 0)
		units++;
	if (!units->name)
		return -EINVAL;
	if (__builtin_mul_overflow(value, units->factor, &value))
		return -ERANGE;
	*out = value;
	return 0;
}

static int read_bool(const char *text, uint64_t *out)
{
	bool is_true = !strcmp(text, "true");

	if (!is_true && strcmp(text, "false"))
		return -EINVAL;
	*out = is_true;
	return 0;
}

static int read_choice(const char *choices, uint64_t place, const char *text, uint64_t *out)
{
	for (;; place++) {
		size_t len = strcspn(choices, "|");

		if (strlen(text) == len && !strncmp(text, choices, len)) {
			*out = place;
			return 0;
		}
		if (!choices[len])
			return -EINVAL;
		choices += len + 1;
	}
}

/* Requires a leading 0 for octal: a mode without it is mostly a mistake. */
static int read_mode(const char *text, uint64_t *out)
{
	const char *rest;
	int err;

	if (*text != '0')
		return -EINVAL;
	err = read_digits(text, 8, out, &rest);
	return err ? err : *rest ? -EINVAL : 0;
}

/* Reads "24/48": IPv4, then IPv6. */
static int read_bits(const char *text, uint64_t *out)
{
	uint64_t bits4, bits6;
	const char *rest;
	int err = read_digits(text, 10, &bits4, &rest);

	if (!err && *rest != '/')
		return -EINVAL;
	if (!err)
		err = read_digits(rest + 1, 10, &bits6, &rest);
	if (err || *rest)
		return err ? err : -EINVAL;
	if (bits4 > 32 || bits6 > 128)
		return -ERANGE;
	*out = bits4 << 8 | bits6;
	return 0;
}

static int read_value_plain(const struct words_key *key, const char *text, uint64_t *out)
{
	switch (key->type) {
	case WORDS_COUNT:
	case WORDS_PORT:
	case WORDS_AUTO_COUNT:
	case WORDS_POWER:
	case WORDS_BUDGET:
	case WORDS_CORES:
		return read_units(text, no_units, out);
	case WORDS_SIZE:
		return read_units(text, size_units, out);
	case WORDS_SECONDS:
		return read_units(text, time_units, out);
	case WORDS_MS:
		return read_units(text, ms_units, out);
	case WORDS_MODE:
		return read_mode(text, out);
	default:
		return -EINVAL;
	}
}

int value_read_number(const struct words_key *key, const char *text, uint64_t *out)
{
	uint64_t value;
	int err;

	if (key->type == WORDS_BOOL)
		return read_bool(text, out);
	if (key->type == WORDS_BITS)
		return read_bits(text, out);
	if (key->type == WORDS_CHOICE || key->type == WORDS_CHOICES)
		return read_choice(key->choices, key->min, text, out);
	if (key->type == WORDS_AUTO_COUNT && !strcmp(text, "auto")) {
		*out = 0;
		return 0;
	}
	if (key->type == WORDS_BUDGET && !read_bool(text, &value)) {
		*out = value ? WORDS_BUDGET_TRUE : 0;
		return 0;
	}
	err = read_value_plain(key, text, &value);
	if (err)
		return err;
	if (value < key->min || value > key->max)
		return -ERANGE;
	if (key->type == WORDS_POWER && (value & (value - 1)))
		return -ERANGE;
	*out = value;
	return 0;
}

/* An interface that this host does not have is no mistake of the text. */
static int read_host(const char *text, struct config_addr *out)
{
	struct port_addr host;
	struct in6_addr v6;
	struct in_addr v4;
	int err = port_addr_from_text(&host, text, 0);

	if (err && err != -ENODEV)
		return err;
	memcpy(&v4, host.bytes, sizeof(v4));
	memcpy(&v6, host.bytes, sizeof(v6));
	if (host.family == AF_INET ?
		    IN_MULTICAST(ntohl(v4.s_addr)) || v4.s_addr == htonl(INADDR_BROADCAST) :
		    IN6_IS_ADDR_MULTICAST(&v6) || IN6_IS_ADDR_V4MAPPED(&v6))
		return -ERANGE;
	out->family = host.family;
	out->scope_id = host.scope_id;
	memcpy(out->addr, host.bytes, sizeof(out->addr));
	return 0;
}

int value_read_addr(const char *text, uint16_t port, struct config_addr *out)
{
	static const struct words_key port_key = { .type = WORDS_COUNT,
						   .min = 1,
						   .max = UINT16_MAX };
	struct config_addr addr = { 0 };
	char host[PORT_ADDR_TEXT_CAP];
	const char *at = strchr(text, '@');
	size_t len = at ? (size_t)(at - text) : strlen(text);
	uint64_t value = port;
	int err;

	if (len >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	err = read_host(host, &addr);
	if (!err && at)
		err = value_read_number(&port_key, at + 1, &value);
	if (err)
		return err;
	addr.net_port = htons((uint16_t)value);
	*out = addr;
	return 0;
}

int value_read_upstream(const char *text, struct config_addr *out)
{
	char address[PORT_ADDR_TEXT_CAP];
	const char *name = strchr(text, '#');
	size_t len = name ? (size_t)(name - text) : strlen(text);
	struct config_addr addr;
	char *domain;
	int err;

	if (len >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, len);
	address[len] = '\0';
	err = value_read_addr(address, 53, &addr);
	if (!err && name) {
		err = value_read_domain(name + 1, &domain);
		if (!err)
			free(domain);
	}
	if (!err)
		*out = addr;
	return err;
}

/* True if the bits of an address from `bits` on are 0. */
static bool is_zero_behind(const uint8_t *addr, unsigned int n_bytes, unsigned int bits)
{
	for (unsigned int i = bits; i < 8 * n_bytes; i++)
		if (addr[i / 8] & 0x80 >> i % 8)
			return false;
	return true;
}

static bool is_value_mapped(const uint8_t addr[16])
{
	struct in6_addr v6;

	memcpy(&v6, addr, sizeof(v6));
	return IN6_IS_ADDR_V4MAPPED(&v6);
}

static bool is_printable(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return !*text;
}

bool value_ipv4_of(const char *text, char *out)
{
	size_t len = strcspn(text, "/@# ");
	const char *rest = text + len;
	char address[INET6_ADDRSTRLEN];
	char ipv4[INET_ADDRSTRLEN];
	unsigned long bits;
	uint8_t bytes[16];
	char *end;

	if (len >= sizeof(address) || !is_printable(rest))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(AF_INET6, address, bytes) != 1 || !is_value_mapped(bytes))
		return false;
	(void)inet_ntop(AF_INET, bytes + 12, ipv4, sizeof(ipv4)); /* there is room for it */
	if (*rest != '/') {
		snprintf(out, VALUE_IPV4_CAP, "%s%s", ipv4, rest);
		return true;
	}
	bits = strtoul(rest + 1, &end, 10);
	if (bits >= MAPPED_BITS)
		snprintf(out, VALUE_IPV4_CAP, "%s/%lu%s", ipv4, bits - MAPPED_BITS, end);
	return bits >= MAPPED_BITS;
}

int value_read_any_prefix(const char *text, struct config_prefix *out)
{
	struct words_key length = { .type = WORDS_COUNT };
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	struct config_prefix prefix = { .family = AF_INET };
	char address[INET6_ADDRSTRLEN];
	uint64_t bits;
	int err;

	if (len >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(AF_INET, address, prefix.addr) != 1) {
		prefix.family = AF_INET6;
		if (inet_pton(AF_INET6, address, prefix.addr) != 1)
			return -EINVAL;
	}
	bits = length.max = prefix.family == AF_INET ? 32 : 128;
	err = slash ? value_read_number(&length, slash + 1, &bits) : 0;
	if (err)
		return err;
	if (!is_zero_behind(prefix.addr, (unsigned int)length.max / 8, (unsigned int)bits))
		return -ERANGE;
	prefix.bits = (uint8_t)bits;
	*out = prefix;
	return 0;
}

int value_read_prefix(const char *text, struct config_prefix *out)
{
	struct config_prefix prefix;
	int err = value_read_any_prefix(text, &prefix);

	if (err)
		return err;
	if (prefix.family == AF_INET6 && is_value_mapped(prefix.addr))
		return -ERANGE;
	*out = prefix;
	return 0;
}

int value_read_domain(const char *text, char **out)
{
	uint8_t wire[DNS_NAME_MAX], folded[NAME_FOLDED_BYTES];
	char canonical[NAME_TEXT_MAX];
	int len;

	/* White space in a name is legal in DNS, but here it is a mistake. */
	if (!*text || text[strcspn(text, " \t\r\n")])
		return -EINVAL;
	len = name_from_text(wire, sizeof(wire), text, strlen(text));
	if (len < 0)
		return -EINVAL;
	name_fold(folded, wire, (size_t)len);
	if (name_to_text(canonical, sizeof(canonical), folded) < 0)
		return -EINVAL;
	*out = strdup(canonical);
	return *out ? 0 : -ENOMEM;
}

static int check_hex(const char *text)
{
	if (strlen(text) % 2)
		return -EINVAL;
	for (; *text; text++)
		if (hex_digit(*text) < 0)
			return -EINVAL;
	return 0;
}

int value_read_octets(const char *text, size_t min, size_t max, uint8_t *bytes, size_t *n)
{
	bool is_hex = !strncmp(text, "0x", 2);

	if (is_hex && check_hex(text + 2))
		return -EINVAL;
	*n = is_hex ? strlen(text + 2) / 2 : strlen(text);
	if (*n < min || *n > max)
		return -ERANGE;
	if (bytes && is_hex)
		return hex_read(text + 2, bytes, *n);
	if (bytes)
		memcpy(bytes, text, *n);
	return 0;
}

/* Unused bits of the last digit must be 0, as encoders write them. */
int value_read_base64(const char *text, size_t min, size_t max, uint8_t *bytes, size_t *n)
{
	size_t len = strlen(text), n_digits = strspn(text, BASE64_DIGITS);
	unsigned int bits = 0, n_bits = 0;

	*n = n_digits * 6 / 8;
	if (len % 4 || n_digits % 4 == 1 || len - n_digits > 2 ||
	    n_digits + strspn(text + n_digits, "=") != len)
		return -EINVAL;
	if (*n < min || *n > max)
		return -ERANGE;
	for (size_t i = 0; i < n_digits; i++) {
		bits = bits << 6 | (unsigned int)(strchr(BASE64_DIGITS, text[i]) - BASE64_DIGITS);
		n_bits += 6;
		if (n_bits < 8)
			continue;
		n_bits -= 8;
		*bytes++ = (uint8_t)(bits >> n_bits);
		bits &= (1u << n_bits) - 1;
	}
	return bits ? -EINVAL : 0;
}

int value_check_name(const char *text, size_t min, size_t max)
{
	size_t len = strlen(text);

	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr(".-_", *at))
			return -EINVAL;
	return len < min || len > max ? -ERANGE : 0;
}

int value_check_interface(const char *text)
{
	size_t len = strlen(text);

	if (!len || len >= IF_NAMESIZE || !strcmp(text, ".") || !strcmp(text, ".."))
		return -EINVAL;
	for (; *text; text++)
		if (*text == '/' || *text == ':' || isspace((unsigned char)*text))
			return -EINVAL;
	return 0;
}
