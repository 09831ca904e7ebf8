/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds configuration keys in their tables, and writes the values that each accepts. */
#include "config/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct words_table *const tables[] = { &words_host_keys,      &words_zone_keys,
						    &words_recursion_keys, &words_limit_keys,
						    &words_block_keys,     &words_tap_keys };
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

const struct words_key *words_key_at(unsigned int number)
{
	for (size_t i = 0; i < N_TABLES; i++) {
		if (number < tables[i]->n)
			return &tables[i]->keys[number];
		number -= tables[i]->n;
	}
	return NULL;
}

unsigned int words_key_number(const struct words_key *key)
{
	unsigned int before = 0;

	for (size_t i = 0; i < N_TABLES; i++) {
		if (key >= tables[i]->keys && key < tables[i]->keys + tables[i]->n)
			return before + (unsigned int)(key - tables[i]->keys);
		before += tables[i]->n;
	}
	return before;
}

static const struct words_key *find_exact(const char *path)
{
	const struct words_key *key = NULL;

	for (unsigned int i = 0; (key = words_key_at(i)) && strcmp(key->path, path) != 0; i++)
		;
	return key;
}

const struct words_key *words_find_key(const char *path)
{
	static const char template[] = "templates[].";
	const size_t len = sizeof(template) - 1;
	const struct words_key *key = find_exact(path);
	char zone[64];

	if (key || strncmp(path, template, len) || !strcmp(path + len, "template") ||
	    strlen(path + len) + sizeof("zones[].") > sizeof(zone))
		return key;
	snprintf(zone, sizeof(zone), "zones[].%s", path + len);
	return find_exact(zone);
}

/* Writes "a, b or c" for "a|b|c". */
static void put_choices(const char *choices, char *buf, size_t cap)
{
	size_t used = 0;

	buf[0] = '\0';
	while (*choices && used < cap) {
		size_t len = strcspn(choices, "|");
		const char *rest = choices + len;
		const char *glue = "";

		if (*rest)
			glue = strchr(rest + 1, '|') ? ", " : " or ";
		used += (size_t)snprintf(buf + used, cap - used, "%.*s%s", (int)len, choices, glue);
		choices = *rest ? rest + 1 : rest;
	}
}

/* Types with a number: the bounds are written in the configuration's units. */
static const char *number_format(enum words_type type)
{
	switch (type) {
	case WORDS_COUNT:
	case WORDS_PORT:
		return "a whole number from %s to %s";
	case WORDS_AUTO_COUNT:
		return "auto or a whole number from %s to %s";
	case WORDS_POWER:
		return "a power of two from %s to %s";
	case WORDS_BUDGET:
		return "true, false or a number of packets from %s to %s";
	case WORDS_SIZE:
		return "a size from %s to %s: bytes, or a number with K, M, G or T behind it";
	case WORDS_SECONDS:
		return "a time from %s to %s: seconds, or a number with s, m, h or d behind it";
	case WORDS_MS:
		return "a time from %s to %s: seconds, or a number with ms, s, m, h or d behind it";
	case WORDS_TEXT:
		return "a text of %s to %s bytes";
	case WORDS_OCTETS:
		return "a text of %s to %s bytes, or 0x and the hexadecimal digits of these bytes";
	case WORDS_CORES:
		return "a list of processor numbers from %s to %s, none of them twice";
	case WORDS_ADDRESSES:
		return "a list of IPv4 or IPv6 addresses, each with @ and a port behind it if not "
		       "%s";
	case WORDS_BASE64:
		return "%s to %s octets in base64, = at the end included";
	case WORDS_NAME:
		return "a name of %s to %s letters, digits, dots, hyphens and underscores";
	default:
		return NULL;
	}
}

static const char *address_phrase(enum words_type type)
{
	switch (type) {
	case WORDS_UPSTREAMS:
		return "a list of IPv4 or IPv6 addresses, each with @ and a port behind it if not "
		       "53; for TLS each with # and its name";
	case WORDS_UPSTREAM:
		return "an IPv4 or IPv6 address, with @ and a port behind it if not 53";
	case WORDS_UPSTREAM_NAMED:
		return "an IPv4 or IPv6 address, with @ and a port behind it if not 53; for TLS "
		       "with # and its name";
	case WORDS_HOSTS:
		return "a list of IPv4 or IPv6 addresses";
	case WORDS_LISTEN:
		return "an IPv4 or IPv6 address with @ and a port behind it, such as "
		       "127.0.0.1@9253";
	default:
		return "something else";
	}
}

static const char *list_phrase(enum words_type type)
{
	switch (type) {
	case WORDS_RULES:
		return "a list of rules, each any or a prefix, then key and its name, then tls, "
		       "or some of these: \"192.0.2.0/24 key a.example.\"";
	case WORDS_REMOTES:
		return "a list of names of remotes, each only once";
	case WORDS_RECORDS:
		return "a list of records as in a master file, such as \"host.lan. 300 IN A "
		       "192.0.2.1\"";
	case WORDS_DOMAINS:
		return "a list of domain names, such as [corp.example, 10.in-addr.arpa]";
	case WORDS_COMMAND:
		return "a list of a command and its arguments, such as [check-zone, --strict]";
	case WORDS_WORDS:
		return "a list of words, such as [--log-level, pmd:debug]";
	case WORDS_USERS:
		return "a list of users and groups of this host, such as [exabgp, group:dns]";
	case WORDS_PATHS:
		return "a list of paths of files";
	default:
		return address_phrase(type);
	}
}

/* Types without a number: one phrase for all keys of the type. */
static const char *fixed_phrase(enum words_type type)
{
	switch (type) {
	case WORDS_MAP:
		return "keys below it, each on a line of its own";
	case WORDS_MAPS:
		return "a list whose items have keys below them";
	case WORDS_PEERS:
		return "a list of IPv4 or IPv6 addresses, each with @ and a port behind it if not "
		       "the usual";
	case WORDS_PREFIXES:
		return "a list of prefixes with zeros behind them, such as 192.0.2.0/24 or "
		       "\"2001:db8::/32\"";
	case WORDS_BITS:
		return "two lengths of prefixes, of IPv4 up to 32 and of IPv6 up to 128, such as "
		       "24/48";
	case WORDS_PATTERNS:
		return "a path, which may have *, ? and [...] in it, or a list of such";
	case WORDS_BOOL:
		return "true or false";
	case WORDS_MODE:
		return "file permissions in octal from 0600 to 0777, such as 0660";
	case WORDS_SECRET:
		return "32 hexadecimal digits";
	case WORDS_PATH:
		return "the path of a file";
	case WORDS_SOCKET:
		return "a path of at most 107 bytes";
	case WORDS_DOMAIN:
		return "a domain name, such as example.com";
	case WORDS_INTERFACE:
		return "the name of a network interface, 1 to 15 bytes, such as eth0";
	default:
		return list_phrase(type);
	}
}

void words_accepts(const struct words_key *key, char *buf, size_t cap)
{
	const char *format = number_format(key->type);
	char min[24], max[24];

	if (key->type == WORDS_BASE64 && key->min == key->max) {
		snprintf(buf, cap, "%" PRIu64 " octets in base64, = at the end included", key->min);
		return;
	}
	if (key->type == WORDS_CHOICE) {
		put_choices(key->choices, buf, cap);
		return;
	}
	if (key->type == WORDS_CHOICES) {
		int used = snprintf(buf, cap, "a list, each only once, of ");

		put_choices(key->choices, buf + used, cap - (size_t)used);
		return;
	}
	if (!format) {
		snprintf(buf, cap, "%s", fixed_phrase(key->type));
		return;
	}
	if (key->type == WORDS_SIZE) {
		words_put_size(key->min, min, sizeof(min));
		words_put_size(key->max, max, sizeof(max));
	} else if (key->type == WORDS_SECONDS) {
		words_put_seconds(key->min, min, sizeof(min));
		words_put_seconds(key->max, max, sizeof(max));
	} else if (key->type == WORDS_MS) {
		words_put_ms(key->min, min, sizeof(min));
		words_put_ms(key->max, max, sizeof(max));
	} else {
		snprintf(min, sizeof(min), "%" PRIu64, key->min);
		snprintf(max, sizeof(max), "%" PRIu64, key->max);
	}
	snprintf(buf, cap, format, min, max);
}
