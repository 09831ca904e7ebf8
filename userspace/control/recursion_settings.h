/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the configuration says of recursion, for those who carry it out: the resolver, and the engine.
 * And two ways to compare: what a resolver is started with, and what answers depend on.
 *
 * Any thread.
 */
#ifndef VOLLEY_CONTROL_RECURSION_SETTINGS_H
#define VOLLEY_CONTROL_RECURSION_SETTINGS_H

#include <stdint.h>

#include "config/config.h"
#include "engine/engine.h"
#include "resolver/resolver.h"

struct recursion_settings {
	struct resolver_config resolver; /* points into the configuration, and to stubs */
	struct resolver_stub *stubs;     /* and forward zones */
	struct recursion_tuning *tuning;
	struct engine_recursion rules; /* slot and generation are not set */
	struct special *special;       /* that of rules */
	/*
	 * Equal where a resolver would do the same: with files as they were by size and time. The file of
	 * auto_trust_anchor is by name only, since the resolver itself writes to it.
	 */
	char *text;
	uint64_t digest[2]; /* equal where answers may be kept */
};

/*
 * engine_digest: engine_config_digest(). The configuration has to live as long as .resolver is used.
 * rules.special lives as long as the settings. 0 or -ENOMEM.
 */
int recursion_settings_make(struct recursion_settings *s, const struct config_recursion *config,
			    uint64_t engine_digest) __attribute__((warn_unused_result));
void recursion_settings_fini(struct recursion_settings *s);

#endif
