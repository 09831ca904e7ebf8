/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways to sign zones: the keys below signing. */
#include <stdio.h>
#include <string.h>

#include "config/take.h"
#include "config/yamlwalk.h"

#define FIELD(leaf, raw, member) \
	TAKE_FIELD(leaf, struct config_raw_signing, raw, struct config_signing, member)

static const struct take_field fields[] = {
	FIELD("algorithm", algorithm, algorithm),
	FIELD("keys", keys, single_key), /* ksk-zsk is 0, csk 1 */
	FIELD("denial", denial, denial),
	FIELD("nsec3-iterations", nsec3_iterations, nsec3_iterations),
	FIELD("nsec3-salt-length", nsec3_salt_length, nsec3_salt_bytes),
	FIELD("nsec3-opt-out", nsec3_opt_out, nsec3_opt_out),
	FIELD("cds", cds, cds),
	FIELD("signature-lifetime", signature_lifetime, signature_s),
	FIELD("refresh", refresh, refresh_s),
	FIELD("jitter", jitter, jitter_s),
	FIELD("dnskey-ttl", dnskey_ttl, dnskey_ttl_s),
	FIELD("zsk-lifetime", zsk_lifetime, zsk_lifetime_s),
	FIELD("ksk-lifetime", ksk_lifetime, ksk_lifetime_s),
	FIELD("propagation-delay", propagation_delay, propagation_s),
	FIELD("parent-ds-ttl", parent_ds_ttl, parent_ttl_s),
	FIELD("parent-propagation-delay", parent_propagation_delay, parent_propagation_s),
};

static void check_denial(struct take *take, const struct config_signing *signing,
			 const char *prefix, const struct config_raw_signing *raw)
{
	const char *leaf = raw->nsec3_iterations  ? "nsec3-iterations" :
			   raw->nsec3_salt_length ? "nsec3-salt-length" :
			   raw->nsec3_opt_out     ? "nsec3-opt-out" :
						    NULL;
	char path[YAMLWALK_PATH_CAP];

	if (leaf && signing->denial != CONFIG_DENIAL_NSEC3)
		source_fail(&take->source, 0, take_join_path(take, path, prefix, leaf),
			    "is for denial: nsec3, and denial is nsec");
}

static void check_signatures(struct take *take, const struct config_signing *signing,
			     const char *prefix, const struct config_raw_signing *raw)
{
	const char *leaf = raw->refresh ? "refresh" : raw->jitter ? "jitter" : "signature-lifetime";
	char path[YAMLWALK_PATH_CAP];

	if ((uint64_t)signing->refresh_s + signing->jitter_s >= signing->signature_s)
		source_fail(
			&take->source, 0, take_join_path(take, path, prefix, leaf),
			"refresh %u s and jitter %u s do not fit into signature-lifetime %u s: a "
			"signature would be renewed as soon as it is made",
			signing->refresh_s, signing->jitter_s, signing->signature_s);
}

/* A key lives longer than it takes to put the next one in its place (RFC 7583 sections 3.2 and 3.3). */
static void check_lifetime(struct take *take, const char *prefix, const char *leaf,
			   uint32_t lifetime_s, uint64_t rollover_s)
{
	char path[YAMLWALK_PATH_CAP];

	if (lifetime_s && lifetime_s <= rollover_s)
		source_fail(
			&take->source, 0, take_join_path(take, path, prefix, leaf),
			"is %u s, and a rollover takes %llu s and the longest TTL of a zone: give "
			"more",
			lifetime_s, (unsigned long long)rollover_s);
}

static void check_lifetimes(struct take *take, const struct config_signing *signing,
			    const char *prefix, const struct config_raw_signing *raw)
{
	uint64_t zsk_s = (uint64_t)signing->dnskey_ttl_s + 2ull * signing->propagation_s;
	uint64_t ksk_s = zsk_s + signing->parent_ttl_s + signing->parent_propagation_s;
	char path[YAMLWALK_PATH_CAP];

	if (signing->single_key && raw->zsk_lifetime)
		source_fail(&take->source, 0, take_join_path(take, path, prefix, "zsk-lifetime"),
			    "is for keys: ksk-zsk, and there is one key: give ksk-lifetime");
	if (!signing->single_key)
		check_lifetime(take, prefix, "zsk-lifetime", signing->zsk_lifetime_s, zsk_s);
	check_lifetime(take, prefix, "ksk-lifetime", signing->ksk_lifetime_s, ksk_s);
}

static void take_policy(struct take *take, uint32_t at, const struct config_raw_signing *raw)
{
	struct config_signing *signing = &take->config->signing[at];
	char prefix[YAMLWALK_PATH_CAP], path[YAMLWALK_PATH_CAP];

	snprintf(prefix, sizeof(prefix), "signing[%u].", at);
	signing->name = take_name(take, take_join_path(take, path, prefix, "name"), raw->name);
	if (signing->name && !strcmp(signing->name, "none"))
		source_fail(&take->source, 0, path, "none is what zones say that are not signed");
	for (uint32_t i = 0; i < at && signing->name; i++)
		if (!strcmp(take->config->signing[i].name, signing->name))
			take_refuse_twice(take, "signing", "name", at, i, signing->name);
	take_fields(take, prefix, fields, sizeof(fields) / sizeof(fields[0]), raw, signing, false);
	check_denial(take, signing, prefix, raw);
	check_signatures(take, signing, prefix, raw);
	check_lifetimes(take, signing, prefix, raw);
	if (raw->key_folder)
		signing->key_folder = take_path(take, prefix, "key-folder", raw->key_folder);
}

void take_signing(struct take *take)
{
	struct config *config = take->config;

	config->signing = take_memory(take, take->raw->n_signing, sizeof(*config->signing));
	config->n_signing = config->signing ? take->raw->n_signing : 0;
	for (uint32_t i = 0; i < config->n_signing && !take->source.failed; i++)
		take_policy(take, i, &take->raw->signing[i]);
}
