/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "daemon/zone_service.h"
#include "report/zone_list.h"
#include "zonemgr/zonemgr.h"

static struct zones_entry *find_zone_command(struct zone_service *s, const char *name, char *err,
					     size_t err_cap)
{
	struct zones_entry *entry = zones_get(s->zones, name);

	if (!entry)
		snprintf(err, err_cap, "%s: no such zone", name);
	return entry;
}

/* --- zone edit -------------------------------------------------------------------------------- */

/* A client that waits until its change is served. */
struct editing {
	struct zone_service *service;
	uint64_t ticket;
	char *name;
	char **lines;
	size_t n_lines;
};

static void editing_free(struct editing *e)
{
	for (size_t i = 0; i < e->n_lines; i++)
		free(e->lines[i]);
	free(e->lines);
	free(e->name);
	free(e);
}

static bool is_line(const char *text)
{
	return strchr(text, ' ') || strchr(text, '\t');
}

/* All arguments after the name as one line. */
static char *join_zone_command(const json_t *args)
{
	size_t n = json_array_size(args), bytes = 1;
	char *line, *at;

	for (size_t i = 1; i < n; i++)
		bytes += strlen(ctl_arg(args, i)) + 1;
	line = at = malloc(bytes);
	for (size_t i = 1; line && i < n; i++)
		at += sprintf(at, "%s%s", i > 1 ? " " : "", ctl_arg(args, i));
	return line;
}

/* If the arguments are lines, each is one line; otherwise they are the words of one line. */
static int read_zone_command_lines(struct editing *e, const json_t *args)
{
	size_t n = is_line(ctl_arg(args, 1)) ? json_array_size(args) - 1 : 1;

	e->lines = calloc(n, sizeof(*e->lines));
	for (size_t i = 0; e->lines && i < n; i++) {
		e->lines[i] = is_line(ctl_arg(args, 1)) ? strdup(ctl_arg(args, i + 1)) :
							  join_zone_command(args);
		e->n_lines += e->lines[i] != NULL;
	}
	return e->n_lines == n ? 0 : -ENOMEM;
}

static void on_edited(void *user, int code)
{
	struct editing *e = user;
	struct zone_service *s = e->service;
	const struct zones_entry *entry = zones_find(s->zones, e->name);
	json_t *result = NULL;
	char err[1024] = "";

	if (code == -ECANCELED)
		snprintf(err, sizeof(err), "volleyd stops: the change is given up");
	else if (code && entry && sentence_is_set(&entry->stored.error))
		snprintf(err, sizeof(err), "%s: the change is not made",
			 sentence_text(&entry->stored.error));
	else if (!code && !(result = zone_list_one(s->transfer_bridge, entry)))
		code = -ENOMEM;
	ctl_answer(s->ctl, e->ticket, clock_ns(), code, result, err);
	editing_free(e);
}

static int run_edit(void *user, struct zone_edit *edit, struct zone_error *why)
{
	const struct editing *e = user;
	const struct zones_entry *entry = zones_find(e->service->zones, e->name);

	return edit_lines(edit, (const char *const *)e->lines, e->n_lines, entry && entry->signing,
			  why);
}

/* A zone cannot be edited if other servers decide its content, or if nothing would be stored. */
static int check_editable(const struct zone_service *s, const struct zones_entry *entry, char *err,
			  size_t err_cap)
{
	if (zones_is_secondary(entry))
		snprintf(err, err_cap, "%s: this zone is a secondary: change it at its primaries",
			 entry->name);
	else if (*s->storage_error)
		snprintf(err, err_cap, "%s: %s", entry->name, s->storage_error);
	else if (!s->store)
		snprintf(err, err_cap,
			 "%s: without server.storage a change would be lost at the next start",
			 entry->name);
	else
		return 0;
	return -EPERM;
}

static int begin_editing(struct zone_service *s, struct zones_entry *entry, struct editing *e,
			 char *err, size_t err_cap)
{
	struct zone_error why;
	int code;

	e->service = s;
	code = ctl_defer_or_tell(s->ctl, &e->ticket, err, err_cap);
	if (code)
		return code;
	code = zones_change(s->zones, entry, run_edit, e, on_edited, e, &why);
	if (code == 1)
		snprintf(err, err_cap, "this edit would change nothing");
	else if (code)
		snprintf(err, err_cap, "%s", why.sentence);
	if (code)
		return code == 1 ? -EINVAL : code;
	return CTL_LATER;
}

int commands_zone_edit(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct zone_service *s = user;
	struct zones_entry *entry = find_zone_command(s, ctl_arg(args, 0), err, err_cap);
	struct editing *e;
	int code;

	(void)result;
	if (!entry)
		return ERR_NOT_FOUND;
	code = check_editable(s, entry, err, err_cap);
	if (code)
		return code;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->name = strdup(entry->name);
	code = e->name ? read_zone_command_lines(e, args) : -ENOMEM;
	if (!code)
		code = begin_editing(s, entry, e, err, err_cap);
	if (code != CTL_LATER)
		editing_free(e);
	return code;
}

/* --- Messages to other name servers ----------------------------------------------------------- */

static int refresh_zone_command(struct zone_service *s, const char *name, bool whole, char *err,
				size_t err_cap)
{
	struct zones_entry *entry = find_zone_command(s, name, err, err_cap);

	if (!entry)
		return ERR_NOT_FOUND;
	if (!zones_is_secondary(entry)) {
		snprintf(err, err_cap, "%s: this zone has no primaries", entry->name);
		return -EINVAL;
	}
	return transfer_refresh(transfer_bridge_thread(s->transfer_bridge), entry->apex, whole);
}

int commands_zone_refresh(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap)
{
	(void)result;
	return refresh_zone_command(user, ctl_arg(args, 0), false, err, err_cap);
}

int commands_zone_retransfer(void *user, const json_t *args, json_t **result, char *err,
			     size_t err_cap)
{
	(void)result;
	return refresh_zone_command(user, ctl_arg(args, 0), true, err, err_cap);
}

int commands_zone_notify(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct zone_service *s = user;
	struct zones_entry *entry = find_zone_command(s, ctl_arg(args, 0), err, err_cap);

	(void)result;
	if (!entry)
		return ERR_NOT_FOUND;
	if (!entry->config->notify || !*entry->config->notify) {
		snprintf(err, err_cap, "%s: zones[].notify names no server to notify", entry->name);
		return ERR_NOT_FOUND;
	}
	return transfer_notify(transfer_bridge_thread(s->transfer_bridge), entry->apex);
}

/* --- zone flush ------------------------------------------------------------------------------- */

/* A client that waits until files are written. The reply names the first file that failed. */
struct flushing {
	struct zone_service *service;
	uint64_t ticket;
	size_t n_left;
	int code;
	char err[768];
};

static void note_failure(struct flushing *f, const char *sentence, int code)
{
	if (code && !f->code) {
		f->code = code;
		snprintf(f->err, sizeof(f->err), "%s", sentence);
	}
}

static void on_written(void *user, const struct zones_entry *entry, int code)
{
	struct flushing *f = user;
	struct zone_service *s = f->service;
	char sentence[768];

	if (code == -ECANCELED)
		snprintf(sentence, sizeof(sentence), "volleyd stops: files were not written");
	else if (!entry)
		snprintf(sentence, sizeof(sentence),
			 "a zone was removed before its file was written");
	else
		snprintf(sentence, sizeof(sentence), "zone %s: %s", entry->name,
			 sentence_is_set(&entry->stored.error) ?
				 sentence_text(&entry->stored.error) :
				 err_text(code));
	note_failure(f, sentence, code);
	if (--f->n_left)
		return;
	ctl_answer(s->ctl, f->ticket, clock_ns(), f->code, NULL, f->err);
	free(f);
}

static void flush_zone_command(struct flushing *f, struct zones_entry *entry)
{
	struct maintenance *maintenance = f->service->maintenance;
	char err[512] = "";
	int code = maintenance_write(maintenance, entry, err, sizeof(err));

	if (!code)
		code = maintenance_await(maintenance, entry, on_written, f);
	if (code)
		note_failure(f, *err ? err : err_text(code), code);
	else
		f->n_left++;
}

static void flush_changed(struct flushing *f)
{
	struct zones *zones = f->service->zones;

	for (size_t i = 0; i < zones_n(zones); i++) {
		struct zones_entry *entry = zones_entry_at(zones, i);

		if (entry->zone && entry->on_disk.changed_ns)
			flush_zone_command(f, entry);
	}
}

int commands_zone_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct zone_service *s = user;
	const char *name = ctl_arg(args, 0);
	struct zones_entry *entry = name ? find_zone_command(s, name, err, err_cap) : NULL;
	struct flushing *f;
	int code;

	(void)result;
	if (name && !entry)
		return ERR_NOT_FOUND;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = (struct flushing){ .service = s };
	code = ctl_defer_or_tell(s->ctl, &f->ticket, f->err, sizeof(f->err));
	if (code)
		f->code = code;
	else if (name)
		flush_zone_command(f, entry);
	else
		flush_changed(f);
	if (f->n_left)
		return CTL_LATER;
	snprintf(err, err_cap, "%s", f->err);
	code = f->code;
	free(f);
	return code;
}

/* --- Signing ---------------------------------------------------------------------------------- */

static struct signing *signing_of(struct zone_service *s, const char *name, char *err,
				  size_t err_cap)
{
	struct zones_entry *entry = find_zone_command(s, name, err, err_cap);

	if (entry && !entry->signing)
		snprintf(err, err_cap, "%s: this zone is not signed here", entry->name);
	return entry ? entry->signing : NULL;
}

static uint64_t now_s(const struct zone_service *s)
{
	return zones_time(s->zones)->wall_s;
}

int commands_zone_ds(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct signing *s = signing_of(user, ctl_arg(args, 0), err, err_cap);

	if (!s)
		return ERR_NOT_FOUND;
	*result = signing_report_ds(s, now_s(user));
	return *result ? 0 : -ENOMEM;
}

int commands_zone_keys(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct signing *s = signing_of(user, ctl_arg(args, 0), err, err_cap);

	if (!s)
		return ERR_NOT_FOUND;
	*result = signing_report_keys(s);
	return *result ? 0 : -ENOMEM;
}

int commands_zone_rollover(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap)
{
	struct signing *s = signing_of(user, ctl_arg(args, 0), err, err_cap);
	int code = s ? signing_rollover(s, ctl_arg(args, 1), now_s(user), err, err_cap) :
		       ERR_NOT_FOUND;

	if (code)
		return code;
	*result = signing_report_keys(s);
	return *result ? 0 : -ENOMEM;
}

int commands_zone_ds_seen(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap)
{
	struct signing *s = signing_of(user, ctl_arg(args, 0), err, err_cap);
	int code = s ? signing_ds_seen(s, now_s(user), err, err_cap) : ERR_NOT_FOUND;

	if (code)
		return code;
	*result = signing_report_keys(s);
	return *result ? 0 : -ENOMEM;
}
