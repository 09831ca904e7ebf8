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

#include "base/files.h"
#include "base/siphash.h"
#include "dns/nameset.h"
#include "engine/special.h"
#include "recursion/recursion_keys.h"

/* make install puts shared files there. */
#define ROOT_HINTS VOLLEY_SHARE "/root.hints"

/* --- For the resolver ------------------------------------------------------------------------- */

static const char *choose_hints(const struct config_recursion *config)
{
	if (config->root_hints || config->forward)
		return config->root_hints;
	return access(ROOT_HINTS, R_OK) ? NULL : ROOT_HINTS;
}

/* A number or a flag that a row describes. */
static uint32_t read_key_number(const struct recursion_key *key, const void *at)
{
	uint32_t number;

	if (key->config.n_bytes == sizeof(bool))
		return *(const bool *)at;
	memcpy(&number, at, sizeof(number));
	return number;
}

static const void *find_value(const struct recursion_key *key,
			      const struct config_recursion *config)
{
	return (const char *)config + key->config.at;
}

struct recursion_tuning {
	struct resolver_option *options;
	size_t n;
	char (*numbers)[12]; /* by the row's place */
};

static void add_tuning(struct recursion_tuning *t, const char *name, const char *value)
{
	if (value)
		t->options[t->n++] = (struct resolver_option){ name, value };
}

static void add_tuning_number(struct recursion_tuning *t, size_t row, uint32_t number)
{
	const struct recursion_key *key = &recursion_keys[row];

	if (key->option_if_given && !number)
		return;
	snprintf(t->numbers[row], sizeof(t->numbers[row]), "%" PRIu32, number);
	add_tuning(t, key->option,
		   key->config.n_bytes != sizeof(bool) ? t->numbers[row] :
		   number                              ? "yes" :
							 "no");
}

/* The values whose rows name an option of libunbound. */
static void set_tuning(struct recursion_settings *s, const struct config_recursion *config)
{
	struct recursion_tuning *tuning = s->tuning;

	for (size_t row = 0; row < recursion_n_keys; row++) {
		const struct recursion_key *key = &recursion_keys[row];
		const void *value = find_value(key, config);

		if (!key->option)
			continue;
		if (key->field == WORDS_FIELD_NUMBER)
			add_tuning_number(tuning, row, read_key_number(key, value));
		else if (key->field == WORDS_FIELD_TEXT)
			add_tuning(tuning, key->option, *(char *const *)value);
		else
			for (char **text = *(char **const *)value; text && *text; text++)
				add_tuning(tuning, key->option, *text);
	}
	s->resolver.tuning = tuning->options;
	s->resolver.n_tuning = tuning->n;
}

static void free_tuning(struct recursion_tuning *tuning)
{
	if (!tuning)
		return;
	free(tuning->options);
	free(tuning->numbers);
	free(tuning);
}

/* With room for all options that these settings may have. */
static struct recursion_tuning *make_tuning(const struct config_recursion *config)
{
	struct recursion_tuning *tuning = calloc(1, sizeof(*tuning));
	size_t cap = recursion_n_keys;

	for (size_t i = 0; i < recursion_n_keys; i++)
		if (recursion_keys[i].option && recursion_keys[i].field == WORDS_FIELD_TEXTS)
			cap += nameset_length(*(
				const char *const *const *)find_value(&recursion_keys[i], config));
	if (!tuning)
		return NULL;
	tuning->options = calloc(cap, sizeof(*tuning->options));
	tuning->numbers = calloc(recursion_n_keys, sizeof(*tuning->numbers));
	if (tuning->options && tuning->numbers)
		return tuning;
	free_tuning(tuning);
	return NULL;
}

/* A zone with the same transport as all upstreams has RESOLVER_UDP, unless it is TLS. */
static void make_resolver_stubs(struct recursion_settings *s, const struct config_recursion *config)
{
	for (uint32_t i = 0; i < config->n_stubs + config->n_forward_zones; i++) {
		bool is_forward = i >= config->n_stubs;
		const struct config_stub *stub =
			is_forward ? &config->forward_zones[i - config->n_stubs] :
				     &config->stubs[i];
		bool is_usual = stub->transport == config->transport &&
				stub->transport != RESOLVER_TLS;

		s->stubs[i] = (struct resolver_stub){
			.zone = stub->zone,
			.address = stub->address,
			.is_forward = is_forward,
			.first = stub->first,
			.transport = is_usual ? RESOLVER_UDP : stub->transport,
		};
	}
	s->resolver.stubs = s->stubs;
	s->resolver.n_stubs = config->n_stubs + config->n_forward_zones;
}

/* Copies the values whose rows name a member. */
static void copy_values(struct recursion_settings *s, const struct config_recursion *config)
{
	for (size_t i = 0; i < recursion_n_keys; i++) {
		const struct recursion_key *key = &recursion_keys[i];
		const void *value = find_value(key, config);

		memcpy((char *)&s->resolver + key->resolver.at, value, key->resolver.n_bytes);
		memcpy((char *)&s->rules + key->engine.at, value, key->engine.n_bytes);
	}
}

static void set_resolver(struct recursion_settings *s, const struct config_recursion *config)
{
	struct resolver_config *r = &s->resolver;

	*r = (struct resolver_config)RESOLVER_CONFIG_INIT;
	copy_values(s, config);
	r->root_hints = choose_hints(config);
	make_resolver_stubs(s, config);
	set_tuning(s, config);
	if (!config->has_caps_for_id)
		r->caps_for_id = forward_suits(r);
	s->rules.dns64 = config->dns64_prefix;
	s->rules.keeps_cd = forward_suits(r);
}

/* --- For the engine --------------------------------------------------------------------------- */

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
	if (path && !regular_stat(path, &st))
		fprintf(out, "%ju %jd %jd.%09ld\n", (uintmax_t)st.st_ino, (intmax_t)st.st_size,
			(intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static void put_texts(FILE *out, const char *name, const char *const *texts)
{
	for (; texts && *texts; texts++)
		put_recursion_setting_text(out, name, *texts);
}

static void put_resolver_stubs(FILE *out, const struct resolver_config *r, const char *key)
{
	bool is_forward = !strcmp(key, "forward-zones");

	for (size_t i = 0; i < r->n_stubs; i++) {
		const struct resolver_stub *stub = &r->stubs[i];

		if (stub->is_forward != is_forward)
			continue;
		put_recursion_setting_text(out, key, stub->zone);
		put_recursion_setting_text(out, "at", stub->address);
		fprintf(out, "%d %d\n", stub->first, stub->transport);
	}
}

/* As the resolver has the value, if it has it. */
static void put_value(FILE *out, const struct recursion_key *key,
		      const struct recursion_settings *s, const struct config_recursion *config)
{
	const void *value = key->resolver.n_bytes ? (const char *)&s->resolver + key->resolver.at :
						    find_value(key, config);

	switch (key->field) {
	case WORDS_FIELD_NUMBER:
		fprintf(out, "%s %" PRIu32 "\n", key->key, read_key_number(key, value));
		break;
	case WORDS_FIELD_TEXT:
		if (key->is_file)
			put_recursion_setting_file(out, key->key, *(const char *const *)value);
		else
			put_recursion_setting_text(out, key->key, *(const char *const *)value);
		break;
	case WORDS_FIELD_TEXTS:
		put_texts(out, key->key, *(const char *const *const *)value);
		break;
	case WORDS_FIELD_STRUCTS:
		put_resolver_stubs(out, &s->resolver, key->key);
		break;
	default:
		break;
	}
}

/* The values whose change needs that. If our own forwarder asks, it ignores libunbound's. */
static void put_values(FILE *out, enum recursion_need need, const struct recursion_settings *s,
		       const struct config_recursion *config)
{
	bool is_unbound = !forward_suits(&s->resolver);

	fprintf(out, "libunbound %d\n", is_unbound);
	for (size_t i = 0; i < recursion_n_keys; i++) {
		const struct recursion_key *key = &recursion_keys[i];

		if ((key->needs | (is_unbound ? key->needs_unbound : 0)) & need)
			put_value(out, key, s, config);
	}
}

static void set_digest(struct recursion_settings *s, const char *text)
{
	static const uint8_t keys[2][SIPHASH_KEY_BYTES] = { "volley recur. 0", "volley recur. 1" };

	for (unsigned int i = 0; i < 2; i++)
		s->digest[i] = siphash24(keys[i], text, strlen(text));
}

/* The text of put_values() in *TEXT, for free(). 0 or -ENOMEM, and nothing to free. */
static int write_values(char **text, enum recursion_need need, const struct recursion_settings *s,
			const struct config_recursion *config, uint64_t engine_digest)
{
	size_t n;
	FILE *out = open_memstream(text, &n);
	bool is_whole;

	if (!out)
		return -ENOMEM;
	put_values(out, need, s, config);
	fprintf(out, "%" PRIx64 "\n", engine_digest);
	is_whole = !ferror(out);
	if (!fclose(out) && is_whole)
		return 0;
	free(*text);
	*text = NULL;
	return -ENOMEM;
}

static int compare_by(struct recursion_settings *s, const struct config_recursion *config,
		      uint64_t engine_digest)
{
	char *text;

	if (write_values(&text, RECURSION_FLUSH, s, config, engine_digest))
		return -ENOMEM;
	set_digest(s, text);
	free(text);
	return write_values(&s->text, RECURSION_RESTART, s, config, 0);
}

int recursion_settings_make(struct recursion_settings *s, const struct config_recursion *config,
			    uint64_t engine_digest)
{
	int err = 0;

	*s = (struct recursion_settings){ 0 };
	s->stubs = calloc(config->n_stubs + config->n_forward_zones + 1, sizeof(*s->stubs));
	s->tuning = make_tuning(config);
	if (!s->stubs || !s->tuning) {
		recursion_settings_fini(s);
		return -ENOMEM;
	}
	set_resolver(s, config);
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
	free_tuning(s->tuning);
	free(s->text);
	*s = (struct recursion_settings){ 0 };
}
