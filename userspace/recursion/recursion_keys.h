/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row for each key below `recursion`: where its value goes, and what a change of it needs.
 *
 *	field of struct config_recursion ─┬─► member of struct resolver_config, as it is
 *	                                  ├─► option of libunbound, as text
 *	                                  └─► member of struct engine_recursion, as it is
 *
 * recursion_settings.h makes all three from the rows. A value without any of them has a function of
 * its own there, or belongs to another part: the row says to which one. A change needs a flush if
 * the cached answers could be others with the new value, and a restart if the resolver asks in
 * another way.
 */
#ifndef VOLLEY_RECURSION_RECURSION_KEYS_H
#define VOLLEY_RECURSION_RECURSION_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/words.h"

/* What a change needs: bits. */
enum recursion_need {
	RECURSION_NOTHING = 0,
	RECURSION_FLUSH = 1,   /* of all cached answers from upstream */
	RECURSION_RESTART = 2, /* of the resolver */
	RECURSION_BOTH = RECURSION_FLUSH | RECURSION_RESTART,
};

/* A member; n_bytes 0: none. */
struct recursion_member {
	uint16_t at;
	uint16_t n_bytes;
};

struct recursion_key {
	const char *key; /* "max-ttl", "stubs[].zone" */
	enum recursion_need needs;
	enum recursion_need needs_unbound; /* more, while libunbound asks */
	/* in struct config_recursion; WORDS_NO_FIELD: the value is in the field of another row */
	enum words_field field;
	struct recursion_member config;
	struct recursion_member resolver; /* in struct resolver_config */
	struct recursion_member engine;   /* in struct engine_recursion */
	const char *option;               /* of libunbound, with the colon; NULL: none */
	bool option_if_given; /* 0 or false: libunbound decides. An old one lacks the option */
	bool is_file;         /* a file of this name that is written anew is a change, too */
};

extern const struct recursion_key recursion_keys[];
extern const size_t recursion_n_keys;

#endif
