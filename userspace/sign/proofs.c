/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rdata of NSEC, NSEC3 and NSEC3PARAM. */
#include <string.h>

#include "base/wire.h"
#include "sign/signer.h"

#define SHA1_ALGORITHM 1

void sign_types_add(struct sign_types *types, uint16_t type)
{
	unsigned int at = types->n;

	if (sign_types_have(types, type) || types->n == SIGN_TYPES_MAX)
		return;
	for (; at && types->type[at - 1] > type; at--)
		types->type[at] = types->type[at - 1];
	types->type[at] = type;
	types->n++;
}

bool sign_types_have(const struct sign_types *types, uint16_t type)
{
	for (unsigned int i = 0; i < types->n; i++)
		if (types->type[i] == type)
			return true;
	return false;
}

void sign_types_of_proof(struct sign_types *types, const struct sign_types *data, bool is_apex,
			 bool nsec3)
{
	bool is_cut = !is_apex && sign_types_have(data, DNS_TYPE_NS), is_signed = !nsec3;

	types->n = 0;
	for (unsigned int i = 0; i < data->n; i++) {
		uint16_t type = data->type[i];

		if (is_cut && type != DNS_TYPE_NS && type != DNS_TYPE_DS)
			continue;
		is_signed |= sign_is_signed(type, is_cut);
		sign_types_add(types, type);
	}
	if (is_signed)
		sign_types_add(types, DNS_TYPE_RRSIG);
	if (!nsec3)
		sign_types_add(types, DNS_TYPE_NSEC);
}

size_t sign_put_nsec(uint8_t out[static SIGN_NSEC_MAX], const uint8_t *next,
		     const struct sign_types *types)
{
	size_t n = name_bytes(next);

	memcpy(out, next, n);
	return n + sign_put_bitmap(out + n, types->type, types->n);
}

/* Algorithm, flags, iterations, salt. */
static size_t put_params(uint8_t *out, const struct sign_options *options, uint8_t flags)
{
	out[0] = SHA1_ALGORITHM;
	out[1] = flags;
	wire_store_be16(out + 2, options->nsec3_iterations);
	out[4] = options->nsec3_salt_bytes;
	memcpy(out + 5, options->nsec3_salt, options->nsec3_salt_bytes);
	return 5u + options->nsec3_salt_bytes;
}

static unsigned int digit(uint8_t c)
{
	return c >= 'a' ? c - 'a' + 10u : c - (unsigned int)'0';
}

/* Base32hex, RFC 4648 section 7: eight digits are five octets. */
static void decode_proofs(const struct nsec3_label *label, uint8_t out[static NSEC3_HASH_BYTES])
{
	for (unsigned int i = 0; i < NSEC3_LABEL_CHARS / 8; i++) {
		uint64_t group = 0;

		for (unsigned int k = 1; k <= 8; k++)
			group = group << 5 | digit(label->label[8 * i + k]);
		out[5 * i] = (uint8_t)(group >> 32);
		wire_store_be32(out + 5 * i + 1, (uint32_t)group);
	}
}

size_t sign_put_nsec3(uint8_t out[static SIGN_NSEC3_FIXED_MAX + SIGN_NSEC_MAX],
		      const struct sign_options *options, const struct nsec3_label *next,
		      const uint8_t *bitmap, size_t n)
{
	size_t at = put_params(out, options, options->opt_out ? SIGN_NSEC3_OPT_OUT : 0);

	out[at++] = NSEC3_HASH_BYTES;
	decode_proofs(next, out + at);
	at += NSEC3_HASH_BYTES;
	memcpy(out + at, bitmap, n);
	return at + n;
}

size_t sign_put_nsec3param(uint8_t out[static 5 + 255], const struct sign_options *options)
{
	return put_params(out, options, 0);
}

void sign_nsec3_params(const struct sign_options *options, struct nsec3_params *out)
{
	*out = (struct nsec3_params){ .iterations = options->nsec3_iterations,
				      .salt_bytes = options->nsec3_salt_bytes };
	memcpy(out->salt, options->nsec3_salt, options->nsec3_salt_bytes);
}

void sign_nsec3_owner(const struct nsec3_label *hash, const uint8_t *apex,
		      uint8_t out[static NAME_FOLDED_BYTES])
{
	memcpy(out, hash->label, sizeof(hash->label));
	memcpy(out + sizeof(hash->label), apex, name_bytes(apex));
}
