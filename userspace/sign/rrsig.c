/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One signature: RFC 4034 section 3. */
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "base/wire.h"
#include "dns/name.h"
#include "sign/signer.h"
#include "dns/rdata.h"

#define RRSIG_FIXED   18u
#define INCEPTION_S   3600u /* before now: clocks differ */
#define EXPIRATION_AT 8
#define INCEPTION_AT  12
#define KEY_TAG_AT    16

bool sign_is_own_type(uint16_t type)
{
	return type == DNS_TYPE_RRSIG || type == DNS_TYPE_NSEC || type == DNS_TYPE_NSEC3 ||
	       type == DNS_TYPE_NSEC3PARAM || sign_is_key_type(type);
}

bool sign_is_left_out(uint16_t type, bool is_apex)
{
	return sign_is_own_type(type) || (is_apex && type == DNS_TYPE_ZONEMD);
}

void signer_init(struct signer *s, const struct sign_keys *keys, const struct sign_options *options,
		 uint64_t now_s)
{
	*s = (struct signer){ .keys = keys, .options = options, .now_s = now_s };
}

void signer_fini(struct signer *s)
{
	free(s->data);
	s->data = NULL;
	s->data_cap = 0;
	for (size_t i = 0; i < SIGN_KEYS_MAX; i++) {
		EVP_PKEY_CTX_free(s->ctx[i]);
		s->ctx[i] = NULL;
	}
}

static int reserve_rrsig(struct signer *s, size_t n)
{
	uint8_t *data;

	if (n <= s->data_cap)
		return 0;
	data = realloc(s->data, 2 * n);
	if (!data)
		return -ENOMEM;
	s->data = data;
	s->data_cap = 2 * n;
	return 0;
}

/* Spreads the ends of a zone's signatures over time, and differs at each name, but not from one
 * signing to the next. */
static uint32_t jitter(const struct signer *s, const uint8_t *owner, size_t n, uint16_t type)
{
	static const uint8_t key[SIPHASH_KEY_BYTES + 1] = "signature jitter";

	if (!s->options->jitter_s)
		return 0;
	return (uint32_t)((siphash24(key, owner, n) ^ type) % (s->options->jitter_s + 1ull));
}

static uint8_t *put_rrsig_record(uint8_t *at, const struct sign_rrset *rrset, const uint8_t *owner,
				 size_t owner_bytes, const struct zone_rdata *rd)
{
	struct rdata_span names = rdata_names(rrset->type, rd->bytes, rd->len);

	memcpy(at, owner, owner_bytes);
	at += owner_bytes;
	wire_store_be16(at, rrset->type);
	wire_store_be16(at + 2, DNS_CLASS_IN);
	wire_store_be32(at + 4, rrset->ttl);
	wire_store_be16(at + 8, rd->len);
	memcpy(at + 10, rd->bytes, rd->len);
	for (unsigned int i = names.start; i < names.end; i++) {
		uint8_t c = rd->bytes[i];

		at[10 + i] = (uint8_t)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	return at + 10 + rd->len;
}

/* Writes the rdata up to the signature. Returns its length. */
static size_t put_rrsig_head(const struct signer *s, const struct sign_key *key,
			     const struct sign_rrset *rrset, const uint8_t *owner,
			     size_t owner_bytes, uint8_t *out)
{
	unsigned int labels = name_n_labels(owner) - (owner[0] == 1 && owner[1] == '*');
	uint64_t end =
		s->now_s + s->options->signature_s - jitter(s, owner, owner_bytes, rrset->type);
	size_t apex_bytes = name_bytes(s->keys->apex);

	wire_store_be16(out, rrset->type);
	out[2] = key->algorithm;
	out[3] = (uint8_t)labels;
	wire_store_be32(out + 4, rrset->ttl);
	wire_store_be32(out + EXPIRATION_AT, (uint32_t)end);
	wire_store_be32(out + INCEPTION_AT, (uint32_t)(s->now_s - INCEPTION_S));
	wire_store_be16(out + KEY_TAG_AT, key->tag);
	memcpy(out + RRSIG_FIXED, s->keys->apex, apex_bytes);
	return RRSIG_FIXED + apex_bytes;
}

int signer_sign(struct signer *s, const struct sign_key *key, const struct sign_rrset *rrset,
		uint8_t out[static SIGN_RRSIG_MAX])
{
	uint8_t owner[NAME_FOLDED_BYTES];
	size_t owner_bytes = name_bytes(rrset->owner), head;
	const uint8_t *from = rrset->records;
	struct zone_rdata rd;
	uint8_t *at;
	int n;

	name_fold(owner, rrset->owner, owner_bytes);
	head = put_rrsig_head(s, key, rrset, owner, owner_bytes, out);
	if (reserve_rrsig(s, head + sign_records_bytes(from, rrset->n) +
				     rrset->n * (owner_bytes + 10)))
		return -ENOMEM;
	memcpy(s->data, out, head);
	at = s->data + head;
	for (unsigned int i = 0; i < rrset->n; i++) {
		from = zone_rdata_next(from, &rd);
		at = put_rrsig_record(at, rrset, owner, owner_bytes, &rd);
	}
	n = sign_key_sign(key, &s->ctx[key - s->keys->keys], s->data, (size_t)(at - s->data),
			  out + head);
	return n < 0 ? n : (int)head + n;
}

bool signer_keeps(const struct signer *s, const struct sign_key *key,
		  const struct zone_rdata *rrsig)
{
	int32_t left, age;

	if (rrsig->len < RRSIG_FIXED || wire_load_be16(rrsig->bytes + KEY_TAG_AT) != key->tag ||
	    rrsig->bytes[2] != key->algorithm)
		return false;
	left = (int32_t)(wire_load_be32(rrsig->bytes + EXPIRATION_AT) - (uint32_t)s->now_s);
	/* RFC 4034 section 3.1.5: a signature that begins later is not valid yet. It was made while
	 * the clock was ahead. */
	age = (int32_t)((uint32_t)s->now_s - wire_load_be32(rrsig->bytes + INCEPTION_AT));
	return age >= 0 && left > (int64_t)s->options->refresh_s;
}

size_t sign_put_bitmap(uint8_t *out, const uint16_t *types, size_t n)
{
	uint8_t *at = out;

	for (size_t i = 0; i < n;) {
		unsigned int window = types[i] >> 8;
		uint8_t last = 0;

		memset(at, 0, 34);
		at[0] = (uint8_t)window;
		for (; i < n && types[i] >> 8 == (int)window; i++) {
			uint8_t low = (uint8_t)types[i];

			at[2 + low / 8] |= (uint8_t)(0x80 >> low % 8);
			last = low / 8;
		}
		at[1] = (uint8_t)(last + 1);
		at += 2 + at[1];
	}
	return (size_t)(at - out);
}
