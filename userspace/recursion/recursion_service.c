/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recursion/recursion_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/log.h"
#include "base/started.h"
#include "cache/keeper.h"
#include "cache/generations.h"
#include "bpf/tables.h"
#include "config/words.h"
#include "recursion/recursion_settings.h"
#include "port/addr.h"
#include "resolver/anchors.h"
#include "resolver/unbound_version.h"

/* No zone has this apex, since folded names have no capital letters. */
static const uint8_t apex[] = "\011RECURSION";

/* The parts that are made from one configuration. */
struct setup {
	struct clients_list list;
	struct clients_list mapped;     /* for the driver: without the clients that are set apart */
	struct clients *clients;        /* NULL: the list is empty */
	struct engine_recursion *rules; /* NULL: no recursion */
	struct querier *resolver;       /* NULL: no recursion */
	struct recursion_settings settings;
};

/* A resolver that gets no new questions, and ends in the background. */
struct retired {
	struct background_job job; /* first */
	struct querier *resolver;
};

struct recursion {
	struct recursion_env env;
	struct executable program;
	char no_program[320]; /* why there is none; "": there is */
	char libunbound[32];
	struct bells bells;
	struct querier_env querier_env;
	struct config_recursion config;
	struct setup now;
	struct querier *published;    /* RCU: now.resolver, until the stop */
	struct clients_prefix *apart; /* recursion_set_apart() */
	size_t n_apart;
	bool is_apart_known;
	bool is_map_right;                  /* the driver's map holds exactly now.mapped */
	char root_copy[PORT_ADDR_TEXT_CAP]; /* "": there is none */
	char problem[128];
	struct querier_report process; /* recursion_process_problem() */
};

/* --- The end of a resolver -------------------------------------------------------------------- */

static void run_recursion(struct background_job *job)
{
	struct retired *retired = (struct retired *)job;

	querier_stop(retired->resolver);
	querier_free(retired->resolver);
	retired->resolver = NULL;
}

/* A job that has not run was cancelled. */
static void recursion_ended(struct background_job *job)
{
	struct retired *retired = (struct retired *)job;

	if (retired->resolver)
		run_recursion(job);
	free(retired);
}

/* No worker submits to the resolver any more. */
static void retire_recursion(struct recursion *r, struct retired *retired, struct querier *resolver)
{
	*retired = (struct retired){
		.job = { .run = run_recursion, .ended = recursion_ended },
		.resolver = resolver,
	};
	background_start(r->env.background, &retired->job);
}

/* --- The parts of a configuration ------------------------------------------------------------- */

/* For a setup that is not in place. Its resolver stays if it is also in place. */
static void setup_fini(struct recursion *r, struct setup *s)
{
	if (s->resolver && s->resolver != r->now.resolver) {
		querier_stop(s->resolver); /* it had no questions */
		querier_free(s->resolver);
	}
	free(s->rules);
	clients_free(s->clients);
	clients_list_fini(&s->list);
	clients_list_fini(&s->mapped);
	recursion_settings_fini(&s->settings);
}

/* WHY may begin with a key of recursion: "root-hints: ...". */
static void put_recursion_fault(char *err, size_t err_cap, const char *why)
{
	char path[64];

	snprintf(path, sizeof(path), "recursion.%.*s", (int)strcspn(why, ":"), why);
	snprintf(err, err_cap, "recursion%s%s", words_find_key(path) ? "." : ": ", why);
}

static void put_no_program(char *err, size_t err_cap, const char *why)
{
	snprintf(err, err_cap, "recursion: %s", why);
}

static int start_resolver(struct querier **out, const struct recursion_settings *settings,
			  const struct querier_env *env, char *err, size_t err_cap)
{
	char why[448] = "";
	int code;

	code = querier_start(out, &settings->resolver, env, why, sizeof(why));
	if (code)
		put_recursion_fault(err, err_cap, *why ? why : err_text(code));
	return code;
}

/*
 * The running resolver has read the followed anchor, and does not read it again. The next start
 * would, so an anchor that is missing in the file is reported now.
 */
static int check_followed_anchor(const struct recursion_settings *settings, char *err,
				 size_t err_cap)
{
	const char *path = settings->resolver.auto_trust_anchor_file;
	char why[256] = "";
	int code = path ? anchors_check(path, why, sizeof(why)) : 0;

	if (code)
		snprintf(err, err_cap, "recursion.auto-trust-anchor: %s: %s", path,
			 *why ? why : err_text(code));
	return code;
}

static int check_start(const struct recursion_settings *settings, char *err, size_t err_cap)
{
	struct executable program;
	struct querier *resolver;
	const struct querier_env env = { .program = &program };
	char why[320] = "";
	int code = executable_open(&program, NULL, why, sizeof(why));

	if (code) {
		put_no_program(err, err_cap, why);
		return code;
	}
	code = start_resolver(&resolver, settings, &env, err, err_cap);
	if (!code) {
		querier_stop(resolver);
		querier_free(resolver);
	}
	executable_close(&program);
	return code;
}

int recursion_check(const struct config *config, char *err, size_t err_cap)
{
	struct recursion_settings settings;
	int code;

	if (!config->recursion.n_allow)
		return 0;
	code = recursion_settings_make(&settings, &config->recursion, 0);
	if (code) {
		snprintf(err, err_cap, "recursion: %s", err_text(code));
		return code;
	}
	code = check_start(&settings, err, err_cap);
	if (code)
		config_locate(config, err, err_cap);
	recursion_settings_fini(&settings);
	return code;
}

/* The running resolver, if it works in the same way; otherwise a new one. */
static int choose_resolver(struct recursion *r, struct setup *s, char *err, size_t err_cap)
{
	if (*r->no_program) {
		put_no_program(err, err_cap, r->no_program);
		return ERR_CONFIG;
	}
	if (!r->now.resolver || strcmp(s->settings.text, r->now.settings.text) != 0)
		return start_resolver(&s->resolver, &s->settings, &r->querier_env, err, err_cap);
	s->resolver = r->now.resolver;
	return check_followed_anchor(&s->settings, err, err_cap);
}

/* With the present generation if answers may be kept; otherwise with a new one, to be committed. */
static int make_rules(struct recursion *r, struct setup *s)
{
	s->rules = malloc(sizeof(*s->rules));
	if (!s->rules)
		return -ENOMEM;
	*s->rules = s->settings.rules;
	cache_zone_prepare(r->env.cache, apex, sizeof(apex), s->settings.digest,
			   &s->rules->zone_slot, &s->rules->zone_gen);
	if (!s->rules->zone_slot)
		log_warn("recursion: no zone's slot in the cache is free: its answers are not "
			 "cached");
	return 0;
}

static int setup_make(struct setup *s, struct recursion *r, const struct config *config, char *err,
		      size_t err_cap)
{
	const struct config_recursion *recursion = &config->recursion;
	int code;

	*s = (struct setup){ 0 };
	snprintf(err, err_cap, "%s", err_text(-ENOMEM));
	code = clients_list_make(&s->list, config);
	if (!code)
		code = clients_list_without(&s->mapped, &s->list, r->apart, r->n_apart,
					    !r->is_apart_known && recursion->n_rpz);
	if (!code && s->list.n)
		code = clients_new(&s->clients, s->list.prefixes, s->list.n);
	if (!code && recursion->n_allow)
		code = recursion_settings_make(&s->settings, recursion, r->env.engine_digest);
	if (!code && recursion->root_copy && *r->root_copy)
		s->settings.resolver.root_copy = r->root_copy;
	if (!code && recursion->n_allow)
		code = choose_resolver(r, s, err, err_cap);
	if (code)
		config_locate(config, err, err_cap);
	if (!code && recursion->n_allow && r->env.make_room)
		code = r->env.make_room(r->env.room_user, recursion->max_outstanding);
	if (!code && recursion->n_allow)
		code = make_rules(r, s);
	if (code)
		setup_fini(r, s);
	return code;
}

/* --- Putting it in place ---------------------------------------------------------------------- */

/* Afterwards no worker uses earlier pointers. An error: the driver may still use an old answer. */
static int wait_recursion_for_readers(struct recursion *r)
{
	int err = r->env.grace(r->env.grace_user);

	if (err)
		(void)grace_wait_userspace(NULL);
	return err;
}

static void note_map(struct recursion *r, int err)
{
	r->is_map_right = !err;
	*r->problem = '\0';
	if (!err)
		return;
	snprintf(r->problem, sizeof(r->problem),
		 "the driver does not know all clients (%s): workers answer these", err_text(err));
	log_warn("%s", r->problem);
}

/* Begins the generation of new answers while readers go on. */
static void begin_generation(struct recursion *r, const struct setup *s)
{
	if (s->rules)
		cache_zone_commit(r->env.cache, s->rules->zone_slot, s->rules->zone_gen,
				  s->settings.digest);
	else if (r->now.rules)
		cache_zone_drop(r->env.cache, r->now.rules->zone_slot);
}

/*
 * A worker reads the pointer to the resolver first and the rules later. So if there was no
 * resolver, all workers get the resolver before the rules. Otherwise a question in between would be
 * SERVFAIL.
 */
static void begin_resolver(struct recursion *r, const struct setup *s)
{
	if (!s->resolver || r->published)
		return;
	rcu_xchg_pointer(&r->published, s->resolver);
	(void)wait_recursion_for_readers(r); /* even after an error all workers have it */
}

static void put_in_place_recursion(struct recursion *r, struct setup *s, struct retired *retired)
{
	bool is_map_right = r->is_map_right && clients_list_equal(&r->now.mapped, &s->mapped);
	struct setup old = r->now;
	int err = 0;

	if (!is_map_right)
		err = clients_map_restrict(r->env.clients_fd, &s->mapped);
	begin_resolver(r, s);
	rcu_xchg_pointer(&r->env.published->clients, s->clients);
	rcu_xchg_pointer(&r->env.published->recursion, s->rules);
	rcu_xchg_pointer(&r->published, s->resolver);
	begin_generation(r, s);
	if (wait_recursion_for_readers(r))
		log_error("recursion: the kernel gives no grace period, so a reader may still use "
			  "the old data");
	if (!is_map_right)
		note_map(r, err ? err : clients_map_extend(r->env.clients_fd, &s->mapped));
	r->now = *s;
	if (old.resolver && old.resolver != s->resolver) {
		retire_recursion(r, retired, old.resolver);
		retired = NULL;
	}
	free(retired);
	old.resolver = s->resolver;
	setup_fini(r, &old);
}

/* Changes only the driver's map; the engines' table has all clients. */
static void put_in_map(struct recursion *r, const struct clients_list *mapped)
{
	int err = clients_map_restrict(r->env.clients_fd, mapped);

	if (wait_recursion_for_readers(r))
		log_error("recursion: the kernel gives no grace period, so a reader may still use "
			  "the old data");
	note_map(r, err ? err : clients_map_extend(r->env.clients_fd, mapped));
}

int recursion_set_apart(struct recursion *r, const struct clients_prefix *prefixes, size_t n)
{
	struct clients_prefix *apart = malloc((n ? n : 1) * sizeof(*apart));
	struct clients_list mapped;

	if (!apart || clients_list_without(&mapped, &r->now.list, prefixes, n, false)) {
		free(apart);
		return -ENOMEM;
	}
	memcpy(apart, prefixes, n * sizeof(*apart));
	free(r->apart);
	r->apart = apart;
	r->n_apart = n;
	r->is_apart_known = true;
	if (!r->is_map_right || !clients_list_equal(&r->now.mapped, &mapped))
		put_in_map(r, &mapped);
	clients_list_fini(&r->now.mapped);
	r->now.mapped = mapped;
	if (n > CLIENTS_APART_MAX)
		log_warn("recursion.rpz: rules for %zu prefixes of clients: with more than %u, "
			 "workers answer all clients that recurse",
			 n, CLIENTS_APART_MAX);
	return 0;
}

static bool has_forwarder(const struct recursion *r)
{
	return r->now.resolver && forward_suits(&r->now.settings.resolver);
}

static void tell_recursion(const struct recursion *r)
{
	if (r->now.resolver && !has_forwarder(r) && !unbound_version_is_sound(r->libunbound))
		log_warn("recursion: libunbound %s is older than " UNBOUND_VERSION_SOUND
			 ": " UNBOUND_VERSION_REASON "; see volleyctl doctor",
			 r->libunbound);
	if (r->now.resolver)
		log_info("recursion: %s, %u threads, for %u prefixes%s",
			 r->config.forward ? "forwards" : "iterates", r->config.n_threads,
			 r->config.n_allow,
			 r->config.trust_anchor || r->config.auto_trust_anchor ?
				 "" :
				 "; nothing is validated: there is no trust anchor");
}

int recursion_configure(struct recursion *r, struct config *config, char *err, size_t err_cap)
{
	struct retired *retired = malloc(sizeof(*retired));
	struct config_recursion before;
	struct setup setup;
	int code;

	if (!retired) {
		snprintf(err, err_cap, "%s", err_text(-ENOMEM));
		return -ENOMEM;
	}
	code = setup_make(&setup, r, config, err, err_cap);
	if (code) {
		free(retired);
		return code;
	}
	put_in_place_recursion(r, &setup, retired);
	before = r->config;
	r->config = config->recursion;
	config->recursion = before;
	tell_recursion(r);
	return 0;
}

int recursion_flush(struct recursion *r)
{
	struct engine_recursion *rules, *old = r->now.rules;
	int err;

	if (!old || !old->zone_slot)
		return 0;
	rules = malloc(sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	*rules = *old;
	rules->zone_gen = cache_zone_flush(r->env.cache, old->zone_slot);
	rcu_xchg_pointer(&r->env.published->recursion, rules);
	r->now.rules = rules;
	err = wait_recursion_for_readers(r);
	free(old);
	return err;
}

/* Starts a new resolver with the settings in place. */
static int replace_resolver(struct recursion *r, char *err, size_t err_cap)
{
	struct retired *retired = malloc(sizeof(*retired));
	struct querier *resolver, *old = r->now.resolver;
	int code;

	if (!retired) {
		snprintf(err, err_cap, "%s", err_text(-ENOMEM));
		return -ENOMEM;
	}
	code = start_resolver(&resolver, &r->now.settings, &r->querier_env, err, err_cap);
	if (code) {
		free(retired);
		return code;
	}
	rcu_xchg_pointer(&r->published, resolver);
	(void)grace_wait_userspace(NULL);
	r->now.resolver = resolver;
	retire_recursion(r, retired, old);
	return 0;
}

int recursion_forget(struct recursion *r, char *err, size_t err_cap)
{
	if (!r->now.resolver || forward_suits(&r->now.settings.resolver))
		return 0;
	return replace_resolver(r, err, err_cap);
}

int recursion_set_root_copy(struct recursion *r, const char *address, char *err, size_t err_cap)
{
	struct resolver_config *config = &r->now.settings.resolver;
	char before[sizeof(r->root_copy)];
	int code = 0;

	if (!strcmp(r->root_copy, address ? address : ""))
		return 0;
	memcpy(before, r->root_copy, sizeof(before));
	snprintf(r->root_copy, sizeof(r->root_copy), "%s", address ? address : "");
	if (!r->now.resolver || !r->config.root_copy)
		return 0;
	config->root_copy = address ? r->root_copy : NULL;
	code = replace_resolver(r, err, err_cap);
	if (!code)
		return 0;
	memcpy(r->root_copy, before, sizeof(before));
	config->root_copy = *before ? r->root_copy : NULL;
	return code;
}

/* --- Questions -------------------------------------------------------------------------------- */

const struct config_recursion *recursion_config(const struct recursion *r)
{
	return &r->config;
}

struct querier **recursion_resolver(struct recursion *r)
{
	return &r->published;
}

uint32_t recursion_slot(const struct recursion *r)
{
	return r->now.rules ? r->now.rules->zone_slot : 0;
}

void recursion_set_cache(struct recursion *r, struct cache *cache)
{
	r->env.cache = cache;
}

bool recursion_restricts_zones(const struct recursion *r)
{
	return r->now.clients && clients_restrict_zones(r->now.clients);
}

void recursion_report(const struct recursion *r, struct recursion_report *out)
{
	*out = (struct recursion_report){
		.is_on = r->now.resolver,
		.has_own_forwarder = has_forwarder(r),
		.libunbound = r->libunbound,
		.resolver = r->now.resolver,
		.resolver_config = r->now.resolver ? &r->now.settings.resolver : NULL,
		.root_hints = r->now.settings.resolver.root_hints,
	};
	if (r->now.resolver)
		querier_report_read(r->now.resolver, &out->process);
}

const char *recursion_problem(const struct recursion *r)
{
	return r ? r->problem : "";
}

const char *recursion_process_problem(struct recursion *r)
{
	if (!r || !r->now.resolver)
		return "";
	querier_report_read(r->now.resolver, &r->process);
	return r->process.problem;
}

/* --- From start to end ------------------------------------------------------------------------ */

/* Without the program, only recursion fails. */
static int open_recursion(struct recursion *r)
{
	if (executable_open(&r->program, r->env.programs, r->no_program, sizeof(r->no_program)))
		log_warn("recursion is not possible: %s", r->no_program);
	started_ask_libunbound(&r->program, r->libunbound, sizeof(r->libunbound));
	r->querier_env = (struct querier_env){
		.program = &r->program,
		.bells = &r->bells,
		.tap = r->env.tap,
	};
	return bells_open(&r->bells, r->env.n_workers);
}

int recursion_new(struct recursion **out, const struct recursion_env *env)
{
	struct recursion *r = calloc(1, sizeof(*r));
	int code;

	if (!r)
		return -ENOMEM;
	r->env = *env;
	code = open_recursion(r);
	if (code) {
		bells_close(&r->bells);
		executable_close(&r->program);
		free(r);
		return code;
	}
	*out = r;
	return 0;
}

const struct bells *recursion_bells(const struct recursion *r)
{
	return &r->bells;
}

void recursion_stop(struct recursion *r)
{
	struct querier *resolver;

	if (!r)
		return;
	resolver = rcu_xchg_pointer(&r->published, NULL);
	if (!resolver)
		return;
	(void)grace_wait_userspace(NULL);
	querier_stop(resolver);
}

void recursion_free(struct recursion *r)
{
	if (!r)
		return;
	querier_free(r->now.resolver);
	r->now.resolver = NULL;
	rcu_xchg_pointer(&r->env.published->clients, NULL);
	rcu_xchg_pointer(&r->env.published->recursion, NULL);
	setup_fini(r, &r->now);
	config_recursion_fini(&r->config);
	free(r->apart);
	bells_close(&r->bells);
	executable_close(&r->program);
	free(r);
}
