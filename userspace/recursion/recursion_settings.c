/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recursion/recursion_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/siphash.h"
#include "engine/special.h"
#include "resolver/forward.h"

/* make install puts shared files there. */
#define ROOT_HINTS VOLLEY_SHARE "/root.hints"

/* --- For the resolver ------------------------------------------------------------------------- */

static const char *choose_hints(const struct config_recursion *config)
{
	if (config->root_hints || config->forward)
		return config->root_hints;
	return access(ROOT_HINTS, R_OK) ? NULL : ROOT_HINTS;
}

/*
 * Keys that only set an option of libunbound, with its name there. An option that 1.17 lacks is set
 * only if its key is given: with false and 0 libunbound decides.
 */
static const struct {
	const char *option;
	size_t at;
	bool is_number;
	bool is_newer;
} tuned[] = {
#define AT(member) offsetof(struct config_recursion, member)
#define FLAG(option, member)                     \
	{                                        \
		option, AT(member), false, false \
	}
#define NUMBER(option, member)                  \
	{                                       \
		option, AT(member), true, false \
	}
	FLAG("do-ip4:", do_ip4),
	FLAG("do-ip6:", do_ip6),
	FLAG("qname-minimisation-strict:", qname_minimisation_strict),
	FLAG("root-key-sentinel:", root_key_sentinel),
	FLAG("harden-glue:", harden_glue),
	FLAG("harden-referral-path:", harden_referral_path),
	FLAG("harden-dnssec-stripped:", harden_dnssec_stripped),
	FLAG("harden-algo-downgrade:", harden_algo_downgrade),
	NUMBER("max-query-restarts:", max_query_restarts),
	{ "harden-unverified-glue:", AT(harden_unverified_glue), false, true },
	{ "harden-unknown-additional:", AT(harden_unknown_additional), false, true },
	{ "max-global-quota:", AT(max_global_quota), true, true },
#undef AT
#undef FLAG
#undef NUMBER
};

#define N_TUNED (sizeof(tuned) / sizeof(tuned[0]))

struct recursion_tuning {
	struct resolver_option options[N_TUNED + 1];
	char numbers[N_TUNED][12];
};

static void set_tuning(struct recursion_settings *s, const struct config_recursion *config)
{
	struct recursion_tuning *tuning = s->tuning;
	size_t n = 0;

	for (size_t i = 0; i < N_TUNED; i++) {
		const char *at = (const char *)config + tuned[i].at;
		uint32_t value = tuned[i].is_number ? *(const uint32_t *)(const void *)at :
						      *(const bool *)at;

		if (tuned[i].is_newer && !value)
			continue;
		snprintf(tuning->numbers[i], sizeof(tuning->numbers[i]), "%" PRIu32, value);
		tuning->options[n++] = (struct resolver_option){
			.name = tuned[i].option,
			.value = tuned[i].is_number ? tuning->numbers[i] :
				 value              ? "yes" :
						      "no",
		};
	}
	if (config->target_fetch_policy)
		tuning->options[n++] = (struct resolver_option){ "target-fetch-policy:",
								 config->target_fetch_policy };
	s->resolver.tuning = tuning->options;
	s->resolver.n_tuning = n;
}

/* A zone with the same transport as all upstreams has RESOLVER_UDP, unless it is TLS. */
static void set_recursion_setting_stubs(struct recursion_settings *s,
					const struct config_recursion *config)
{
	for (uint32_t i = 0; i < config->n_stubs + config->n_forward_zones; i++) {
		bool is_forward = i >= config->n_stubs;
		const struct config_stub *stub =
			is_forward ? &config->forward_zones[i - config->n_stubs] :
				     &config->stubs[i];
		bool is_usual = stub->transport == config->transport &&
				stub->transport != CONFIG_TRANSPORT_TLS;

		s->stubs[i] = (struct resolver_stub){
			.zone = stub->zone,
			.address = stub->address,
			.is_forward = is_forward,
			.first = stub->first,
			.transport = is_usual ? RESOLVER_UDP :
						(enum resolver_transport)stub->transport,
		};
	}
	s->resolver.stubs = s->stubs;
	s->resolver.n_stubs = config->n_stubs + config->n_forward_zones;
}

static void set_names(struct resolver_config *r, const struct config_recursion *config)
{
	r->insecure = (const char *const *)config->domain_insecure;
	r->caps_exempt = (const char *const *)config->caps_exempt;
	r->private_addresses = (const char *const *)config->private_address;
	r->private_domains = (const char *const *)config->private_domain;
	r->outgoing_interfaces = (const char *const *)config->outgoing_interface;
	r->dns64_prefix = config->dns64_prefix;
	r->dns64_synthall = config->dns64_synthall;
}

static void set_resolver(struct recursion_settings *s, const struct config_recursion *config)
{
	struct resolver_config *r = &s->resolver;

	*r = (struct resolver_config)RESOLVER_CONFIG_INIT;
	r->n_threads = config->n_threads;
	r->root_hints = choose_hints(config);
	r->forwards = (const char *const *)config->forward;
	r->transport = (enum resolver_transport)config->transport;
	r->tls_bundle = config->tls_bundle;
	r->forward_first = config->forward_first;
	r->trust_anchor_file = config->trust_anchor;
	r->auto_trust_anchor_file = config->auto_trust_anchor;
	r->qname_minimisation = config->qname_minimisation;
	r->aggressive_nsec = config->aggressive_nsec;
	r->query_localhost = config->query_localhost;
	r->max_ttl_s = config->max_ttl_s;
	r->min_ttl_s = config->min_ttl_s;
	r->max_negative_ttl_s = config->max_negative_ttl_s;
	r->msg_retry = config->outbound_msg_retry;
	r->max_outstanding = config->max_outstanding;
	r->max_per_client = config->max_per_client;
	r->upstream_timeout_ms = config->upstream_timeout_ms;
	set_names(r, config);
	set_recursion_setting_stubs(s, config);
	set_tuning(s, config);
	r->caps_for_id = config->has_caps_for_id ? config->caps_for_id : forward_suits(r);
}

/* --- For the engine --------------------------------------------------------------------------- */

static void set_rules(struct recursion_settings *s, const struct config_recursion *config)
{
	s->rules = (struct engine_recursion){
		.max_ttl_s = config->max_ttl_s,
		.min_ttl_s = config->min_ttl_s,
		.max_negative_ttl_s = config->max_negative_ttl_s,
		.timeout_ms = config->query_timeout_ms,
		.stale_s = config->serve_stale_s,
		.stale_wait_ms = config->stale_client_timeout_ms,
		.stale_ttl_s = config->stale_reply_ttl_s,
		.cuts = config->harden_below_nxdomain,
		.dns64 = config->dns64_prefix,
		.prefetch = config->prefetch,
		.keeps_cd = forward_suits(&s->resolver),
	};
}

static int set_special(struct recursion_settings *s, const struct config_recursion *config)
{
	const char **stubs = calloc(s->resolver.n_stubs + 1, sizeof(*stubs));
	struct special_config special = {
		.off = (const char *const *)config->special_names_off,
		.is_off = !config->special_names,
		.stubs = stubs,
		.insecure = (const char *const *)config->domain_insecure,
	};
	int err;

	if (!stubs)
		return -ENOMEM;
	for (size_t i = 0; i < s->resolver.n_stubs; i++)
		stubs[i] = s->stubs[i].zone;
	err = special_new(&s->special, &special);
	free(stubs);
	s->rules.special = s->special;
	return err;
}

/* --- To compare ------------------------------------------------------------------------------- */

/* Writes the length before each text, so different settings never give the same lines. */
static void put_recursion_setting_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, "%s %zu %s\n", name, text ? strlen(text) + 1 : 0, text ? text : "");
}

static void put_recursion_setting_file(FILE *out, const char *name, const char *path)
{
	struct stat st = { 0 };

	put_recursion_setting_text(out, name, path);
	if (path && !stat(path, &st))
		fprintf(out, "%ju %jd %jd.%09ld\n", (uintmax_t)st.st_ino, (intmax_t)st.st_size,
			(intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static void put_texts(FILE *out, const char *name, const char *const *texts)
{
	for (; texts && *texts; texts++)
		put_recursion_setting_text(out, name, *texts);
}

/* Settings of libunbound alone. If our forwarder asks, they change nothing. */
static void put_tuning(FILE *out, const struct resolver_config *r)
{
	if (forward_suits(r))
		return;
	for (size_t i = 0; i < r->n_tuning; i++)
		put_recursion_setting_text(out, r->tuning[i].name, r->tuning[i].value);
	put_texts(out, "private", r->private_addresses);
	put_texts(out, "private domain", r->private_domains);
	put_recursion_setting_text(out, "dns64", r->dns64_prefix);
	fprintf(out, "%d %d\n", r->dns64_synthall, r->forward_first);
}

/* Settings that can change answers. */
static void put_sources(FILE *out, const struct resolver_config *r)
{
	put_texts(out, "forward", r->forwards);
	for (size_t i = 0; i < r->n_stubs; i++) {
		put_recursion_setting_text(out, r->stubs[i].is_forward ? "forward zone" : "stub",
					   r->stubs[i].zone);
		put_recursion_setting_text(out, "at", r->stubs[i].address);
		fprintf(out, "%d %d\n", r->stubs[i].first, r->stubs[i].transport);
	}
	put_texts(out, "insecure", r->insecure);
	put_tuning(out, r);
	put_recursion_setting_file(out, "anchor", r->trust_anchor_file);
	put_recursion_setting_text(out, "auto", r->auto_trust_anchor_file);
}

/* The address of the root copy is not compared: recursion_set_root_copy(). */
static void put_recursion_setting_ways(FILE *out, const struct resolver_config *r,
				       bool has_root_copy)
{
	put_recursion_setting_file(out, "hints", r->root_hints);
	put_recursion_setting_file(out, "tls", r->tls_bundle);
	put_texts(out, "caps exempt", r->caps_exempt);
	put_texts(out, "from", r->outgoing_interfaces);
	fprintf(out, "root copy %d\n", has_root_copy);
	if (!forward_suits(r))
		fprintf(out, "%u %u\n", r->max_ttl_s, r->min_ttl_s);
	fprintf(out, "%u %u %d %d %d %d %d %u %u %u %u\n", r->msg_retry, r->n_threads, r->transport,
		r->qname_minimisation, r->aggressive_nsec, r->caps_for_id, r->query_localhost,
		r->max_negative_ttl_s, r->max_outstanding, r->max_per_client,
		r->upstream_timeout_ms);
}

/* Names that are answered without upstream. They change answers, but not the resolver. */
static void put_recursion_setting_special(FILE *out, const struct config_recursion *config)
{
	fprintf(out, "special %d\n", config->special_names);
	for (char **name = config->special_names_off; name && *name; name++)
		put_recursion_setting_text(out, "off", *name);
}

static void put_rules(FILE *out, const struct engine_recursion *rules, uint64_t engine_digest)
{
	fprintf(out, "%u %u %u %" PRIx64 "\n", rules->max_ttl_s, rules->min_ttl_s,
		rules->max_negative_ttl_s, engine_digest);
}

static void set_digest(struct recursion_settings *s, const char *text)
{
	static const uint8_t keys[2][SIPHASH_KEY_BYTES] = { "volley recur. 0", "volley recur. 1" };

	for (unsigned int i = 0; i < 2; i++)
		s->digest[i] = siphash24(keys[i], text, strlen(text));
}

static int close_text(FILE *out)
{
	int err = ferror(out) ? -ENOMEM : 0;

	return fclose(out) ? -ENOMEM : err;
}

static int compare_by(struct recursion_settings *s, const struct config_recursion *config,
		      uint64_t engine_digest)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	int err;

	if (!out)
		return -ENOMEM;
	put_sources(out, &s->resolver);
	put_recursion_setting_special(out, config);
	put_rules(out, &s->rules, engine_digest);
	err = close_text(out);
	if (!err)
		set_digest(s, text);
	free(text);
	if (err)
		return err;
	out = open_memstream(&s->text, &n);
	if (!out)
		return -ENOMEM;
	put_sources(out, &s->resolver);
	put_recursion_setting_ways(out, &s->resolver, config->root_copy);
	return close_text(out);
}

int recursion_settings_make(struct recursion_settings *s, const struct config_recursion *config,
			    uint64_t engine_digest)
{
	int err = 0;

	*s = (struct recursion_settings){ 0 };
	s->stubs = calloc(config->n_stubs + config->n_forward_zones + 1, sizeof(*s->stubs));
	s->tuning = calloc(1, sizeof(*s->tuning));
	if (!s->stubs || !s->tuning) {
		recursion_settings_fini(s);
		return -ENOMEM;
	}
	set_resolver(s, config);
	set_rules(s, config);
	err = set_special(s, config);
	if (!err)
		err = compare_by(s, config, engine_digest);
	if (err)
		recursion_settings_fini(s);
	return err;
}

void recursion_settings_fini(struct recursion_settings *s)
{
	special_free(s->special);
	free(s->stubs);
	free(s->tuning);
	free(s->text);
	*s = (struct recursion_settings){ 0 };
}
