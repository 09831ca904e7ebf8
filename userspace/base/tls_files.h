/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Certificates and keys in PEM, from files that base/files.h opens: OpenSSL's own functions take a
 * path, and know of no helper.
 *
 * All return 0; a negative code of regular_open(); -ENOMEM; or ERR_FORMAT, and OpenSSL's queue of
 * errors says what is wrong with the content. Any thread.
 */
#ifndef VOLLEY_BASE_TLS_FILES_H
#define VOLLEY_BASE_TLS_FILES_H

#include <openssl/ssl.h>

/* The certificate of this side, and after it those of its issuers. */
int tls_files_use_chain(SSL_CTX *ctx, const char *path) __attribute__((warn_unused_result));

/* The private key. If the certificate is there already, the key must be its key. */
int tls_files_use_key(SSL_CTX *ctx, const char *path) __attribute__((warn_unused_result));

/* The authorities that are trusted, at least one. */
int tls_files_trust(SSL_CTX *ctx, const char *path) __attribute__((warn_unused_result));

#endif
