/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the driver knows of EDNS options: the secrets of DNS cookies, and NSID. */
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "control/daemon_internal.h"

static void tell_options(const struct daemon *d, struct volley_state *state)
{
	uint32_t at = !(state->options_at & 1);

	state->wall_ns = clock_wall_ahead_ns();
	engine_options(&d->engine_config, d->published.cookies, &state->options[at]);
	__atomic_store_n(&state->options_at, at, __ATOMIC_RELEASE);
	state->option_up_mask = engine_option_mask(&d->engine_config);
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
