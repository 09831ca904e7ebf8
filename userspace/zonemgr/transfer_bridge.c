/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/transfer_bridge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "dns/proto.h"
#include "port/tcp_intake.h"
#include "xfr/update.h"

#define COPY_BYTES (16u << 20)
#define COPY_TIMES 32u
/* zones that are named in the log, of those that expire together */
#define EXPIRED_LOGGED 8u

struct transfer_bridge {
	struct transfer_bridge_env env;
	struct zones *zones;
	struct handover *handover;
	struct tcp_intake *intake;
	struct transfer *thread;
	unsigned int n_expired; /* zones, in the present transfer_bridge_poll() */
};

/* An event that the zones have not completed yet. */
struct passage {
	struct transfer_bridge *owner;
	uint8_t apex[DNS_NAME_MAX + 1];
	unsigned int apex_len;
	uint64_t checked_wall_s, expires_wall_s;
	void *request;          /* of UPDATE */
	struct changeset *sets; /* of TRANSFER_CHANGES: the event's */
	size_t n_sets;
	const struct update *update;
	bool is_signed;
	enum dns_rcode rcode;
};

static struct passage *passage_new(struct transfer_bridge *t, const struct transfer_event *event)
{
	struct passage *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->owner = t;
	p->apex_len = event->apex_len;
	memcpy(p->apex, event->apex, event->apex_len);
	p->checked_wall_s = event->checked_wall_s;
	p->expires_wall_s = event->expires_wall_s;
	p->request = event->request;
	p->sets = event->sets;
	p->n_sets = event->n_sets;
	return p;
}

/* --- From primaries --------------------------------------------------------------------------- */

static void on_settled(void *user, int code)
{
	struct passage *p = user;
	struct transfer_bridge *t = p->owner;
	struct zones_entry *entry = zones_get_apex(t->zones, p->apex, p->apex_len);

	if (!code && entry)
		maintenance_checked(entry, p->checked_wall_s, p->expires_wall_s);
	if (code != -ECANCELED)
		transfer_settled(t->thread, p->apex, code);
	free(p);
}

static int install_transferred_zone(struct transfer_bridge *t, struct zones_entry *entry,
				    struct transfer_event *event)
{
	struct passage *p = passage_new(t, event);
	int err = p ? zones_install(t->zones, entry, event->builder, on_settled, p) : -ENOMEM;

	if (err) {
		zone_builder_free(event->builder);
		free(p);
	}
	return err;
}

/*
 * The octets that changes may copy, so that control's thread is not busy with them for longer than
 * in proportion to their length. More take changes one by one of an RRset with tens of thousands of
 * records: then the whole zone is fetched, which the loader's threads read.
 */
static uint64_t may_copy(const struct passage *p)
{
	uint64_t n_bytes = 0;

	for (size_t i = 0; i < p->n_sets; i++)
		n_bytes += p->sets[i].n_bytes;
	return COPY_BYTES + COPY_TIMES * n_bytes;
}

static int apply_sets(void *user, struct zone_edit *edit, struct zone_error *why)
{
	const struct passage *p = user;
	int err = 0;

	zone_edit_limit(edit, may_copy(p));
	for (size_t i = 0; i < p->n_sets && !err; i++)
		err = zone_edit_apply(edit, &p->sets[i], why);
	zone_edit_limit(edit, UINT64_MAX); /* of signatures that follow */
	return err == ERR_LIMIT ? zone_error_set(why, "", 0, "they take too much work") : err;
}

static int apply_transferred_changes(struct transfer_bridge *t, struct zones_entry *entry,
				     struct transfer_event *event)
{
	struct passage *p = passage_new(t, event);
	struct zone_error why;
	int err = -ENOMEM;

	if (p)
		err = zones_change(t->zones, entry, apply_sets, p, on_settled, p, &why);
	if (!err)
		return 0;
	free(p);
	if (err == 1) { /* nothing has changed: settled at once */
		maintenance_checked(entry, event->checked_wall_s, event->expires_wall_s);
		transfer_settled(t->thread, event->apex, 0);
		return 0;
	}
	log_warn("zone %s: changes from %s do not fit: %s", entry->name, event->remote,
		 p ? why.sentence : err_text(err));
	return err;
}

static void on_primary(struct transfer_bridge *t, struct zones_entry *entry,
		       struct transfer_event *event)
{
	int err = 0;

	if (event->kind == TRANSFER_ZONE)
		err = install_transferred_zone(t, entry, event);
	else if (event->kind == TRANSFER_CHANGES)
		err = apply_transferred_changes(t, entry, event);
	else if (event->kind == TRANSFER_CHECKED)
		maintenance_checked(entry, event->checked_wall_s, event->expires_wall_s);
	else
		zones_expire(t->zones, entry);
	if (event->kind == TRANSFER_EXPIRED && t->n_expired++ < EXPIRED_LOGGED)
		log_error("zone %s: expired: no primary has answered for too long", entry->name);
	if (err)
		transfer_settled(t->thread, event->apex, err);
}

/* --- Updates ---------------------------------------------------------------------------------- */

static int apply_update(void *user, struct zone_edit *edit, struct zone_error *why)
{
	struct passage *p = user;
	const struct update_options options = { .serial = UPDATE_SERIAL_INCREMENT,
						.now_s = zones_time(p->owner->zones)->wall_s,
						.is_signed_here = p->is_signed };
	bool changed;

	(void)why;
	p->rcode = update_apply(p->update, edit, &options, &changed);
	return p->rcode == DNS_RCODE_NOERROR ? 0 : ERR_REMOTE;
}

static void on_updated(void *user, int code)
{
	struct passage *p = user;

	if (code != -ECANCELED)
		transfer_answer(p->owner->thread, p->request,
				code ? DNS_RCODE_SERVFAIL : DNS_RCODE_NOERROR);
	free(p);
}

/* Returns the rcode, or -1: on_updated() follows. */
static int apply_transfer_update(struct transfer_bridge *t, struct zones_entry *entry,
				 struct transfer_event *event)
{
	struct passage *p = passage_new(t, event);
	struct zone_error why;
	struct update update;
	int code, rcode;

	if (!p || !t->env.store) { /* without a store a restart would lose the change */
		free(p);
		return DNS_RCODE_SERVFAIL;
	}
	p->update = &update;
	p->is_signed = entry->signing;
	p->rcode = update_open(&update, event->message, event->message_bytes);
	if (p->rcode != DNS_RCODE_NOERROR) {
		rcode = (int)p->rcode;
		free(p);
		return rcode;
	}
	code = zones_change(t->zones, entry, apply_update, p, on_updated, p, &why);
	if (!code)
		return -1;
	rcode = code == 1 ? DNS_RCODE_NOERROR : (int)p->rcode;
	if (code < 0 && rcode == DNS_RCODE_NOERROR)
		rcode = code == ERR_ZONE ? DNS_RCODE_REFUSED : DNS_RCODE_SERVFAIL;
	free(p);
	return rcode;
}

/* --- Events ----------------------------------------------------------------------------------- */

static void on_transfers_event(void *user, struct transfer_event *event)
{
	struct transfer_bridge *t = user;
	struct zones_entry *entry = zones_get_apex(t->zones, event->apex, event->apex_len);
	int rcode;

	if (event->kind == TRANSFER_UPDATE) {
		rcode = entry ? apply_transfer_update(t, entry, event) : DNS_RCODE_NOTAUTH;
		if (rcode >= 0)
			transfer_answer(t->thread, event->request, (unsigned int)rcode);
	} else if (entry) {
		on_primary(t, entry, event);
	} else if (event->kind == TRANSFER_ZONE) {
		zone_builder_free(event->builder);
	}
}

void transfer_bridge_served(struct transfer_bridge *t, const struct zones_entry *entry)
{
	if (entry->zone)
		transfer_published(t->thread, entry->apex);
}

void transfer_bridge_configured(struct transfer_bridge *t, const struct zones_entry *entry)
{
	const struct transfer_past past = { entry->stored.known.checked_wall_s,
					    entry->stored.known.expires_wall_s };

	if (transfer_put_zone(t->thread, entry->apex, entry->config, &past))
		log_error("zone %s: no transfers: %s", entry->name, err_text(-ENOMEM));
}

void transfer_bridge_gone(struct transfer_bridge *t, const struct zones_entry *entry)
{
	transfer_drop_zone(t->thread, entry->apex);
}

/* --- From start to end ------------------------------------------------------------------------ */

int transfer_bridge_new(struct transfer_bridge **out, const struct transfer_bridge_env *env)
{
	struct transfer_bridge *t = calloc(1, sizeof(*t));
	struct transfer_env thread = {
		.published = env->published,
		.engine_config = env->engine_config,
		.store = env->store,
		.tap = env->tap,
	};
	int err;

	if (!t)
		return -ENOMEM;
	t->env = *env;
	err = handover_new(&t->handover);
	if (!err)
		err = tcp_intake_new(&t->intake);
	thread.handover = t->handover;
	thread.intake = t->intake;
	if (!err)
		err = transfer_new(&t->thread, &thread, on_transfers_event, t);
	if (err) {
		transfer_bridge_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void transfer_bridge_stop(struct transfer_bridge *t)
{
	if (t && t->thread)
		transfer_stop(t->thread);
}

void transfer_bridge_free(struct transfer_bridge *t)
{
	if (!t)
		return;
	transfer_free(t->thread);
	handover_free(t->handover);
	tcp_intake_free(t->intake);
	free(t);
}

void transfer_bridge_set_zones(struct transfer_bridge *t, struct zones *zones)
{
	t->zones = zones;
}

struct handover *transfer_bridge_handover(struct transfer_bridge *t)
{
	return t->handover;
}

struct tcp_intake *transfer_bridge_intake(struct transfer_bridge *t)
{
	return t->intake;
}

struct transfer *transfer_bridge_thread(struct transfer_bridge *t)
{
	return t->thread;
}

int transfer_bridge_configure(struct transfer_bridge *t, const struct config *config, char *err,
			      size_t err_cap)
{
	return transfer_configure(t->thread, config, err, err_cap);
}

int transfer_bridge_fd(const struct transfer_bridge *t)
{
	return transfer_fd(t->thread);
}

void transfer_bridge_poll(struct transfer_bridge *t)
{
	t->n_expired = 0;
	transfer_poll(t->thread);
	if (t->n_expired > EXPIRED_LOGGED)
		log_error("zones: %u more zones have expired: no primary has answered for too long",
			  t->n_expired - EXPIRED_LOGGED);
}
