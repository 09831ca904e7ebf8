/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/new_start.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define SENTENCE "%s: changed: restart volleyd to use the new value"

void new_start_log(const struct config *running, const struct config *wanted)
{
	const struct words_key *key;

	for (unsigned int at = 0; (key = config_next_for_start(running, wanted, &at));)
		log_warn(SENTENCE, key->path);
}

void new_start_append(const struct config *running, const struct config *wanted, json_t *list)
{
	const struct words_key *key;

	for (unsigned int at = 0; (key = config_next_for_start(running, wanted, &at));)
		json_array_append_new(list, json_sprintf(SENTENCE, key->path));
}

static int check_new_start_storage(const struct config *running, const struct config *config,
				   char *err, size_t err_cap)
{
	for (uint32_t i = 0; !running->storage && i < config->n_zones; i++) {
		const char *leaf = config_zone_storage_key(&config->zones[i]);

		if (!leaf)
			continue;
		snprintf(err, err_cap,
			 "zone %s: %s needs server.storage, which no reload can open: restart "
			 "volleyd",
			 config->zones[i].name, leaf);
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Refuses an interface that has port: dpdk in `one` and is different or missing in `other`. */
static int check_dpdk(const struct config *one, const struct config *other, char *err,
		      size_t err_cap)
{
	for (uint32_t i = 0; i < one->n_interfaces; i++) {
		const struct config_interface *a = &one->interfaces[i];
		const struct config_interface *b = config_find_interface(other, a->name);

		if (a->port != CONFIG_PORT_DPDK || (b && config_interface_is_same(a, b)))
			continue;
		snprintf(err, err_cap,
			 "interfaces: %s: no reload can change an interface with port: dpdk: "
			 "restart volleyd",
			 a->name);
		return -EOPNOTSUPP;
	}
	return 0;
}

int new_start_check(const struct config *running, const struct config *before,
		    const struct config *config, char *err, size_t err_cap)
{
	int code = check_new_start_storage(running, config, err, err_cap);

	if (!code)
		code = check_dpdk(before, config, err, err_cap);
	return code ? code : check_dpdk(config, before, err, err_cap);
}
