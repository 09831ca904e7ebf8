/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes into replies beside the answer: the secrets of DNS cookies, NSID, and what the server says of itself. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "daemon/daemon_internal.h"

static void tell_options(const struct daemon *d, struct volley_state *state)
{
	uint32_t at = !(state->options_at & 1);

	state->wall_ns = clock_wall_ahead_ns();
	engine_options(d->published.identity, d->published.cookies, &state->options[at]);
	__atomic_store_n(&state->options_at, at, __ATOMIC_RELEASE);
	state->option_up_mask = engine_option_mask(d->published.identity);
}

void daemon_tell_options(struct daemon *d)
{
	if (d->memory.state)
		tell_options(d, d->memory.state);
	if (d->alive[1])
		tell_options(d, d->alive[1]);
}

static void on_secrets(void *user)
{
	daemon_tell_options(user);
}

int daemon_open_cookies(struct daemon *d)
{
	const struct cookies_env env = {
		.published = &d->published,
		.storage = d->config->storage,
		.tell = on_secrets,
		.grace = daemon_grace,
		.user = d,
	};
	int code = cookies_new(&d->cookies, &env);
	char err[512];

	if (code) {
		log_error("start: DNS cookies: %s", err_text(code));
		return code;
	}
	code = cookies_configure(d->cookies, d->config, clock_wall_s(), err, sizeof(err));
	if (code)
		log_error("%s", err);
	return code;
}

/* --- What the server says of itself -------------------------------------------------------------- */

static void copy_text(char to[ENGINE_TEXT_MAX + 1], const char *text)
{
	if (text)
		memcpy(to, text, strnlen(text, ENGINE_TEXT_MAX));
}

struct engine_identity *daemon_make_identity(const struct config *config)
{
	struct engine_identity *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	copy_text(made->version, config->version);
	copy_text(made->name, config->identity);
	assert(config->n_nsid <= sizeof(made->nsid));
	made->nsid_bytes = (uint16_t)config->n_nsid;
	if (config->n_nsid)
		memcpy(made->nsid, config->nsid, config->n_nsid);
	return made;
}

void daemon_put_identity(struct daemon *d, struct engine_identity *identity)
{
	struct engine_identity *old = d->published.identity;

	if (old && !memcmp(old, identity, sizeof(*old))) {
		free(identity);
		return;
	}
	rcu_xchg_pointer(&d->published.identity, identity);
	daemon_tell_options(d);
	if (old && daemon_grace(d)) {
		(void)grace_wait_userspace(NULL);
		log_error("server.nsid: the kernel does not say when the driver has the new one");
	}
	free(old);
}
