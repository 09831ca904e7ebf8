/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/reply_options.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

static void tell_state(const struct engine_data *published, struct volley_state *state)
{
	uint32_t at = !(state->options_at & 1);

	__atomic_store_n(&state->wall_ns, clock_wall_ahead_ns(), __ATOMIC_RELAXED);
	engine_options(published->identity, published->cookies, &state->options[at]);
	__atomic_store_n(&state->options_at, at, __ATOMIC_RELEASE);
	state->option_up_mask = engine_option_mask(published->identity);
}

void reply_options_tell_driver(const struct reply_options *o)
{
	if (o->cache->memory.state)
		tell_state(o->published, o->cache->memory.state);
	if (o->heartbeat->states[1])
		tell_state(o->published, o->heartbeat->states[1]);
}

static void on_secrets(void *user)
{
	reply_options_tell_driver(user);
}

static int wait_option_for_readers(void *user)
{
	const struct reply_options *o = user;

	return answer_cache_grace(o->cache);
}

static int open_cookies(struct reply_options *o, const struct config *config)
{
	const struct cookies_env env = {
		.published = o->published,
		.storage = config->storage,
		.tell = on_secrets,
		.grace = wait_option_for_readers,
		.user = o,
	};
	int code = cookies_new(&o->cookies, &env);
	char err[512];

	if (code) {
		log_error("start: DNS cookies: %s", err_text(code));
		return code;
	}
	code = cookies_configure(o->cookies, config, clock_wall_s(), err, sizeof(err));
	if (code)
		log_error("%s", err);
	return code;
}

int reply_options_open(struct reply_options *o, const struct config *config)
{
	struct engine_identity *identity = reply_options_make_identity(config);

	if (!identity) {
		log_error("start: %s", err_text(-ENOMEM));
		return -ENOMEM;
	}
	reply_options_put_identity(o, identity);
	return open_cookies(o, config);
}

void reply_options_close(struct reply_options *o)
{
	cookies_free(o->cookies);
	free(o->published->identity);
}

/* --- The server's identity -------------------------------------------------------------------- */

static void copy_option_text(char to[ENGINE_TEXT_MAX + 1], const char *text)
{
	if (text)
		memcpy(to, text, strnlen(text, ENGINE_TEXT_MAX));
}

struct engine_identity *reply_options_make_identity(const struct config *config)
{
	struct engine_identity *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	copy_option_text(made->version, config->version);
	copy_option_text(made->name, config->identity);
	assert(config->n_nsid <= sizeof(made->nsid));
	made->nsid_bytes = (uint16_t)config->n_nsid;
	if (config->n_nsid)
		memcpy(made->nsid, config->nsid, config->n_nsid);
	return made;
}

void reply_options_put_identity(struct reply_options *o, struct engine_identity *identity)
{
	struct engine_identity *old = o->published->identity;

	if (old && !memcmp(old, identity, sizeof(*old))) {
		free(identity);
		return;
	}
	rcu_xchg_pointer(&o->published->identity, identity);
	reply_options_tell_driver(o);
	if (old && answer_cache_grace(o->cache)) {
		(void)grace_wait_userspace(NULL);
		log_error("server.nsid: it is not known when the driver uses the new one: no grace "
			  "period");
	}
	free(old);
}
