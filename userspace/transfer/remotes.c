/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/remotes.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "config/addresses.h"
#include "dns/name.h"

static int make_remote_keys(struct remotes *remotes, const struct config *config, char *err,
			    size_t cap)
{
	struct tsig_key_source *sources = calloc(config->n_keys + 1, sizeof(*sources));
	uint8_t(*names)[DNS_NAME_MAX] = calloc(config->n_keys + 1, DNS_NAME_MAX);
	int code = sources && names ? 0 : -ENOMEM;

	for (uint32_t i = 0; !code && i < config->n_keys; i++) {
		const struct config_tsig_key *key = &config->keys[i];

		if (name_from_text(names[i], DNS_NAME_MAX, key->name, strlen(key->name)) < 0)
			code = -EINVAL;
		sources[i] = (struct tsig_key_source){
			.name = names[i],
			.algorithm = key->algorithm,
			.secret = key->secret,
			.secret_bytes = key->n_secret,
		};
	}
	if (!code)
		code = tsig_keys_new(&remotes->keys, sources, config->n_keys);
	free(sources);
	free(names);
	if (!code || code == -ENOMEM)
		return code;
	snprintf(err, cap, "the keys cannot be used: %s", err_text(code));
	return ERR_CONFIG;
}

static int copy_remote_text(char **out, const char *from)
{
	*out = from ? strdup(from) : NULL;
	return from && !*out ? -ENOMEM : 0;
}

static void take_sources(struct remote *remote, const struct config_remote *from)
{
	for (uint32_t i = 0; i < from->n_source; i++) {
		struct port_addr addr = config_port_addr(&from->source[i]);

		if (addr.family == AF_INET) {
			remote->source4 = addr;
			remote->has_source4 = true;
		} else {
			remote->source6 = addr;
			remote->has_source6 = true;
		}
	}
}

static int make_remote(struct remotes *remotes, struct remote *remote,
		       const struct config_remote *from, char *err, size_t cap)
{
	int code = copy_remote_text(&remote->name, from->name);

	if (!code)
		code = copy_remote_text(&remote->tls_name, from->tls_name);
	remote->peers = calloc(from->n_addresses, sizeof(*remote->peers));
	if (code || !remote->peers)
		return -ENOMEM;
	remote->n_peers = from->n_addresses;
	for (uint32_t i = 0; i < from->n_addresses; i++)
		remote->peers[i].addr = config_port_addr(&from->addresses[i]);
	take_sources(remote, from);
	remote->key = from->key ? remotes_key(remotes, from->key) : NULL;
	remote->tls = from->tls;
	remote->has_pin = from->tls_pin;
	if (from->tls_pin)
		memcpy(remote->pin, from->tls_pin, sizeof(remote->pin));
	return from->tls == CONFIG_TLS_OFF ? 0 : tls_out_new(&remote->tls_ctx, from, err, cap);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct remote *)a)->name, ((const struct remote *)b)->name);
}

static int make_remotes(struct remotes *remotes, const struct config *config, char *err, size_t cap)
{
	remotes->list = calloc(config->n_remotes + 1, sizeof(*remotes->list));
	if (!remotes->list)
		return -ENOMEM;
	for (; remotes->n < config->n_remotes; remotes->n++) {
		const struct config_remote *from = &config->remotes[remotes->n];
		struct remote *remote = &remotes->list[remotes->n];
		char why[256] = "";
		int code = make_remote(remotes, remote, from, why, sizeof(why));

		if (code) {
			remotes->n++; /* so that its finished part is freed, too */
			snprintf(err, cap, "remote %s: %s", from->name,
				 *why ? why : err_text(code));
			return code;
		}
	}
	qsort(remotes->list, remotes->n, sizeof(*remotes->list), by_name);
	return 0;
}

int remotes_new(struct remotes **out, const struct config *config, char *err, size_t err_cap)
{
	struct remotes *remotes = calloc(1, sizeof(*remotes));
	int code;

	if (!remotes)
		return -ENOMEM;
	remotes->n_refs = 1;
	remotes->n_transfers = config->n_transfers;
	remotes->n_transfers_out = config->n_transfers_out;
	code = make_remote_keys(remotes, config, err, err_cap);
	if (!code)
		code = make_remotes(remotes, config, err, err_cap);
	if (code) {
		remotes_put(remotes);
		return code;
	}
	*out = remotes;
	return 0;
}

struct remotes *remotes_get(struct remotes *remotes)
{
	remotes->n_refs++;
	return remotes;
}

static void fini_remote(struct remote *remote)
{
	for (uint32_t i = 0; i < remote->n_peers; i++)
		peer_fini(&remote->peers[i]);
	free(remote->peers);
	free(remote->name);
	free(remote->tls_name);
	SSL_CTX_free(remote->tls_ctx);
}

void remotes_put(struct remotes *remotes)
{
	if (!remotes || --remotes->n_refs)
		return;
	for (uint32_t i = 0; i < remotes->n; i++)
		fini_remote(&remotes->list[i]);
	free(remotes->list);
	tsig_keys_free(remotes->keys);
	free(remotes);
}

const struct tsig_key *remotes_key(const struct remotes *remotes, const char *name)
{
	uint8_t wire[DNS_NAME_MAX];

	if (name_from_text(wire, sizeof(wire), name, strlen(name)) < 0)
		return NULL;
	return tsig_keys_find(remotes->keys, wire);
}

struct remote *remotes_find(const struct remotes *remotes, const char *name)
{
	const struct remote wanted = { .name = (char *)(uintptr_t)name };

	return bsearch(&wanted, remotes->list, remotes->n, sizeof(wanted), by_name);
}

bool remote_has(const struct remote *remote, const struct port_addr *addr)
{
	for (uint32_t i = 0; i < remote->n_peers; i++)
		if (port_addr_same_host(&remote->peers[i].addr, addr))
			return true;
	return false;
}

const struct port_addr *remote_source(const struct remote *remote, const struct port_addr *to)
{
	if (to->family == AF_INET)
		return remote->has_source4 ? &remote->source4 : NULL;
	return remote->has_source6 ? &remote->source6 : NULL;
}
