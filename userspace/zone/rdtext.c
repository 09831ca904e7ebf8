/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A record for ldns is built with the root as its owner, since owner, TTL and class are read by the
 * caller.
 */
#include "zone/rdtext.h"

#include <ctype.h>
#include <errno.h>
#include <ldns/ldns.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "zone/rdfast.h"
#include "zone/text.h"

void rdtext_init(struct rdtext *t)
{
	t->origin = NULL;
	t->origin_bytes = 0;
	t->line = NULL;
	t->line_cap = 0;
	t->len = 0;
	t->why[0] = '\0';
}

void rdtext_fini(struct rdtext *t)
{
	ldns_rdf_deep_free(t->origin);
	free(t->line);
}

static int refuse(struct rdtext *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(struct rdtext *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->why, sizeof(t->why), format, args);
	va_end(args);
	return ERR_RDATA;
}

int rdtext_set_origin(struct rdtext *t, const uint8_t *origin)
{
	ldns_rdf *rdf = ldns_dname_new_frm_data((uint16_t)name_bytes(origin), origin);

	if (!rdf)
		return -ENOMEM;
	ldns_rdf_deep_free(t->origin);
	t->origin = rdf;
	t->origin_bytes = (unsigned)name_bytes(origin);
	memcpy(t->origin_wire, origin, t->origin_bytes);
	return 0;
}

int rdtext_type(const char *text, size_t n)
{
	int type = rdfast_type(text, n);
	char word[PROTO_TEXT_MAX];

	if (type)
		return type;
	type = proto_type_from_text(text, n);
	if (type >= 0 || n >= sizeof(word) || (n > 4 && !strncasecmp(text, "TYPE", 4)))
		return type;
	memcpy(word, text, n);
	word[n] = '\0';
	type = (int)ldns_get_rr_type_by_name(word);
	return type ? type : ERR_TYPE;
}

/* --- What ldns does not check --- */

/*
 * Fields from the left: 1, 2, 4 a decimal of so many octets; t a period; n a name; - anything; h
 * the rest, in hex. Behind the last letter nothing is checked.
 */
struct form {
	uint16_t type;
	const char *fields;
};

static const struct form forms[] = {
	{ DNS_TYPE_NS, "n" },        { DNS_TYPE_CNAME, "n" },   { DNS_TYPE_SOA, "nn4tttt" },
	{ DNS_TYPE_PTR, "n" },       { DNS_TYPE_MX, "2n" },     { DNS_TYPE_RP, "nn" },
	{ DNS_TYPE_AFSDB, "2n" },    { DNS_TYPE_RT, "2n" },     { DNS_TYPE_PX, "2nn" },
	{ DNS_TYPE_SRV, "222n" },    { DNS_TYPE_NAPTR, "22" },  { DNS_TYPE_KX, "2n" },
	{ DNS_TYPE_DNAME, "n" },     { DNS_TYPE_DS, "2--h" },   { DNS_TYPE_SSHFP, "--h" },
	{ DNS_TYPE_DNSKEY, "2" },    { DNS_TYPE_TLSA, "111h" }, { DNS_TYPE_SMIMEA, "111h" },
	{ DNS_TYPE_CDS, "2--h" },    { DNS_TYPE_CDNSKEY, "2" }, { DNS_TYPE_CSYNC, "42" },
	{ DNS_TYPE_ZONEMD, "411h" }, { DNS_TYPE_SVCB, "2n" },   { DNS_TYPE_HTTPS, "2n" },
	{ DNS_TYPE_LP, "2n" },       { DNS_TYPE_URI, "22" },    { DNS_TYPE_CAA, "1" },
};

static const char *fields_of(uint16_t type)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (forms[i].type == type)
			return forms[i].fields;
	return "";
}

/*
 * Octets of hex from @text on, blanks allowed between pairs or halves; stored unless @dst is NULL.
 */
static int parse_hex(struct rdtext *t, const char *text, uint8_t *dst, size_t cap, size_t *n)
{
	size_t digits = 0;

	for (; *text; text++) {
		int c = tolower((unsigned char)*text);
		uint8_t value = (uint8_t)(isdigit(c) ? c - '0' : c - 'a' + 10);

		if (c == ' ' || c == '\t')
			continue;
		if (!isxdigit(c))
			return refuse(t, "there is something else among the hex digits");
		if (digits / 2 >= cap)
			return refuse(t, "there are more octets than stated");
		if (dst && digits % 2)
			dst[digits / 2] |= value;
		else if (dst)
			dst[digits / 2] = (uint8_t)(value << 4);
		digits++;
	}
	*n = digits / 2;
	return digits % 2 ? refuse(t, "the number of hex digits is odd") : 0;
}

/* For "%.*s": enough of a token to find it. */
static int shown(const struct text_token *token)
{
	return token->n < 64 ? (int)token->n : 64;
}

static int check_number(struct rdtext *t, const struct text_token *token, uint32_t max)
{
	uint32_t ignored;

	return text_to_number(token, max, &ignored) ?
		       refuse(t, "'%.*s' is not a number from 0 to %u", shown(token), token->at,
			      max) :
		       0;
}

static int check_field(struct rdtext *t, char field, const struct text_token *token)
{
	uint32_t ignored;

	switch (field) {
	case '1':
		return check_number(t, token, UINT8_MAX);
	case '2':
		return check_number(t, token, UINT16_MAX);
	case '4':
		return check_number(t, token, UINT32_MAX);
	case 't':
		return text_to_ttl(token, &ignored) ? refuse(t, "'%.*s' is not a period of time",
							     shown(token), token->at) :
						      0;
	case 'n':
		return token->quoted ? refuse(t, "a name is quoted") : 0;
	default:
		return 0;
	}
}

static int check_fields(struct rdtext *t, uint16_t type, const char *text)
{
	struct text_token token;
	size_t n;
	int rc = 0;

	for (const char *field = fields_of(type); *field && !rc; field++) {
		if (*field == 'h')
			return parse_hex(t, text, NULL, UINT16_MAX, &n);
		if (!text_next(&text, &token))
			return refuse(t, "a field is missing");
		rc = check_field(t, *field, &token);
	}
	return rc;
}

/* --- Through ldns --- */

/* The rdata of @rr to t->rdata: the fields, one behind the other, as they are in ldns. */
static int take_rdata(struct rdtext *t, const ldns_rr *rr)
{
	size_t len = 0;

	for (size_t i = 0; i < ldns_rr_rd_count(rr); i++) {
		const ldns_rdf *rdf = ldns_rr_rdf(rr, i);
		size_t n = ldns_rdf_size(rdf);

		if (len + n > sizeof(t->rdata))
			return refuse(t, "it is longer than 65535 octets");
		if (n)
			memcpy(t->rdata + len, ldns_rdf_data(rdf), n);
		len += n;
	}
	t->len = (uint16_t)len;
	return 0;
}

/* ldns takes the key of an IPSECKEY, behind four fields, in one piece only: RFC 4025 section 3.1. */
static char *copy_ipseckey(char *to, const char *text)
{
	const char *key = text;
	struct text_token token;

	for (unsigned i = 0; i < 4 && text_next(&key, &token); i++)
		;
	to = stpncpy(to, text, (size_t)(key - text));
	*to++ = ' ';
	for (; *key; key++) {
		if (*key != ' ' && *key != '\t')
			*to++ = *key;
	}
	return to;
}

static int make_line(struct rdtext *t, uint16_t type, const char *text)
{
	size_t need = strlen(text) + 64;
	char *to;
	char word[PROTO_TEXT_MAX];

	if (need > t->line_cap) {
		char *line = realloc(t->line, need * 2);

		if (!line)
			return -ENOMEM;
		t->line = line;
		t->line_cap = need * 2;
	}
	proto_type_to_text(word, type);
	to = t->line + snprintf(t->line, t->line_cap, ". 0 IN %s ", word);
	if (type == LDNS_RR_TYPE_IPSECKEY)
		to = copy_ipseckey(to, text);
	else
		to = stpcpy(to, text);
	*to = 0;
	return 0;
}

/* What ldns says, without the words that every such sentence begins with. */
static const char *status_text(ldns_status status)
{
	static const char head[] = "Syntax error, ";
	const char *text = ldns_get_errorstr_by_id(status);

	if (!text)
		return "it is malformed";
	return strncmp(text, head, sizeof(head) - 1) ? text : text + sizeof(head) - 1;
}

static int parse_known(struct rdtext *t, uint16_t type, const char *text)
{
	ldns_rr *rr = NULL;
	ldns_status status;
	int rc = check_fields(t, type, text);

	if (!rc)
		rc = make_line(t, type, text);
	if (rc)
		return rc;
	status = ldns_rr_new_frm_str(&rr, t->line, 0, t->origin, NULL);
	if (status == LDNS_STATUS_MEM_ERR)
		rc = -ENOMEM;
	else if (status != LDNS_STATUS_OK)
		rc = refuse(t, "%s", status_text(status));
	else
		rc = take_rdata(t, rr);
	ldns_rr_free(rr);
	return rc;
}

/* --- The generic form: \# LENGTH HEX, RFC 3597 section 5 --- */

/*
 * Does ldns, reading this rdata as its type, find the same octets? If not, it is no rdata of the
 * type.
 */
static int check_generic(struct rdtext *t, uint16_t type, size_t n)
{
	static const size_t head = 11;
	uint8_t *wire = malloc(head + n);
	ldns_rr *rr = NULL;
	size_t at = 0;
	int rc = 0;

	if (!wire)
		return -ENOMEM;
	memset(wire, 0, head);
	wire_store_be16(wire + 1, type);
	wire_store_be16(wire + 3, DNS_CLASS_IN);
	wire_store_be16(wire + 9, (uint16_t)n);
	memcpy(wire + head, t->rdata, n);
	if (ldns_wire2rr(&rr, wire, head + n, &at, LDNS_SECTION_ANSWER) == LDNS_STATUS_OK)
		rc = take_rdata(t, rr);
	else
		t->len = 0;
	if (!rc && (t->len != n || memcmp(t->rdata, wire + head, n)))
		rc = refuse(t, "it does not have the form of this type");
	ldns_rr_free(rr);
	free(wire);
	return rc;
}

static int parse_generic(struct rdtext *t, uint16_t type, const char *text)
{
	struct text_token token;
	uint32_t stated;
	size_t n;
	int rc;

	if (!text_next(&text, &token) || text_to_number(&token, UINT16_MAX, &stated))
		return refuse(t, "behind \\# there is no length from 0 to 65535");
	rc = parse_hex(t, text, t->rdata, stated, &n);
	if (rc)
		return rc;
	if (n != stated)
		return refuse(t, "%u octets are stated, %zu are there", stated, n);
	t->len = (uint16_t)n;
	return n ? check_generic(t, type, n) : 0;
}

int rdtext_parse_ldns(struct rdtext *t, uint16_t type, const char *text)
{
	struct text_token first;
	const char *behind = text;

	if (text_next(&behind, &first) && !first.quoted && text_is(&first, "\\#"))
		return parse_generic(t, type, behind);
	return parse_known(t, type, text);
}

int rdtext_parse(struct rdtext *t, uint16_t type, const char *text)
{
	return rdfast_parse(t, type, text) ? 0 : rdtext_parse_ldns(t, type, text);
}
