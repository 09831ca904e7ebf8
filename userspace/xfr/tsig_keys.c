/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of keys. OpenSSL contexts keep the secrets; each MAC uses a copy of a context. */
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>

#include "xfr/tsig_signature.h"

struct tsig_keys {
	size_t n;
	struct tsig_key keys[];
};

static int compare_tsig_key(const void *a, const void *b)
{
	const struct tsig_key *x = a, *y = b;

	if (x->name_bytes != y->name_bytes)
		return x->name_bytes < y->name_bytes ? -1 : 1;
	return memcmp(x->name, y->name, x->name_bytes);
}

static EVP_MAC_CTX *make_hmac(const struct tsig_key_source *source)
{
	static const char *const digests[] = {
#define DIGEST(id, name, digest, bytes) digest,
		TSIG_ALGORITHMS(DIGEST)
#undef DIGEST
	};
	char digest[8] = { 0 };
	OSSL_PARAM params[2];
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;

	strncpy(digest, digests[source->algorithm], sizeof(digest) - 1);
	params[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0);
	params[1] = OSSL_PARAM_construct_end();
	if (ctx && !EVP_MAC_init(ctx, source->secret, source->secret_bytes, params)) {
		EVP_MAC_CTX_free(ctx);
		ctx = NULL;
	}
	EVP_MAC_free(mac);
	return ctx;
}

static int make_tsig_key(struct tsig_key *key, const struct tsig_key_source *source)
{
	if (!source->secret_bytes || source->secret_bytes > TSIG_SECRET_MAX ||
	    source->algorithm >= TSIG_N_ALGORITHMS)
		return -EINVAL;
	key->name_bytes = (unsigned int)name_bytes(source->name);
	name_fold(key->name, source->name, key->name_bytes);
	key->algorithm = source->algorithm;
	key->mac_min_bytes = source->mac_min_bytes;
	key->hmac = make_hmac(source);
	return key->hmac ? 0 : -ENOTSUP;
}

int tsig_keys_new(struct tsig_keys **out, const struct tsig_key_source *sources, size_t n)
{
	struct tsig_keys *keys = calloc(1, sizeof(*keys) + n * sizeof(keys->keys[0]));
	int err = keys ? 0 : -ENOMEM;

	*out = NULL;
	for (size_t i = 0; i < n && !err; i++) {
		err = make_tsig_key(&keys->keys[i], &sources[i]);
		keys->n += !err;
	}
	if (!err)
		qsort(keys->keys, n, sizeof(keys->keys[0]), compare_tsig_key);
	for (size_t i = 1; i < n && !err; i++)
		if (!compare_tsig_key(&keys->keys[i - 1], &keys->keys[i]))
			err = -EEXIST;
	if (err)
		tsig_keys_free(keys);
	else
		*out = keys;
	return err;
}

void tsig_keys_free(struct tsig_keys *keys)
{
	if (!keys)
		return;
	for (size_t i = 0; i < keys->n; i++)
		EVP_MAC_CTX_free(keys->keys[i].hmac); /* it wipes its key */
	free(keys);
}

const struct tsig_key *tsig_keys_find(const struct tsig_keys *keys, const uint8_t *name)
{
	struct tsig_key want;

	if (!keys || !keys->n)
		return NULL;
	want.name_bytes = (unsigned int)name_bytes(name);
	name_fold(want.name, name, want.name_bytes);
	return bsearch(&want, keys->keys, keys->n, sizeof(want), compare_tsig_key);
}
