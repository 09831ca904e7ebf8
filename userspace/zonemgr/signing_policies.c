/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which zones are kept signed and how, by the successive configurations. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "zonemgr/signing.h"
#include "zonemgr/zonemgr.h"
#include "zonemgr/zones_state.h"

void signing_policies_fini(struct signing_policies *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->policies[i].name);
		free(p->policies[i].key_folder);
	}
	free(p->policies);
	*p = (struct signing_policies){ 0 };
}

int signing_policies_set(struct signing_policies *p, const struct config *config)
{
	struct signing_policies next = { calloc(config->n_signing + 1, sizeof(*next.policies)), 0 };
	bool ok = next.policies;

	for (; ok && next.n < config->n_signing; next.n++) {
		struct config_signing *to = &next.policies[next.n];

		*to = config->signing[next.n];
		to->key_folder = to->key_folder ? strdup(to->key_folder) : NULL;
		to->name = strdup(to->name);
		ok = to->name && !to->key_folder == !config->signing[next.n].key_folder;
	}
	if (!ok) {
		signing_policies_fini(&next);
		return -ENOMEM;
	}
	signing_policies_fini(p);
	*p = next;
	return 0;
}

/* True if the last daemon has signed the zone. */
static bool was_signed(const struct zones_entry *entry)
{
	struct store *store = entry->owner->env.store;
	void *digest;
	size_t n;

	if (!store || store_get(store, entry->apex, ZONES_CONTENT_WORD, &digest, &n))
		return false;
	free(digest);
	return true;
}

static int check_signing_policy_folder(const struct zones_entry *entry, const struct config *config,
				       const char *storage, const char *name, char *err,
				       size_t err_cap)
{
	const struct config_signing *policy = name ? config_find_signing(config, name) : NULL;

	if (!policy || !entry->signing || signing_is_folder(entry->signing, policy, storage))
		return 0;
	snprintf(err, err_cap,
		 "signing %s: key-folder: the keys of zone %s stay in %s while volleyd runs: "
		 "stop volleyd, move the keys, and start it",
		 name, entry->name, signing_folder(entry->signing));
	return -EINVAL;
}

int signing_check(const struct zones *zones, const struct config *config, const char *storage,
		  char *err, size_t err_cap)
{
	int code = 0;

	/* no policy, or the same text: the folders are as they were */
	if (!config->n_signing || config->has_same_zones)
		return 0;
	for (uint32_t i = 0; !code && i < config->n_zones; i++) {
		const struct zones_entry *entry = zones_find(zones, config->zones[i].name);

		if (entry)
			code = check_signing_policy_folder(entry, config, storage,
							   config->zones[i].signing, err, err_cap);
	}
	for (size_t i = 0; !code && i < zones_n(zones); i++) {
		const struct zones_entry *entry = zones_at(zones, i);

		if (entry->is_member)
			code = check_signing_policy_folder(entry, config, storage,
							   entry->config->signing, err, err_cap);
	}
	return code;
}

#define OF_KEYS "signing: " /* usable keys end a storage_error that begins so */

static void forget_error(struct zones_entry *entry)
{
	if (!strncmp(sentence_text(&entry->stored.error), OF_KEYS, sizeof(OF_KEYS) - 1))
		sentence_clear(&entry->stored.error);
}

/* If the keys cannot be used, the version that was signed before is served as it is. Without one
 * the zone is not served: never unsigned. */
static void begin_signing(const struct config_signing *policy, const char *storage,
			  struct zones_entry *entry)
{
	char err[512];
	struct signing *next = signing_new(entry->apex, policy, storage,
					   zones_time(entry->owner)->wall_s, err, sizeof(err));

	if (next)
		forget_error(entry);
	else
		sentence_set(&entry->stored.error, OF_KEYS "%s", err);
	if (!next && !entry->signing && !entry->zone && was_signed(entry))
		next = signing_new_without_keys(entry->apex, storage,
						sentence_text(&entry->stored.error));
	if (!next)
		return;
	signing_free(entry->signing);
	entry->signing = next;
}

void signing_apply(const struct signing_policies *p, const char *storage, struct zones_entry *entry)
{
	const struct config_signing *policy = NULL;

	for (size_t i = 0; i < p->n && entry->config->signing; i++)
		if (!strcmp(p->policies[i].name, entry->config->signing))
			policy = &p->policies[i];
	if (policy && entry->signing && !signing_is_folder(entry->signing, policy, storage))
		log_warn("zone %s: its keys stay in %s until volleyd is restarted", entry->name,
			 signing_folder(entry->signing));
	if (policy && entry->signing && signing_folder(entry->signing)) {
		signing_set_policy(entry->signing, policy);
	} else if (policy) {
		begin_signing(policy, storage, entry);
	} else if (!entry->signing && !entry->zone && was_signed(entry)) {
		entry->signing = signing_new_without_keys(entry->apex, storage, "");
	}
}

void signing_end(struct zones_entry *entry)
{
	if (entry->config->signing)
		return;
	forget_error(entry);
	signing_free(entry->signing);
	entry->signing = NULL;
}
