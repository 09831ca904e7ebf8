/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zones of zonemgr, with entries that a test has made, and that stay its own. Who links this
 * links zonemgr. Control's thread is the test's.
 */
#ifndef VOLLEY_TESTS_LIB_MADEZONES_H
#define VOLLEY_TESTS_LIB_MADEZONES_H

#include "zonemgr/zones_steps.h"

/* With these n entries, whose owner they become. */
struct zones *madezones_new(const struct zones_env *env, struct zones_entry *const *entries,
			    size_t n);
/* From now on it is these. */
void madezones_set(struct zones *zones, struct zones_entry *const *entries, size_t n);
/* All but the entries and what is published. */
void madezones_free(struct zones *zones);

/* What zones were given, those of zones_new() too: it may change. */
struct zones_env *madezones_env(struct zones *zones);

/* Are there changes that are not told yet; is the first of them in the journal? */
bool madezones_has_made(const struct zones *zones);
bool madezones_is_journaled(const struct zones *zones);
/* Has an entry a version that is to be served? */
bool madezones_has_changed(const struct zones *zones);

#endif
