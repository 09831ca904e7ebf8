/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of recursion in the forms that the resolver and the engine use, with two values
 * to compare: one for the settings of a resolver, one for the settings that answers depend on.
 *
 * Any thread.
 */
#ifndef VOLLEY_RECURSION_RECURSION_SETTINGS_H
#define VOLLEY_RECURSION_RECURSION_SETTINGS_H

#include <stdint.h>

#include "config/config.h"
#include "engine/engine.h"
#include "resolver/resolver_config.h"

struct recursion_settings {
	struct resolver_config resolver; /* points into the configuration, and to stubs */
	struct resolver_stub *stubs;     /* stubs and forward zones */
	struct recursion_tuning *tuning;
	struct engine_recursion rules; /* slot and generation are not set */
	struct special *special;       /* owned; rules point to it */
	/*
	 * Equal if a resolver would work in the same way. A file is compared by size and time; but
	 * that of auto_trust_anchor by name only, since the resolver itself writes to it.
	 */
	char *text;
	uint64_t digest[2]; /* equal if answers may be kept */
};

/*
 * engine_digest: engine_config_digest(). The configuration must live as long as .resolver is used.
 * rules.special lives as long as the settings. 0 or -ENOMEM.
 */
int recursion_settings_make(struct recursion_settings *s, const struct config_recursion *config,
			    uint64_t engine_digest) __attribute__((warn_unused_result));
void recursion_settings_fini(struct recursion_settings *s);

#endif
