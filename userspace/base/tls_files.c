/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/tls_files.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>

#include "base/err.h"
#include "base/files.h"

typedef bool read_pem_fn(SSL_CTX *ctx, BIO *in);

/* Opens the file, and lets READ do the rest. */
static int read_pem(SSL_CTX *ctx, const char *path, read_pem_fn *read)
{
	FILE *file;
	int code = regular_fopen(&file, path, NULL);
	BIO *in;

	if (code)
		return code;
	ERR_clear_error();
	setvbuf(file, NULL, _IONBF, 0); /* else a key would stay in its buffer */
	in = BIO_new_fp(file, BIO_CLOSE);
	if (!in) {
		fclose(file);
		return -ENOMEM;
	}
	code = read(ctx, in) ? 0 : ERR_FORMAT;
	BIO_free(in);
	return code;
}

/* True if the last error is that the file has no more of what was looked for. */
static bool is_end_of_pem(void)
{
	unsigned long error = ERR_peek_last_error();

	return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

static bool read_chain(SSL_CTX *ctx, BIO *in)
{
	X509 *certificate = PEM_read_bio_X509_AUX(in, NULL, NULL, NULL);
	bool is_used = certificate && SSL_CTX_use_certificate(ctx, certificate) == 1;

	X509_free(certificate);
	if (!is_used || !SSL_CTX_clear_chain_certs(ctx))
		return false;
	while ((certificate = PEM_read_bio_X509(in, NULL, NULL, NULL)))
		if (!SSL_CTX_add0_chain_cert(ctx, certificate)) {
			X509_free(certificate);
			return false;
		}
	if (!is_end_of_pem())
		return false;
	ERR_clear_error();
	return true;
}

static bool read_pem_key(SSL_CTX *ctx, BIO *in)
{
	EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
	bool is_used = key && SSL_CTX_use_PrivateKey(ctx, key) == 1;

	EVP_PKEY_free(key);
	return is_used;
}

/* Other things in the file, as keys, are passed over. */
static bool read_authorities(SSL_CTX *ctx, BIO *in)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	STACK_OF(X509_INFO) *all = PEM_X509_INFO_read_bio(in, NULL, NULL, NULL);
	bool is_whole = all, is_any = false;

	for (int i = 0; is_whole && i < sk_X509_INFO_num(all); i++) {
		const X509_INFO *one = sk_X509_INFO_value(all, i);

		if (one->x509)
			is_whole = is_any = X509_STORE_add_cert(store, one->x509) == 1;
		if (one->crl && is_whole)
			is_whole = X509_STORE_add_crl(store, one->crl) == 1;
	}
	sk_X509_INFO_pop_free(all, X509_INFO_free);
	return is_whole && is_any;
}

int tls_files_use_chain(SSL_CTX *ctx, const char *path)
{
	return read_pem(ctx, path, read_chain);
}

int tls_files_use_key(SSL_CTX *ctx, const char *path)
{
	return read_pem(ctx, path, read_pem_key);
}

int tls_files_trust(SSL_CTX *ctx, const char *path)
{
	return read_pem(ctx, path, read_authorities);
}
