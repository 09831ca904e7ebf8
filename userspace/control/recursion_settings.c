/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/recursion_settings.h"

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

/* Where make install puts what all configurations may share. */
#define ROOT_HINTS VOLLEY_SHARE "/root.hints"

/* --- For the resolver ---------------------------------------------------------------------------- */

static const char *choose_hints(const struct config_recursion *config)
{
	if (config->root_hints || config->forward)
		return config->root_hints;
	return access(ROOT_HINTS, R_OK) ? NULL : ROOT_HINTS;
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
	r->stubs = s->stubs;
	r->n_stubs = config->n_stubs;
	r->trust_anchor_file = config->trust_anchor;
	r->auto_trust_anchor_file = config->auto_trust_anchor;
	r->insecure = (const char *const *)config->domain_insecure;
	r->qname_minimisation = config->qname_minimisation;
	r->aggressive_nsec = config->aggressive_nsec;
	r->query_localhost = config->query_localhost;
	r->max_negative_ttl_s = config->max_negative_ttl_s;
	r->max_outstanding = config->max_outstanding;
	r->max_per_client = config->max_per_client;
	r->upstream_timeout_ms = config->upstream_timeout_ms;
	for (uint32_t i = 0; i < config->n_stubs; i++)
		s->stubs[i] = (struct resolver_stub){ .zone = config->stubs[i].zone,
						      .address = config->stubs[i].address };
	r->caps_for_id = config->has_caps_for_id ? config->caps_for_id : forward_suits(r);
}

/* --- For the engine ------------------------------------------------------------------------------ */

static void set_rules(struct recursion_settings *s, const struct config_recursion *config)
{
	s->rules = (struct engine_recursion){
		.max_ttl_s = config->max_ttl_s,
		.min_ttl_s = config->min_ttl_s,
		.max_negative_ttl_s = config->max_negative_ttl_s,
		.timeout_ms = config->query_timeout_ms,
		.stale_s = config->serve_stale_s,
		.stale_wait_ms = config->stale_client_timeout_ms,
		.prefetch = config->prefetch,
	};
}

static int set_special(struct recursion_settings *s, const struct config_recursion *config)
{
	const char **stubs = calloc(config->n_stubs + 1, sizeof(*stubs));
	struct special_config special = {
		.off = (const char *const *)config->special_names_off,
		.is_off = !config->special_names,
		.stubs = stubs,
		.insecure = (const char *const *)config->domain_insecure,
	};
	int err;

	if (!stubs)
		return -ENOMEM;
	for (uint32_t i = 0; i < config->n_stubs; i++)
		stubs[i] = config->stubs[i].zone;
	err = special_new(&s->special, &special);
	free(stubs);
	s->rules.special = s->special;
	return err;
}

/* --- To compare ---------------------------------------------------------------------------------- */

/* No text has a zero byte or a line break that is not its own: lines cannot be mistaken. */
static void put_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, "%s %zu %s\n", name, text ? strlen(text) + 1 : 0, text ? text : "");
}

static void put_file(FILE *out, const char *name, const char *path)
{
	struct stat st = { 0 };

	put_text(out, name, path);
	if (path && !stat(path, &st))
		fprintf(out, "%ju %jd %jd.%09ld\n", (uintmax_t)st.st_ino, (intmax_t)st.st_size,
			(intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* What other answers may come of. */
static void put_sources(FILE *out, const struct resolver_config *r)
{
	for (const char *const *f = r->forwards; f && *f; f++)
		put_text(out, "forward", *f);
	for (size_t i = 0; i < r->n_stubs; i++) {
		put_text(out, "stub", r->stubs[i].zone);
		put_text(out, "at", r->stubs[i].address);
	}
	for (const char *const *name = r->insecure; name && *name; name++)
		put_text(out, "insecure", *name);
	put_file(out, "anchor", r->trust_anchor_file);
	put_text(out, "auto", r->auto_trust_anchor_file);
}

static void put_ways(FILE *out, const struct resolver_config *r)
{
	put_file(out, "hints", r->root_hints);
	put_file(out, "tls", r->tls_bundle);
	fprintf(out, "%u %d %d %d %d %d %u %u %u %u\n", r->n_threads, r->transport,
		r->qname_minimisation, r->aggressive_nsec, r->caps_for_id, r->query_localhost,
		r->max_negative_ttl_s, r->max_outstanding, r->max_per_client,
		r->upstream_timeout_ms);
}

/* Which names are answered without upstream; a resolver does the same whatever they are. */
static void put_special(FILE *out, const struct config_recursion *config)
{
	fprintf(out, "special %d\n", config->special_names);
	for (char **name = config->special_names_off; name && *name; name++)
		put_text(out, "off", *name);
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
	put_special(out, config);
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
	put_ways(out, &s->resolver);
	return close_text(out);
}

int recursion_settings_make(struct recursion_settings *s, const struct config_recursion *config,
			    uint64_t engine_digest)
{
	int err = 0;

	*s = (struct recursion_settings){ 0 };
	if (config->n_stubs) {
		s->stubs = calloc(config->n_stubs, sizeof(*s->stubs));
		if (!s->stubs)
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
	free(s->text);
	*s = (struct recursion_settings){ 0 };
}
