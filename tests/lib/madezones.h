/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zones of zonemgr, with entries that a test has made and keeps. A test that links this links
 * zonemgr. The test's thread is control's thread.
 */
#ifndef VOLLEY_TESTS_LIB_MADEZONES_H
#define VOLLEY_TESTS_LIB_MADEZONES_H

#include "zonemgr/entry.h"
#include "zonemgr/zonemgr.h"

/* Makes zones with these n entries, which they own from then on. */
struct zones *madezones_new(const struct zones_env *env, struct zones_entry *const *entries,
			    size_t n);
/* Replaces the entries. */
void madezones_set(struct zones *zones, struct zones_entry *const *entries, size_t n);
/* Frees all but the entries and the published set. */
void madezones_free(struct zones *zones);

/* The environment of zones, also of those of zones_new(): a test may change it. */
struct zones_env *madezones_env(struct zones *zones);

/* Whether changes wait to be announced; whether the first of them is in the journal. */
bool madezones_has_made(const struct zones *zones);
bool madezones_is_journaled(const struct zones *zones);
/* Whether an entry has a version that waits to be served. */
bool madezones_has_changed(const struct zones *zones);

#endif
