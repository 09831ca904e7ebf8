/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is talked to about zones, and how they prove who they are: server.tls, keys, remotes. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "config/take.h"
#include "config/value.h"
#include "config/yamlwalk.h"

#define SECRET_OCTETS_MAX 1024u /* bounds of keys[].secret in words_zones.c */
#define PIN_OCTETS        32u

/* --- The TLS service ----------------------------------------------------------------------------- */

/* It is used all the same: who renews keys may have to see to it first. */
static void warn_of_readers(const char *file)
{
	struct stat st;

	if (file && !stat(file, &st) && st.st_mode & S_IROTH)
		log_warn("server.tls.key: everyone can read %s: chmod o-r it", file);
}

void take_tls(struct take *take)
{
	const struct config_raw_tls *raw = &take->raw->server.tls;
	struct config *config = take->config;
	char path[YAMLWALK_PATH_CAP];

	config->tls_listen =
		take_addresses(take, "server.tls.listen", &raw->listen, 853, &config->n_tls_listen);
	for (uint32_t i = 0; i < config->n_tls_listen && !take->source.failed; i++)
		for (uint32_t j = 0; j < config->n_listen; j++) {
			if (memcmp(&config->tls_listen[i], &config->listen[j],
				   sizeof(config->listen[j])) != 0)
				continue;
			snprintf(path, sizeof(path), "server.tls.listen[%u]", i);
			source_fail(&take->source, 0, path,
				    "is one of server.listen: give TLS a port of its own");
		}
	if (raw->certificate)
		config->tls_certificate =
			take_path(take, "server.tls.", "certificate", raw->certificate);
	if (raw->key)
		config->tls_key = take_path(take, "server.tls.", "key", raw->key);
	warn_of_readers(config->tls_key);
	if (raw->ticket_keys)
		config->tls_ticket_keys =
			take_path(take, "server.tls.", "ticket-keys", raw->ticket_keys);
	if (!raw->certificate != !raw->key)
		source_fail(&take->source, 0, "server.tls",
			    "certificate and key belong together: give both or none");
	if (raw->listen.n && !raw->certificate)
		source_fail(&take->source, 0, "server.tls.listen",
			    "needs server.tls.certificate and server.tls.key");
}

/* --- Keys ---------------------------------------------------------------------------------------- */

/* What is written, in that file or (NULL) here, is never shown: it may be most of a secret. */
static void take_secret(struct take *take, const char *path, const char *file, const char *text,
			struct config_tsig_key *key)
{
	const struct words_key *word = words_find_key("keys[].secret");
	uint8_t secret[SECRET_OCTETS_MAX];
	size_t n;
	int err = value_read_base64(text, word->min, word->max, secret, &n);

	if (err == -ERANGE)
		source_fail(
			&take->source, 0, path,
			"has %zu octets, give %zu to %zu: the output of openssl rand -base64 32, "
			"for example",
			n, (size_t)word->min, (size_t)word->max);
	else if (err && file)
		source_fail(&take->source, 0, path,
			    "%s does not hold base64: %zu to %zu octets, the output of openssl "
			    "rand -base64 32, for example",
			    file, (size_t)word->min, (size_t)word->max);
	else if (err)
		source_refuse_value(&take->source, path, "(hidden)");
	key->secret = err ? NULL : take_memory(take, n, 1);
	if (key->secret) {
		memcpy(key->secret, secret, n);
		key->n_secret = (uint32_t)n;
	}
	explicit_bzero(secret, sizeof(secret));
}

static void take_secret_file(struct take *take, const char *prefix, const char *text,
			     struct config_tsig_key *key)
{
	char *file = take_path(take, prefix, "secret-file", text);
	char path[YAMLWALK_PATH_CAP], secret[4096];

	if (!file)
		return;
	take_join_path(take, path, prefix, "secret-file");
	if (take_private(take, path, file, secret, sizeof(secret)))
		take_secret(take, path, file, secret, key);
	explicit_bzero(secret, sizeof(secret));
	free(file);
}

static void take_key(struct take *take, uint32_t at, const struct config_raw_key *raw)
{
	struct config_tsig_key *keys = take->config->keys;
	char prefix[YAMLWALK_PATH_CAP], path[YAMLWALK_PATH_CAP];

	snprintf(prefix, sizeof(prefix), "keys[%u].", at);
	take_join_path(take, path, prefix, "name");
	keys[at].name = take_domain(take, path, raw->name);
	for (uint32_t i = 0; i < at && keys[at].name; i++)
		if (!strcmp(keys[i].name, keys[at].name))
			take_refuse_twice(take, "keys", "name", at, i, keys[at].name);
	keys[at].algorithm =
		(enum config_tsig)take_number(take, prefix, "algorithm", raw->algorithm);
	take_join_path(take, path, prefix, "secret");
	if (raw->secret && raw->secret_file)
		source_fail(&take->source, 0, path,
			    "is given beside secret-file: keep one of them");
	else if (raw->secret_file)
		take_secret_file(take, prefix, raw->secret_file, &keys[at]);
	else if (raw->secret)
		take_secret(take, path, NULL, raw->secret, &keys[at]);
	else
		source_refuse_missing(&take->source, path);
}

void take_keys(struct take *take)
{
	struct config *config = take->config;

	config->keys = take_memory(take, take->raw->n_keys, sizeof(*config->keys));
	config->n_keys = config->keys ? take->raw->n_keys : 0;
	for (uint32_t i = 0; i < config->n_keys && !take->source.failed; i++)
		take_key(take, i, &take->raw->keys[i]);
}

/* --- Remotes ------------------------------------------------------------------------------------- */

static bool is_wildcard(const struct config_addr *addr)
{
	static const uint8_t zeros[sizeof(addr->addr)];

	return !memcmp(addr->addr, zeros, sizeof(zeros));
}

static void take_remote_addresses(struct take *take, struct config_remote *remote,
				  const char *prefix, const struct config_raw_remote *raw)
{
	char path[YAMLWALK_PATH_CAP], item[YAMLWALK_PATH_CAP];

	take_join_path(take, path, prefix, "address");
	if (!raw->address.n)
		source_refuse_missing(&take->source, path);
	remote->addresses = take_addresses(take, path, &raw->address,
					   remote->tls == CONFIG_TLS_OFF ? 53 : 853,
					   &remote->n_addresses);
	for (uint32_t i = 0; i < remote->n_addresses && !take->source.failed; i++) {
		if (!is_wildcard(&remote->addresses[i]))
			continue;
		snprintf(item, sizeof(item), "%.*s[%u]", YAMLWALK_PATH_CAP - 16, path, i);
		source_refuse_value(&take->source, item, raw->address.items[i]);
	}
	take_join_path(take, path, prefix, "source");
	remote->source = take_addresses(take, path, &raw->source, 0, &remote->n_source);
	for (uint32_t i = 1; i < remote->n_source; i++)
		if (i > 1 || remote->source[i].family == remote->source[0].family)
			source_fail(
				&take->source, 0, path,
				"has two addresses of one family: give one of IPv4, one of IPv6, "
				"or both");
}

static void take_remote_key(struct take *take, struct config_remote *remote, const char *prefix,
			    const char *text)
{
	char path[YAMLWALK_PATH_CAP];

	if (!text)
		return;
	take_join_path(take, path, prefix, "key");
	remote->key = take_domain(take, path, text);
	if (remote->key && !config_find_key(take->config, remote->key))
		source_fail(&take->source, 0, path, "%s is none of keys", remote->key);
}

static void take_pin(struct take *take, struct config_remote *remote, const char *prefix,
		     const char *text)
{
	char path[YAMLWALK_PATH_CAP];
	size_t n;

	remote->tls_pin = text ? take_memory(take, PIN_OCTETS, 1) : NULL;
	if (remote->tls_pin && value_read_base64(text, PIN_OCTETS, PIN_OCTETS, remote->tls_pin, &n))
		source_refuse_value(&take->source, take_join_path(take, path, prefix, "tls-pin"),
				    text);
}

/* Who says how to trust must mean to; who is strict must say how. */
static void check_remote_tls(struct take *take, const struct config_remote *remote,
			     const char *prefix, const struct config_raw_remote *raw)
{
	const char *leaf = raw->tls_name   ? "tls-name" :
			   raw->tls_pin    ? "tls-pin" :
			   raw->tls_bundle ? "tls-bundle" :
					     NULL;
	char path[YAMLWALK_PATH_CAP];

	if (remote->tls == CONFIG_TLS_OFF && leaf)
		source_fail(&take->source, 0, take_join_path(take, path, prefix, leaf),
			    "is for TLS: say tls: strict, too");
	else if (remote->tls == CONFIG_TLS_STRICT && !raw->tls_name && !raw->tls_pin)
		source_fail(&take->source, 0, take_join_path(take, path, prefix, "tls"),
			    "strict needs tls-name or tls-pin, by which the server is known");
}

/* Certificates and TLS itself have names without the last dot: RFC 6066 section 3. */
static char *take_tls_name(struct take *take, const char *path, const char *text)
{
	char *name = take_domain(take, path, text);

	if (name && !strcmp(name, "."))
		source_refuse_value(&take->source, path, text);
	if (name)
		name[strlen(name) - 1] = '\0';
	return name;
}

static void take_remote(struct take *take, uint32_t at, const struct config_raw_remote *raw)
{
	struct config_remote *remote = &take->config->remotes[at];
	char prefix[YAMLWALK_PATH_CAP], path[YAMLWALK_PATH_CAP];

	snprintf(prefix, sizeof(prefix), "remotes[%u].", at);
	remote->name = take_name(take, take_join_path(take, path, prefix, "name"), raw->name);
	for (uint32_t i = 0; i < at && remote->name; i++)
		if (!strcmp(take->config->remotes[i].name, remote->name))
			take_refuse_twice(take, "remotes", "name", at, i, remote->name);
	remote->tls = (enum config_tls)take_number(take, prefix, "tls", raw->tls);
	take_remote_addresses(take, remote, prefix, raw);
	take_remote_key(take, remote, prefix, raw->key);
	check_remote_tls(take, remote, prefix, raw);
	take_join_path(take, path, prefix, "tls-name");
	if (raw->tls_name)
		remote->tls_name = take_tls_name(take, path, raw->tls_name);
	if (raw->tls_bundle)
		remote->tls_bundle = take_path(take, prefix, "tls-bundle", raw->tls_bundle);
	take_pin(take, remote, prefix, raw->tls_pin);
}

void take_remotes(struct take *take)
{
	struct config *config = take->config;

	config->remotes = take_memory(take, take->raw->n_remotes, sizeof(*config->remotes));
	config->n_remotes = config->remotes ? take->raw->n_remotes : 0;
	for (uint32_t i = 0; i < config->n_remotes && !take->source.failed; i++)
		take_remote(take, i, &take->raw->remotes[i]);
}
