/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/zonemgr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "sign/sign.h"
#include "zone/rdtext.h"
#include "zone/text.h"

#define SOA_SERIAL_FROM_END 20u

struct lines {
	struct zone_edit *edit;
	struct rdtext text;
	struct zone_error *why;
	uint32_t number; /* number of the line, from 1 */
	bool any;        /* any line has changed something */
	bool is_signed;  /* the zone is signed here */
};

static int fault_edit_line(struct lines *l, int code, const char *sentence)
{
	l->why->line = l->number;
	snprintf(l->why->sentence, sizeof(l->why->sentence), "line %u: %s", l->number, sentence);
	return code;
}

/* True if the last dot is a separator and not an escaped part of a label. */
static bool ends_absolute(const struct text_token *token)
{
	size_t n = token->n, n_escapes = 0;

	if (!n || token->at[n - 1] != '.')
		return false;
	while (n_escapes + 1 < n && token->at[n - 2 - n_escapes] == '\\')
		n_escapes++;
	return n_escapes % 2 == 0;
}

/* Reads the owner; without a last dot it is relative to the zone. */
static int read_edit_line_owner(struct lines *l, const struct text_token *token, uint8_t out[256])
{
	char text[NAME_TEXT_MAX];
	unsigned int apex_len;
	const uint8_t *apex = zone_apex(zone_edit_view(l->edit), &apex_len);
	bool is_absolute = ends_absolute(token);
	int len;

	if (text_is(token, "@")) {
		memcpy(out, apex, apex_len);
		return 0;
	}
	if (token->n >= sizeof(text))
		return fault_edit_line(l, ERR_NAME_LONG, "the owner is too long");
	len = name_from_text(out, DNS_NAME_MAX, token->at, token->n);
	if (len <= 0)
		return fault_edit_line(l, len ? len : ERR_NAME, "the owner is no domain name");
	if (is_absolute)
		return 0;
	if ((unsigned int)len - 1 + apex_len > DNS_NAME_MAX)
		return fault_edit_line(l, ERR_NAME_LONG, "the owner is too long");
	memcpy(out + len - 1, apex, apex_len);
	return 0;
}

static const struct zone_rrset *rrset_at(struct lines *l, const uint8_t *owner, uint16_t type)
{
	const struct zone *z = zone_edit_view(l->edit);
	const struct zone_node *node = zone_node_of(z, owner);

	return node ? zone_node_rrset(z, node, type) : NULL;
}

static int read_edit_line_rdata(struct lines *l, uint16_t type, const char *rest)
{
	int err = rdtext_parse(&l->text, type, rest);

	return err ? fault_edit_line(l, err, l->text.why) : 0;
}

/* There is only one SOA record: the new one replaces it. */
static int put_edit_line_soa(struct zone_edit *edit, const uint8_t *owner, uint32_t ttl,
			     const uint8_t *rdata, uint16_t len)
{
	int err = zone_edit_remove_rrset(edit, owner, DNS_TYPE_SOA);

	return err ? err : zone_edit_add(edit, owner, DNS_TYPE_SOA, ttl, rdata, len);
}

/* Reads the name of a type. */
static int read_edit_line_type(struct lines *l, const struct text_token *token)
{
	int type = rdtext_type(token->at, token->n);

	if (type < 0)
		return fault_edit_line(l, type, err_text(type));
	if (l->is_signed && sign_is_own_type((uint16_t)type))
		return fault_edit_line(
			l, -EPERM,
			"the zone is signed here: signatures, proofs and keys follow from its "
			"content");
	return type;
}

static int add_edit_line(struct lines *l, const uint8_t *owner, const char *rest)
{
	const struct zone_rrset *rrset;
	struct text_token token;
	const char *cursor = rest;
	uint32_t ttl = 0;
	bool has_ttl;
	int type, err;

	has_ttl = text_next(&cursor, &token) && !text_to_ttl(&token, &ttl);
	if (has_ttl && !text_next(&cursor, &token))
		return fault_edit_line(l, ERR_TYPE, "there is no type");
	if (text_is(&token, "IN") && !text_next(&cursor, &token))
		return fault_edit_line(l, ERR_TYPE, "there is no type");
	type = read_edit_line_type(l, &token);
	if (type < 0)
		return type;
	err = read_edit_line_rdata(l, (uint16_t)type, cursor);
	if (err)
		return err;
	rrset = rrset_at(l, owner, (uint16_t)type);
	if (!has_ttl)
		ttl = rrset ? rrset->ttl : EDIT_TTL_S;
	if (type == DNS_TYPE_SOA)
		err = put_edit_line_soa(l->edit, owner, ttl, l->text.rdata, l->text.len);
	else
		err = zone_edit_add(l->edit, owner, (uint16_t)type, ttl, l->text.rdata,
				    l->text.len);
	l->any |= !err;
	return err < 0 ? fault_edit_line(l, err, "the zone cannot have this record") : 0;
}

static int remove_records(struct lines *l, const uint8_t *owner, const char *rest)
{
	struct text_token token;
	const char *cursor = rest, *rdata;
	int type = 0, err;

	if (text_next(&cursor, &token)) {
		type = read_edit_line_type(l, &token);
		if (type < 0)
			return type;
	}
	rdata = cursor;
	if (!type)
		err = zone_edit_remove_name(l->edit, owner);
	else if (!text_next(&cursor, &token))
		err = zone_edit_remove_rrset(l->edit, owner, (uint16_t)type);
	else if ((err = read_edit_line_rdata(l, (uint16_t)type, rdata)))
		return err;
	else
		err = zone_edit_remove(l->edit, owner, (uint16_t)type, l->text.rdata, l->text.len);
	l->any |= !err;
	return err ? fault_edit_line(l, err, "there is no such record") : 0;
}

static int run_edit_line(struct lines *l, const char *line)
{
	struct text_token verb, owner_token;
	uint8_t owner[256];
	const char *cursor = line;
	int err;

	if (!text_next(&cursor, &verb))
		return 0;
	if (!text_next(&cursor, &owner_token))
		return fault_edit_line(l, -EINVAL, "there is no owner");
	err = read_edit_line_owner(l, &owner_token, owner);
	if (err)
		return err;
	if (text_is(&verb, "add"))
		return add_edit_line(l, owner, cursor);
	if (text_is(&verb, "remove"))
		return remove_records(l, owner, cursor);
	return fault_edit_line(l, -EINVAL, "a line begins with add or remove");
}

/* Reads the serial number of the SOA record as edited so far. False: there is none. */
static bool serial_of_edit_line(struct zone_edit *edit, uint32_t *serial)
{
	const struct zone *z = zone_edit_view(edit);
	const struct zone_rrset *soa = zone_soa(z);
	struct zone_rdata rd;

	if (!soa)
		return false;
	zone_rdata_next(zone_rrset_first(z, soa), &rd);
	if (rd.len < SOA_SERIAL_FROM_END)
		return false;
	*serial = wire_load_be32(rd.bytes + rd.len - SOA_SERIAL_FROM_END);
	return true;
}

int edit_raise_serial(struct zone_edit *edit)
{
	const struct zone *z = zone_edit_view(edit);
	const struct zone_rrset *soa = zone_soa(z);
	struct zone_rdata rd;
	unsigned int len;
	const uint8_t *name = zone_apex(z, &len);
	uint8_t apex[256], rdata[2 * DNS_NAME_MAX + SOA_SERIAL_FROM_END];
	uint32_t ttl;
	uint8_t *serial;

	if (!soa)
		return ERR_ZONE;
	zone_rdata_next(zone_rrset_first(z, soa), &rd);
	if (rd.len < SOA_SERIAL_FROM_END || rd.len > sizeof(rdata))
		return ERR_ZONE;
	memcpy(rdata, rd.bytes, rd.len);
	memcpy(apex, name, len);
	ttl = soa->ttl;
	serial = rdata + rd.len - SOA_SERIAL_FROM_END;
	wire_store_be32(serial, wire_load_be32(serial) + 1);
	return put_edit_line_soa(edit, apex, ttl, rdata, rd.len);
}

int edit_lines(struct zone_edit *edit, const char *const *lines, size_t n, bool is_signed,
	       struct zone_error *why)
{
	struct lines *l = calloc(1, sizeof(*l));
	uint32_t before, after;
	unsigned int apex_len;
	int err;

	if (!l)
		return -ENOMEM;
	if (!serial_of_edit_line(edit, &before)) {
		free(l);
		return ERR_ZONE;
	}
	l->edit = edit;
	l->is_signed = is_signed;
	l->why = why;
	rdtext_init(&l->text);
	err = rdtext_set_origin(&l->text, zone_apex(zone_edit_view(edit), &apex_len));
	for (size_t i = 0; i < n && !err; i++) {
		l->number = (uint32_t)i + 1;
		err = run_edit_line(l, lines[i]);
	}
	if (!err && l->any && serial_of_edit_line(edit, &after) && after == before)
		err = edit_raise_serial(edit);
	rdtext_fini(&l->text);
	free(l);
	return err;
}
