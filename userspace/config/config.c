/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up items of a loaded configuration by name, and compares it with another one. */
#include "config/config.h"

#include <string.h>

const struct config_tsig_key *config_find_key(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_keys; i++)
		if (!strcmp(config->keys[i].name, name))
			return &config->keys[i];
	return NULL;
}

const struct config_remote *config_find_remote(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_remotes; i++)
		if (!strcmp(config->remotes[i].name, name))
			return &config->remotes[i];
	return NULL;
}

const struct config_signing *config_find_signing(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_signing; i++)
		if (!strcmp(config->signing[i].name, name))
			return &config->signing[i];
	return NULL;
}

const struct config_zone *config_find_template(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_templates; i++)
		if (!strcmp(config->templates[i].name, name))
			return &config->templates[i];
	return NULL;
}

const struct words_key *config_next_for_start(const struct config *running,
					      const struct config *next, unsigned int *at)
{
	const struct words_key *key;

	while ((key = words_key_at(*at))) {
		unsigned int number = (*at)++;

		if (running->start_digests[number] != next->start_digests[number])
			return key;
	}
	return NULL;
}

const struct config_interface *config_find_interface(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_interfaces; i++)
		if (!strcmp(config->interfaces[i].name, name))
			return &config->interfaces[i];
	return NULL;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Compares octet by octet, so a new field is compared, too. */
bool config_interface_is_same(const struct config_interface *a, const struct config_interface *b)
{
	struct config_interface x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	x.tunnel_sources = y.tunnel_sources = NULL;
	x.cores = y.cores = NULL;
	x.device = y.device = NULL;
	return !memcmp(&x, &y, sizeof(x)) &&
	       (!x.n_tunnel_sources || !memcmp(a->tunnel_sources, b->tunnel_sources,
					       x.n_tunnel_sources * sizeof(*a->tunnel_sources))) &&
	       (!x.n_cores || !memcmp(a->cores, b->cores, x.n_cores * sizeof(*a->cores))) &&
	       is_same_text(a->device, b->device);
}
