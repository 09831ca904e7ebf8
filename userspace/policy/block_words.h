/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A block as people write it: PREFIX, NAME or TYPE.
 *
 *      192.0.2.0/24  2001:db8::/32  192.0.2.7      a prefix of clients, or a client
 *      example.com   example.                      a name and all below it
 *      ANY  TXT  TYPE65280                         a type: without a dot ("mx." is a name)
 *
 * Pure; any thread.
 */
#ifndef VOLLEY_POLICY_BLOCK_WORDS_H
#define VOLLEY_POLICY_BLOCK_WORDS_H

#include <stddef.h>

#include "limits/block_table.h"

#define BLOCK_WORDS_CAP 1024 /* more than a name whose octets are all escaped */

/*
 * Reads `what`; writes its canonical form to `text` (BLOCK_WORDS_CAP octets), unless that is NULL.
 * 0, or -EINVAL: it is none of the three.
 */
int block_words_read(const char *what, const struct volley_block_head *secrets,
		     struct volley_block_key *key, char *text) __attribute__((warn_unused_result));

/* The word of an action, and the action of a word (-EINVAL: unknown). */
const char *block_words_action(enum volley_block_action action);
int block_words_read_action(const char *word) __attribute__((warn_unused_result));

#endif
