/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sign/keys.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"

#define RSA_BITS 2048

/* --- What a key does -------------------------------------------------------------------------- */

static bool is_keys_since(uint64_t at, uint64_t now_s)
{
	return at && at <= now_s;
}

/*
 * Times up to the key's making are past. One that is still to come shows that the clock was ahead.
 */
static bool has_keys_begun(const struct sign_key *key, uint64_t at, uint64_t now_s)
{
	return is_keys_since(at, now_s) || is_keys_since(at, key->created_s);
}

bool sign_key_is_published(const struct sign_key *key, uint64_t now_s)
{
	return has_keys_begun(key, key->published_s, now_s) &&
	       !is_keys_since(key->removed_s, now_s);
}

bool sign_key_is_in_cds(const struct sign_key *key, uint64_t now_s)
{
	return key->role != SIGN_ZSK && is_keys_since(key->cds_s, now_s) &&
	       !is_keys_since(key->ds_seen_s, now_s) && !is_keys_since(key->retired_s, now_s) &&
	       sign_key_is_published(key, now_s);
}

bool sign_key_signs(const struct sign_key *key, uint16_t type, uint64_t now_s)
{
	bool is_of_keys = sign_is_key_type(type);

	if (key->role == SIGN_KSK && !is_of_keys)
		return false;
	if (is_of_keys && (key->role == SIGN_ZSK || !sign_key_is_published(key, now_s)))
		return false;
	return has_keys_begun(key, key->active_s, now_s) && !is_keys_since(key->retired_s, now_s);
}

/* --- Making ----------------------------------------------------------------------------------- */

static EVP_PKEY *generate(enum sign_algorithm algorithm)
{
	switch (algorithm) {
	case SIGN_RSASHA256:
		return EVP_RSA_gen(RSA_BITS);
	case SIGN_ECDSAP256SHA256:
		return EVP_EC_gen("P-256");
	case SIGN_ECDSAP384SHA384:
		return EVP_EC_gen("P-384");
	case SIGN_ED25519:
		return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	}
	return NULL;
}

/* RFC 3110 section 2. */
static int put_rsa(EVP_PKEY *pkey, uint8_t *out, size_t cap)
{
	BIGNUM *e = NULL, *n = NULL;
	int bytes = -EIO, e_bytes;

	if (EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_E, &e) &&
	    EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_N, &n)) {
		e_bytes = BN_num_bytes(e);
		if (e_bytes < 256 && (size_t)(1 + e_bytes + BN_num_bytes(n)) <= cap) {
			*out = (uint8_t)e_bytes;
			BN_bn2bin(e, out + 1);
			bytes = 1 + e_bytes + BN_bn2bin(n, out + 1 + e_bytes);
		}
	}
	BN_free(e);
	BN_free(n);
	return bytes;
}

/* Both coordinates, without the leading octet (RFC 6605 section 4), in whatever form the key is. */
static int put_point(EVP_PKEY *pkey, uint8_t *out, size_t cap)
{
	unsigned char *point = NULL;
	size_t n = EVP_PKEY_get1_encoded_public_key(pkey, &point);
	bool ok = n > 1 && n - 1 <= cap && point[0] == POINT_CONVERSION_UNCOMPRESSED;

	if (ok)
		memcpy(out, point + 1, n - 1);
	OPENSSL_free(point);
	return ok ? (int)n - 1 : -EIO;
}

/* RFC 8080 section 3: the key's octets unchanged. */
static int put_public(EVP_PKEY *pkey, enum sign_algorithm algorithm, uint8_t *out, size_t cap)
{
	size_t n = cap;

	switch (algorithm) {
	case SIGN_RSASHA256:
		return put_rsa(pkey, out, cap);
	case SIGN_ECDSAP256SHA256:
	case SIGN_ECDSAP384SHA384:
		return put_point(pkey, out, cap);
	case SIGN_ED25519:
		return EVP_PKEY_get_raw_public_key(pkey, out, &n) ? (int)n : -EIO;
	}
	return ERR_FORMAT; /* from a file: another algorithm */
}

/* RFC 4034 appendix B. */
static uint16_t tag_of_keys(const uint8_t *dnskey, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += i & 1 ? dnskey[i] : (uint32_t)dnskey[i] << 8;
	return (uint16_t)(sum + (sum >> 16));
}

uint16_t sign_key_tag_with(const struct sign_key *key, uint16_t flags)
{
	uint8_t dnskey[SIGN_DNSKEY_MAX];

	memcpy(dnskey, key->dnskey, key->dnskey_bytes);
	wire_store_be16(dnskey, flags);
	return tag_of_keys(dnskey, key->dnskey_bytes);
}

int sign_key_set(struct sign_key *key, enum sign_role role, enum sign_algorithm algorithm,
		 EVP_PKEY *pkey)
{
	int n = put_public(pkey, algorithm, key->dnskey + 4, sizeof(key->dnskey) - 4);

	if (n < 0)
		return n;
	key->role = role;
	key->algorithm = (uint8_t)algorithm;
	key->pkey = pkey;
	key->dnskey_bytes = (uint16_t)(n + 4);
	wire_store_be16(key->dnskey,
			role == SIGN_ZSK ? SIGN_DNSKEY_ZONE : SIGN_DNSKEY_ZONE | SIGN_DNSKEY_SEP);
	key->dnskey[2] = 3; /* the protocol: RFC 4034 section 2.1.2 */
	key->dnskey[3] = (uint8_t)algorithm;
	key->tag = tag_of_keys(key->dnskey, key->dnskey_bytes);
	return 0;
}

static bool has_tag(const struct sign_keys *keys, const struct sign_key *but)
{
	for (size_t i = 0; i < keys->n; i++)
		if (&keys->keys[i] != but && keys->keys[i].tag == but->tag)
			return true;
	return false;
}

int sign_keys_make(struct sign_keys *keys, enum sign_role role, enum sign_algorithm algorithm,
		   uint64_t now_s, struct sign_key **out)
{
	struct sign_key *key = &keys->keys[keys->n];
	int err;

	if (keys->n == SIGN_KEYS_MAX)
		return ERR_LIMIT;
	do { /* equal tags would cost validators time */
		EVP_PKEY *pkey = generate(algorithm);

		*key = (struct sign_key){ .created_s = now_s };
		err = pkey ? sign_key_set(key, role, algorithm, pkey) : -EIO;
		if (err || has_tag(keys, key))
			EVP_PKEY_free(pkey);
	} while (!err && has_tag(keys, key));
	if (err)
		return err;
	keys->n++;
	*out = key;
	return 0;
}

void sign_keys_forget(struct sign_keys *keys, struct sign_key *key)
{
	size_t i = (size_t)(key - keys->keys);

	EVP_PKEY_free(key->pkey);
	memmove(key, key + 1, (--keys->n - i) * sizeof(*key));
}

void sign_keys_fini(struct sign_keys *keys)
{
	while (keys->n)
		EVP_PKEY_free(keys->keys[--keys->n].pkey);
}

int sign_keys_copy(struct sign_keys *to, const struct sign_keys *from)
{
	*to = *from;
	for (size_t i = 0; i < to->n; i++)
		if (!EVP_PKEY_up_ref(to->keys[i].pkey)) {
			to->n = i;
			sign_keys_fini(to);
			return -ENOMEM;
		}
	return 0;
}

/* --- Signing ---------------------------------------------------------------------------------- */

/* Converts DER to r | s, each as long as the curve's numbers (RFC 6605 section 4). */
static int flatten_keys(const uint8_t *der, size_t n, size_t half, uint8_t *out)
{
	ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
	bool ok = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), out, (int)half) > 0 &&
		  BN_bn2binpad(ECDSA_SIG_get0_s(sig), out + half, (int)half) > 0;

	ECDSA_SIG_free(sig);
	return ok ? (int)(2 * half) : -EIO;
}

/* Set up once for many signatures: finding the algorithm takes longer than signing. */
static int prepare(const struct sign_key *key, EVP_PKEY_CTX **ctx)
{
	const EVP_MD *hash = key->algorithm == SIGN_ECDSAP384SHA384 ? EVP_sha384() : EVP_sha256();

	if (*ctx)
		return 0;
	*ctx = EVP_PKEY_CTX_new(key->pkey, NULL);
	if (*ctx && EVP_PKEY_sign_init(*ctx) > 0 && EVP_PKEY_CTX_set_signature_md(*ctx, hash) > 0)
		return 0;
	EVP_PKEY_CTX_free(*ctx);
	*ctx = NULL;
	return -EIO;
}

/* RFC 8080: signs the data itself, not a hash of it. */
static int sign_ed25519(const struct sign_key *key, const uint8_t *data, size_t n, uint8_t *out)
{
	size_t bytes = SIGN_SIGNATURE_MAX;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int ok = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key->pkey) > 0 &&
		 EVP_DigestSign(ctx, out, &bytes, data, n) > 0;

	EVP_MD_CTX_free(ctx);
	return ok ? (int)bytes : -EIO;
}

int sign_key_sign(const struct sign_key *key, EVP_PKEY_CTX **ctx, const uint8_t *data, size_t n,
		  uint8_t out[static SIGN_SIGNATURE_MAX])
{
	bool is_384 = key->algorithm == SIGN_ECDSAP384SHA384;
	uint8_t raw[SIGN_SIGNATURE_MAX], hash[SHA384_DIGEST_LENGTH];
	size_t bytes = sizeof(raw);

	if (key->algorithm == SIGN_ED25519)
		return sign_ed25519(key, data, n, out);
	if (prepare(key, ctx))
		return -EIO;
	(void)(is_384 ? SHA384(data, n, hash) : SHA256(data, n, hash));
	if (EVP_PKEY_sign(*ctx, raw, &bytes, hash,
			  is_384 ? SHA384_DIGEST_LENGTH : SHA256_DIGEST_LENGTH) <= 0)
		return -EIO;
	if (key->algorithm == SIGN_ECDSAP256SHA256 || is_384)
		return flatten_keys(raw, bytes, is_384 ? 48 : 32, out);
	memcpy(out, raw, bytes);
	return (int)bytes;
}

int sign_key_ds(const struct sign_keys *keys, const struct sign_key *key,
		uint8_t out[static SIGN_DS_BYTES])
{
	uint8_t data[DNS_NAME_MAX + SIGN_DNSKEY_MAX];
	size_t n = name_bytes(keys->apex);
	unsigned int bytes;

	memcpy(data, keys->apex, n);
	memcpy(data + n, key->dnskey, key->dnskey_bytes);
	wire_store_be16(out, key->tag);
	out[2] = key->algorithm;
	out[3] = 2; /* SHA-256 */
	return EVP_Digest(data, n + key->dnskey_bytes, out + 4, &bytes, EVP_sha256(), NULL) ? 0 :
											      -EIO;
}
