/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads service parameters (RFC 9460 section 2.1 and appendix A): in any order as text, by rising
 * keys on the wire. Values are character strings. A list is split at commas after its escapes are
 * resolved, so a comma in an item has a second escape.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/wire.h"
#include "zone/rdreading.h"
#include "zone/rdtext.h"

#define HEAD_BYTES 4 /* key and length before each value */

static const struct {
	const char *name;
	uint16_t key;
} keys[] = {
	{ "mandatory", 0 }, { "alpn", 1 },     { "no-default-alpn", 2 },
	{ "port", 3 },      { "ipv4hint", 4 }, { "ech", 5 },
	{ "ipv6hint", 6 },  { "dohpath", 7 },  { "ohttp", 8 },
};

/* A list, an item or a key: octets with escapes resolved. */
struct text {
	const char *at;
	size_t n;
};

/* Reads keyNNNNN, up to 65534 and without leading zeros; -1: another text. */
static int generic_key(const char *text, size_t n)
{
	int v = 0;

	if (n < 4 || n > 8 || memcmp(text, "key", 3) || (text[3] == '0' && n > 4))
		return -1;
	for (size_t i = 3; i < n; i++) {
		if (!rdread_is_digit(text[i]))
			return -1;
		v = v * 10 + text[i] - '0';
	}
	return v < UINT16_MAX ? v : -1;
}

/* *@generic: it is keyNNNNN, whose value is octets. */
static int key_of_rdread_svcb(const char *text, size_t n, bool *generic)
{
	*generic = false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i].name) == n && !memcmp(keys[i].name, text, n))
			return keys[i].key;
	*generic = true;
	return generic_key(text, n);
}

/* --- Lists: @value of scratch, items between commas --- */

static bool next_item(struct text *list, struct text *item)
{
	const char *comma;

	if (!list->at)
		return false;
	comma = memchr(list->at, ',', list->n);
	*item = (struct text){ list->at, comma ? (size_t)(comma - list->at) : list->n };
	*list = comma ? (struct text){ comma + 1, list->n - item->n - 1 } : (struct text){ 0 };
	return true;
}

static bool read_mandatory(struct rdreading *f, struct text value, const char *at)
{
	uint8_t *begin = f->out, wire[2];
	struct text item;

	while (next_item(&value, &item)) {
		bool generic;
		int key = key_of_rdread_svcb(item.at, item.n, &generic);
		uint8_t *to = begin;

		if (key < 0)
			return rdread_refuse(f, at, "a mandatory key is unknown");
		wire_store_be16(wire, (uint16_t)key);
		while (to < f->out && wire_load_be16(to) <= key)
			to += 2;
		if (!rdread_put(f, wire, 2))
			return false;
		memmove(to + 2, to, (size_t)(f->out - to) - 2);
		memcpy(to, wire, 2);
	}
	return true;
}

/* Writes items with their lengths before them; "\," is a comma, "\\" a backslash. */
static bool read_alpn(struct rdreading *f, struct text value, const char *at)
{
	const char *end = value.at + value.n;

	for (const char *p = value.at; p <= end; p++) {
		uint8_t item[256];
		size_t n = 0;

		for (; p < end && *p != ','; p++) {
			if (*p == '\\' && ++p == end)
				return rdread_refuse(f, at, "a backslash ends this list");
			if (n == 255)
				return rdread_refuse(f, at, "a protocol is longer than 255 octets");
			item[1 + n++] = (uint8_t)*p;
		}
		if (!n)
			return rdread_refuse(f, at, "a protocol is empty");
		item[0] = (uint8_t)n;
		if (!rdread_put(f, item, 1 + n))
			return false;
	}
	return true;
}

static bool hints(struct rdreading *f, struct text value, int family, const char *at)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t address[16];
	struct text item;

	while (next_item(&value, &item)) {
		if (item.n < sizeof(text)) {
			memcpy(text, item.at, item.n);
			text[item.n] = '\0';
		}
		if (item.n >= sizeof(text) || memchr(item.at, '\0', item.n) ||
		    inet_pton(family, text, address) != 1)
			return rdread_refuse(f, at, "a hint is not an address of its kind");
		if (!rdread_put(f, address, family == AF_INET ? 4 : 16))
			return false;
	}
	return true;
}

static bool read_svcb_port(struct rdreading *f, struct text value, const char *at)
{
	uint32_t v = 0;
	uint8_t wire[2];

	for (size_t i = 0; i < value.n; i++) {
		if (!rdread_is_digit(value.at[i]) || i == 5)
			return rdread_refuse(f, at, "port is not a number from 0 to 65535");
		v = v * 10 + (unsigned)(value.at[i] - '0');
	}
	if (!value.n || v > UINT16_MAX)
		return rdread_refuse(f, at, "port is not a number from 0 to 65535");
	wire_store_be16(wire, (uint16_t)v);
	return rdread_put(f, wire, 2);
}

static bool value_of(struct rdreading *f, int key, bool generic, struct text value, const char *at)
{
	if (generic)
		return rdread_put(f, value.at, value.n);
	switch (key) {
	case 0:
		return read_mandatory(f, value, at);
	case 1:
		return read_alpn(f, value, at);
	case 3:
		return read_svcb_port(f, value, at);
	case 4:
		return hints(f, value, AF_INET, at);
	case 5:
		return rdread_base64_text(f, value.at, value.n) ||
		       rdread_refuse(f, at, "ech is not base64");
	case 6:
		return hints(f, value, AF_INET6, at);
	default:
		return rdread_put(f, value.at, value.n);
	}
}

/* --- Parameters --- */

/* Reads the value after "=", if there is one, as octets into scratch. */
static bool read_rdread_svcb_value(struct rdreading *f, struct text *value)
{
	struct text_token token;
	long n;

	*value = (struct text){ (const char *)f->t->scratch, 0 };
	if (*f->at != '=')
		return true;
	f->at++;
	if (rdread_is_end(*f->at))
		return true;
	if (!rdread_token(f, &token))
		return false;
	if (!rdread_is_end(*f->at))
		return rdread_refuse(f, f->at, "there is no blank behind the value of a key");
	n = rdread_octets(f, &token, f->t->scratch, sizeof(f->t->scratch));
	value->n = n < 0 ? 0 : (size_t)n;
	return n >= 0;
}

/* Moves the last parameter, at @last, to its place among the parameters from @first on. */
static bool sort_last(struct rdreading *f, uint8_t *first, uint8_t *last, const char *at)
{
	unsigned key = wire_load_be16(last);
	size_t n = (size_t)(f->out - last);
	uint8_t *to = first;

	while (to < last && wire_load_be16(to) < key)
		to += HEAD_BYTES + wire_load_be16(to + 2);
	if (to == last)
		return true;
	if (wire_load_be16(to) == key)
		return rdread_refuse(f, at, "a key stands twice");
	memcpy(f->t->scratch, last, n);
	memmove(to + n, to, (size_t)(last - to));
	memcpy(to, f->t->scratch, n);
	return true;
}

static bool read_param(struct rdreading *f, uint8_t *first)
{
	const char *at = f->at;
	uint8_t *head = f->out;
	struct text value;
	size_t n = 0;
	bool generic;
	int key;

	while (!rdread_is_end(at[n]) && at[n] != '=')
		n++;
	key = key_of_rdread_svcb(at, n, &generic);
	if (key < 0)
		return rdread_refuse(f, at, "'%.*s' is not a key", n < 64 ? (int)n : 64, at);
	f->at += n;
	if (!read_rdread_svcb_value(f, &value))
		return false;
	if (f->end - f->out < HEAD_BYTES)
		return rdread_full(f);
	f->out += HEAD_BYTES;
	if (!value_of(f, key, generic, value, at))
		return false;
	wire_store_be16(head, (uint16_t)key);
	wire_store_be16(head + 2, (uint16_t)(f->out - head - HEAD_BYTES));
	return sort_last(f, first, head, at);
}

bool rdread_svcparams(struct rdreading *f)
{
	uint8_t *first = f->out;

	while (!rdread_at_end(f))
		if (!read_param(f, first))
			return false;
	return true;
}
