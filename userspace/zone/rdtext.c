/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads rows and the generic form. The fields are in zone/rdread*.c. */
#include "zone/rdtext.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/rdata.h"
#include "zone/rdreading.h"

void rdtext_init(struct rdtext *t)
{
	t->origin[0] = 0;
	t->origin_bytes = 1;
	t->len = 0;
	t->why[0] = '\0';
	t->why_at = NULL;
}

void rdtext_fini(struct rdtext *t)
{
	(void)t;
}

int rdtext_set_origin(struct rdtext *t, const uint8_t *origin)
{
	t->origin_bytes = (unsigned)name_bytes(origin);
	memcpy(t->origin, origin, t->origin_bytes);
	return 0;
}

/* --- Types --- */

uint16_t rdtext_common_type(const char *text, size_t n)
{
	/* By length. */
	static const struct {
		char text[8];
		uint16_t type;
	} common[][5] = {
#define COMMON(name) { #name, DNS_TYPE_##name }
		[1] = { COMMON(A) },
		[2] = { COMMON(NS), COMMON(DS), COMMON(MX) },
		[3] = { COMMON(TXT), COMMON(PTR), COMMON(SOA), COMMON(SRV), COMMON(CAA) },
		[4] = { COMMON(AAAA), COMMON(NSEC), COMMON(TLSA) },
		[5] = { COMMON(RRSIG), COMMON(NSEC3), COMMON(CNAME), COMMON(DNAME), COMMON(HTTPS) },
		[6] = { COMMON(DNSKEY) },
#undef COMMON
	};
	char word[8] = { 0 };

	if (n >= sizeof(common) / sizeof(common[0]))
		return 0;
	for (size_t i = 0; i < n; i++)
		word[i] = text[i];
	for (size_t i = 0; i < sizeof(common[0]) / sizeof(common[0][0]); i++)
		if (!memcmp(common[n][i].text, word, sizeof(word)))
			return common[n][i].type;
	return 0;
}

int rdtext_type(const char *text, size_t n)
{
	int type = rdtext_common_type(text, n);

	return type ? type : proto_type_from_text(text, n);
}

/* --- Faults --- */

bool rdread_refuse(struct rdreading *f, const char *at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->t->why, sizeof(f->t->why), format, args);
	va_end(args);
	f->t->why_at = at;
	return false;
}

bool rdread_refuse_token(struct rdreading *f, const struct text_token *token, const char *is_not)
{
	int n = token->n < 64 ? (int)token->n : 64;

	return rdread_refuse(f, token->at, "'%.*s' is not %s", n, token->at, is_not);
}

/* --- The generic form: \# LENGTH HEX, RFC 3597 section 5 --- */

static bool is_rdtext_generic(const char *text)
{
	return text[0] == '\\' && text[1] == '#' && rdread_is_end(text[2]);
}

static bool read_generic(struct rdreading *f)
{
	const char *begin = f->at;
	uint32_t stated;
	size_t n;

	f->at += 2;
	rdread_skip_blanks(f);
	if (!rdread_is_digit(*f->at))
		return rdread_refuse(f, f->at, "behind \\# there is no length from 0 to 65535");
	if (!rdread_decimal(f, UINT16_MAX, &stated))
		return false;
	if (!rdread_at_end(f) && !rdread_hex(f))
		return false;
	n = (size_t)(f->out - f->t->rdata);
	if (n != stated)
		return rdread_refuse(f, begin, "%u octets are stated, %zu are there", stated, n);
	return true;
}

static bool read_row(struct rdreading *f, const struct rdata_type *row)
{
	struct text_token token;

	for (const uint8_t *field = row->fields; *field; field++)
		if (!rdread_fields[*field](f))
			return false;
	if (rdread_at_end(f))
		return true;
	rdread_token(f, &token);
	return rdread_refuse(f, token.at, "'%.*s' is superfluous", token.n < 64 ? (int)token.n : 64,
			     token.at);
}

int rdtext_parse(struct rdtext *t, uint16_t type, const char *text)
{
	const struct rdata_type *row = rdata_type(type);
	struct rdreading f = { .at = text, .out = t->rdata, .t = t };
	const char *fault;
	bool is_octets;

	f.end = t->rdata + sizeof(t->rdata);
	t->type = type;
	rdread_skip_blanks(&f);
	text = f.at;
	is_octets = is_rdtext_generic(text);
	if (is_octets) {
		if (!read_generic(&f))
			return ERR_RDATA;
	} else if (!row) {
		rdread_refuse(&f, text, "this type has only the generic form, \\# LENGTH HEX");
		return ERR_RDATA;
	} else if (!read_row(&f, row)) {
		return ERR_RDATA;
	}
	t->len = (uint16_t)(f.out - t->rdata);
	/* A file that was written for a secondary has a primary's mistakes in this form. */
	fault = is_octets ? rdata_fault_foreign(type, t->rdata, t->len) :
			    rdata_fault(type, t->rdata, t->len);
	if (fault)
		rdread_refuse(&f, text, "it does not have the form of this type: %s", fault);
	return fault ? ERR_RDATA : 0;
}
