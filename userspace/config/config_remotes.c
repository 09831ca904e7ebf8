/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks keys and remotes: other servers, and the proofs of identity. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/reader.h"
#include "config/value.h"

/* --- Keys ------------------------------------------------------------------------------------- */

/* The text of FILE is never shown: it may be most of a secret. */
static void read_secret(struct reader *reader, const struct yamltree *node, const char *file,
			const char *text, struct config_tsig_key *key)
{
	const struct words_key *row = words_find_key("keys[].secret");
	size_t n;
	int err;

	key->secret = reader_memory(reader, row->max, 1);
	if (!key->secret)
		return;
	err = value_read_base64(text, row->min, row->max, key->secret, &n);
	key->n_secret = err ? 0 : (uint32_t)n;
	if (err)
		explicit_bzero(key->secret, row->max); /* it may be partly written */
	if (err == -ERANGE)
		document_fail(&reader->document, node, "",
			      "has %zu octets, give %zu to %zu: the output of openssl rand -base64 "
			      "32, for example",
			      n, (size_t)row->min, (size_t)row->max);
	else if (err)
		document_fail(&reader->document, node, "",
			      "%s does not hold base64: %zu to %zu octets, the output of openssl "
			      "rand -base64 32, for example",
			      file, (size_t)row->min, (size_t)row->max);
}

static void read_remote_secret_file(struct reader *reader, const struct yamltree *node,
				    struct config_tsig_key *key)
{
	char *file, secret[4096];

	if (!*node->text) {
		document_refuse(&reader->document, node, node->text);
		return;
	}
	file = reader_path(reader, node->text);
	if (file && reader_private(reader, node, file, secret, sizeof(secret)))
		read_secret(reader, node, file, secret, key);
	explicit_bzero(secret, sizeof(secret));
	free(file);
}

static void warn_of_algorithm(const struct config_tsig_key *key)
{
	if (key->algorithm == TSIG_MD5 || key->algorithm == TSIG_SHA1)
		log_warn("keys: %s: %s is weak: use hmac-sha256 at both ends, if the other server "
			 "has it",
			 key->name, key->algorithm == TSIG_MD5 ? "hmac-md5" : "hmac-sha1");
}

void reader_check_keys(struct reader *reader)
{
	const struct yamltree *list = reader_find(reader, "keys");
	const struct yamltree *node = list ? list->first : NULL;
	struct config_tsig_key *key = reader->config->keys;

	for (; node && !reader->document.failed; key++, node = node->next) {
		const struct yamltree *file = yamltree_child(node, "secret-file");

		if (key->secret && file)
			document_fail(&reader->document, node, "secret",
				      "is given beside secret-file: keep one of them");
		else if (file)
			read_remote_secret_file(reader, file, key);
		else if (!key->secret)
			document_refuse_missing(&reader->document, node, "secret",
						words_find_key("keys[].secret"));
		warn_of_algorithm(key);
	}
}

/* --- Remotes ---------------------------------------------------------------------------------- */

static bool is_remote_wildcard(const struct config_addr *addr)
{
	static const uint8_t zeros[sizeof(addr->addr)];

	return !memcmp(addr->addr, zeros, sizeof(zeros));
}

/* The default port is that of TLS or of DNS. */
static void check_addresses(struct reader *reader, struct config_remote *remote,
			    const struct yamltree *node)
{
	const struct yamltree *list = yamltree_child(node, "address"), *item = list->first;
	uint16_t port = remote->tls == CONFIG_TLS_OFF ? 53 : 853;

	for (uint32_t i = 0; i < remote->n_addresses; i++, item = item->next) {
		struct config_addr *addr = &remote->addresses[i];

		if (!addr->net_port)
			addr->net_port = htons(port);
		if (is_remote_wildcard(addr))
			document_refuse(&reader->document, item, item->text);
	}
	reader_refuse_same(reader, list, remote->addresses, remote->n_addresses);
	for (uint32_t i = 1; i < remote->n_source; i++)
		if (i > 1 || remote->source[i].family == remote->source[0].family)
			document_fail(&reader->document, node, "source",
				      "has two addresses of one family: give one of IPv4, one of "
				      "IPv6, or both");
}

/* Keys that prove identity are for TLS alone, and strict TLS needs one of them. */
static void check_tls(struct reader *reader, const struct config_remote *remote,
		      const struct yamltree *node)
{
	const char *leaf = remote->tls_name   ? "tls-name" :
			   remote->tls_pin    ? "tls-pin" :
			   remote->tls_bundle ? "tls-bundle" :
						NULL;

	if (remote->tls == CONFIG_TLS_OFF && leaf)
		document_fail(&reader->document, node, leaf, "is for TLS: say tls: strict, too");
	else if (remote->tls == CONFIG_TLS_STRICT && !remote->tls_name && !remote->tls_pin)
		document_fail(&reader->document, node, "tls",
			      "strict needs tls-name or tls-pin, by which the server is known");
}

/* Names in certificates and in TLS have no final dot: RFC 6066 section 3. */
static void cut_tls_name(struct reader *reader, struct config_remote *remote,
			 const struct yamltree *node)
{
	const struct yamltree *name = yamltree_child(node, "tls-name");

	if (name && !strcmp(remote->tls_name, "."))
		document_refuse(&reader->document, name, name->text);
	else if (name)
		remote->tls_name[strlen(remote->tls_name) - 1] = '\0';
}

void reader_check_remotes(struct reader *reader)
{
	const struct yamltree *list = reader_find(reader, "remotes");
	const struct yamltree *node = list ? list->first : NULL;
	struct config_remote *remote = reader->config->remotes;

	for (; node && !reader->document.failed; remote++, node = node->next) {
		check_addresses(reader, remote, node);
		if (remote->key && !config_find_key(reader->config, remote->key))
			document_fail(&reader->document, node, "key",
				      "%s is none of keys: add it there, or correct the name",
				      remote->key);
		check_tls(reader, remote, node);
		cut_tls_name(reader, remote, node);
	}
}
