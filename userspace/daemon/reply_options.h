/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of replies beside the answer: the secrets of DNS cookies, NSID, and the version and
 * identity of the server. Workers read them from engine_data, the driver from the table of
 * volley_options that is in use.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_REPLY_OPTIONS_H
#define VOLLEY_DAEMON_REPLY_OPTIONS_H

#include "config/config.h"
#include "daemon/answer_cache.h"
#include "daemon/heartbeat.h"
#include "engine/engine.h"
#include "abuse/cookies.h"

struct reply_options {
	struct cookies *cookies;
	struct engine_data *published;
	struct answer_cache *cache;
	const struct heartbeat *heartbeat;
};

/*
 * Sets secrets and identity by this configuration. Called before the cache is opened, so that the
 * driver has them from the beginning. The pointers in *o are set. 0 or a code, logged.
 */
int reply_options_open(struct reply_options *o, const struct config *config)
	__attribute__((warn_unused_result));
/* Frees them; no engine reads them any more. */
void reply_options_close(struct reply_options *o);

/*
 * Tells the driver how to answer COOKIE and NSID: fills the table that is not in use and then
 * switches to it, so a query is answered by one table only. A grace period must lie between two
 * calls. During a resize both caches get the options.
 */
void reply_options_tell_driver(const struct reply_options *o);

/* NSID, version and identity by this configuration, to be freed with free(). NULL: no memory. */
struct engine_identity *reply_options_make_identity(const struct config *config)
	__attribute__((warn_unused_result));
/*
 * Puts an identity in place, which then belongs to *o: before the cache is opened, and by a reload.
 * Workers and the transfer thread get it first, then the driver. Meanwhile some replies have the
 * old identity; no reply mixes both. Each reply that is made after this has returned has the new
 * one. The grace period of reply_options_tell_driver() applies. Does nothing if the identity is the
 * same.
 */
void reply_options_put_identity(struct reply_options *o, struct engine_identity *identity);

#endif
