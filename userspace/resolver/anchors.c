/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/anchors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/wire.h"
#include "dns/proto.h"
#include "zone/rdtext.h"
#include "zone/text.h"

#define DNSKEY_ZONE     0x0100 /* RFC 4034 section 2.1.1 */
#define DNSKEY_REVOKE   0x0080 /* RFC 5011 section 7 */
#define DNSKEY_PROTOCOL 3

#define FIELDS_BEFORE_TYPE 3 /* owner, TTL, class; the latter two in either order */

/* What the file has. */
struct found {
	uint32_t n_records;
	uint32_t n_anchors; /* DS and DNSKEY */
	uint32_t n_usable;
	const uint8_t *name; /* NULL: the anchors are only counted */
	struct anchors_at *at;
	uint8_t owner[NAME_FOLDED_BYTES]; /* of the current record, if .name is set */
};

static bool is_algorithm(uint8_t algorithm)
{
	switch (algorithm) {
	case 5:  /* RSASHA1 */
	case 7:  /* RSASHA1-NSEC3-SHA1 */
	case 8:  /* RSASHA256 */
	case 10: /* RSASHA512 */
	case 13: /* ECDSAP256SHA256 */
	case 14: /* ECDSAP384SHA384 */
	case 15: /* ED25519 */
	case 16: /* ED448 */
		return true;
	default:
		return false;
	}
}

/* Octets of a digest; 0: the type is not known. */
static unsigned int digest_bytes(uint8_t type)
{
	switch (type) {
	case 1: /* SHA-1 */
		return 20;
	case 2: /* SHA-256 */
		return 32;
	case 4: /* SHA-384 */
		return 48;
	default:
		return 0;
	}
}

static bool is_usable(uint16_t type, const uint8_t *rdata, unsigned int n)
{
	uint16_t flags;

	if (n <= 4)
		return false;
	if (type == DNS_TYPE_DS)
		return is_algorithm(rdata[2]) && n - 4 == digest_bytes(rdata[3]);
	flags = wire_load_be16(rdata);
	return flags & DNSKEY_ZONE && !(flags & DNSKEY_REVOKE) && rdata[2] == DNSKEY_PROTOCOL &&
	       is_algorithm(rdata[3]);
}

/* The type of a record; *cursor is set to its data. 0: there is no type. */
static uint16_t find_type(const struct text_reader *r, const char **cursor)
{
	struct text_token token;
	int type;

	if (!r->blank_start && !text_next(cursor, &token))
		return 0;
	for (int i = 1; i <= FIELDS_BEFORE_TYPE && text_next(cursor, &token); i++) {
		type = rdtext_type(token.at, token.n);
		if (type > 0)
			return (uint16_t)type;
	}
	return 0;
}

/* RFC 4034 appendix B. */
static unsigned int key_tag(const uint8_t *rdata, unsigned int n)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += i & 1 ? rdata[i] : (uint32_t)rdata[i] << 8;
	return (sum + (sum >> 16)) & 0xffff;
}

static void put_anchors_text(char text[ANCHORS_TEXT_CAP], uint16_t type, const uint8_t *rdata,
			     unsigned int n)
{
	if (type == DNS_TYPE_DS)
		snprintf(text, ANCHORS_TEXT_CAP, "DS %u %u %u", wire_load_be16(rdata), rdata[2],
			 rdata[3]);
	else
		snprintf(text, ANCHORS_TEXT_CAP, "DNSKEY %u %u", key_tag(rdata, n), rdata[3]);
}

/* Keeps an anchor: anchors of a deeper owner replace the others. */
static void keep_anchors(const struct found *found, uint16_t type, const uint8_t *rdata,
			 unsigned int n)
{
	struct anchors_at *at = found->at;
	size_t bytes = name_bytes(found->owner);

	if (!name_is_under(found->name, found->owner) || (at->n && bytes < name_bytes(at->owner)))
		return;
	if (at->n && bytes > name_bytes(at->owner))
		at->n = 0;
	memcpy(at->owner, found->owner, sizeof(at->owner));
	if (at->n++ < ANCHORS_SHOWN)
		put_anchors_text(at->texts[at->n - 1], type, rdata, n);
}

/* Names without a dot at the end are relative to the root. */
static void read_anchors_owner(struct found *found, const struct text_reader *r)
{
	uint8_t name[DNS_NAME_MAX];
	const char *cursor = r->text;
	struct text_token token;
	int n;

	if (r->blank_start || !text_next(&cursor, &token))
		return;
	n = name_from_text(name, sizeof(name), token.at, token.n);
	if (n > 0)
		name_fold(found->owner, name, (size_t)n);
}

static void look_anchors(struct found *found, struct rdtext *rd, const struct text_reader *r)
{
	const char *cursor = r->text;
	uint16_t type;

	if (*r->text == '$')
		return;
	found->n_records++;
	if (found->name)
		read_anchors_owner(found, r);
	type = find_type(r, &cursor);
	if (type != DNS_TYPE_DS && type != DNS_TYPE_DNSKEY)
		return;
	found->n_anchors++;
	if (rdtext_parse(rd, type, cursor) || !is_usable(type, rd->rdata, rd->len))
		return;
	found->n_usable++;
	if (found->name)
		keep_anchors(found, type, rd->rdata, rd->len);
}

static int put_anchors_why(const struct found *found, char *why, size_t cap)
{
	if (found->n_usable)
		return 0;
	if (!found->n_records)
		snprintf(why, cap, "has no record");
	else if (!found->n_anchors)
		snprintf(why, cap, "has %u records, none of them DS or DNSKEY", found->n_records);
	else
		snprintf(why, cap,
			 "has %u DS or DNSKEY records, none of them usable: malformed, revoked, no "
			 "key "
			 "of a zone, or of an algorithm or digest type that is not known",
			 found->n_anchors);
	return ERR_CONFIG;
}

static int read_all_anchors(struct found *found, struct text_reader *r, struct rdtext *rd,
			    char *why, size_t cap)
{
	const char *fault = NULL;
	int got;

	while ((got = text_read(r, &fault)) > 0)
		look_anchors(found, rd, r);
	if (got == ERR_ZONE)
		snprintf(why, cap, "line %u: %s", r->entry_line, fault);
	return got;
}

/* 0, ERR_ZONE with a clause in why, or another error. */
static int read_anchors_file(struct found *found, const char *path, char *why, size_t cap)
{
	struct rdtext *rd = malloc(sizeof(*rd));
	struct text_reader r;
	FILE *in = NULL;
	int err = rd ? regular_fopen(&in, path, NULL) : -ENOMEM;

	if (err) {
		free(rd);
		return err;
	}
	rdtext_init(rd);
	text_reader_init(&r, in);
	err = read_all_anchors(found, &r, rd, why, cap);
	text_reader_fini(&r);
	rdtext_fini(rd);
	fclose(in);
	free(rd);
	return err;
}

int anchors_check(const char *path, char *why, size_t cap)
{
	struct found found = { 0 };
	int err = read_anchors_file(&found, path, why, cap);

	if (err == ERR_ZONE)
		return ERR_CONFIG;
	return err ? err : put_anchors_why(&found, why, cap);
}

int anchors_find(const char *path, const uint8_t *folded, struct anchors_at *out)
{
	struct found found = { .name = folded, .at = out };
	char why[256];

	out->n = 0;
	return read_anchors_file(&found, path, why, sizeof(why));
}
