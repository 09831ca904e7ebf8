/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zone add and zone remove. A request may have many names: each succeeds or fails by itself, and
 * the reply has them all.
 */
#include "daemon/commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json_put.h"
#include "daemon/zone_service.h"

/* A client that waits for its zones. */
struct zones_call {
	struct zone_service *service;
	uint64_t ticket;
	const char *done_key; /* "added" or "removed" */
	json_t *done, *failed;
	size_t n_names, n_left;
	int code; /* of the first zone that failed */
	char err[1024];
	struct call_of_zone {
		struct zones_call *call;
		char *name;
	} zones[];
};

static void zones_call_free(struct zones_call *c)
{
	for (size_t i = 0; i < c->n_names; i++)
		free(c->zones[i].name);
	json_decref(c->done);
	json_decref(c->failed);
	free(c);
}

static struct zones_call *zones_call_new(struct zone_service *s, const char *done_key,
					 const char *const *names, size_t n)
{
	struct zones_call *c = calloc(1, sizeof(*c) + n * sizeof(c->zones[0]));
	bool is_whole = true;

	if (!c)
		return NULL;
	*c = (struct zones_call){ .service = s, .done_key = done_key, .n_names = n };
	c->done = json_array();
	c->failed = json_array();
	for (size_t i = 0; i < n; i++) {
		c->zones[i] = (struct call_of_zone){ c, strdup(names[i]) };
		is_whole &= c->zones[i].name != NULL;
	}
	if (is_whole && c->done && c->failed)
		return c;
	zones_call_free(c);
	return NULL;
}

static void note_end_of_zone(struct call_of_zone *zone, int code, const char *err)
{
	struct zones_call *c = zone->call;

	if (!code) {
		json_array_append_new(c->done, json_string(zone->name));
		return;
	}
	json_array_append_new(c->failed, json_pack("{s:s, s:o, s:s}", "zone", zone->name, "error",
						   json_failure(err), "code", err_name(code)));
	if (c->code)
		return;
	c->code = code;
	snprintf(c->err, sizeof(c->err), "%s", err);
}

/* The result; the refusal if the request has one name, and that failed. */
static int take_zones_result(struct zones_call *c, json_t **result)
{
	*result = NULL;
	if (c->code && c->n_names == 1)
		return c->code;
	*result = json_pack("{s:O}", c->done_key, c->done);
	if (*result && json_array_size(c->failed))
		json_object_set(*result, "failed", c->failed);
	return *result ? 0 : -ENOMEM;
}

static void on_zone_changed(void *user, int code, const char *err)
{
	struct call_of_zone *zone = user;
	struct zones_call *c = zone->call;
	json_t *result;

	note_end_of_zone(zone, code, err);
	if (--c->n_left)
		return;
	code = take_zones_result(c, &result);
	ctl_answer(c->service->ctl, c->ticket, clock_ns(), code, result, c->err);
	zones_call_free(c);
}

/* Begins a change of one zone: added_add() or added_remove(), after a check of rights. */
typedef int begin_zone_fn(const void *user, struct call_of_zone *zone, char *err, size_t err_cap);

static int begin_zone_changes(struct zones_call *c, begin_zone_fn *begin, const void *user,
			      json_t **result, char *err, size_t err_cap)
{
	char why[1024];
	int code = ctl_defer_or_tell(c->service->ctl, &c->ticket, err, err_cap);

	for (size_t i = 0; !code && i < c->n_names; i++) {
		int refusal;

		why[0] = '\0';
		refusal = begin(user, &c->zones[i], why, sizeof(why));
		if (refusal)
			note_end_of_zone(&c->zones[i], refusal, *why ? why : err_text(refusal));
		else
			c->n_left++;
	}
	if (!code && c->n_left)
		return CTL_LATER;
	if (!code) {
		code = take_zones_result(c, result);
		snprintf(err, err_cap, "%s", c->err);
	}
	zones_call_free(c);
	return code;
}

/* --- Rights ----------------------------------------------------------------------------------- */

/* Root and the daemon's user may use each template, since they may change the configuration. */
static bool may_use_template(const struct zone_service *s, const char *name)
{
	char *const *allowed = zone_service_config(s)->control_zones_add;

	if (ctl_is_owner(s->ctl))
		return true;
	for (; allowed && *allowed; allowed++)
		if (!strcmp(*allowed, name))
			return true;
	return false;
}

static int refuse_template(const char *name, char *err, size_t err_cap)
{
	snprintf(err, err_cap,
		 "control.zones-add does not name the template %.63s: only root and the user of "
		 "volleyd may add and remove zones of it",
		 name);
	return -EACCES;
}

static int check_storage(const struct zone_service *s, char *err, size_t err_cap)
{
	if (!*s->storage_error)
		return 0;
	snprintf(err, err_cap, "%s", s->storage_error);
	return -EPERM;
}

/* --- zone add --------------------------------------------------------------------------------- */

struct words_of_add {
	const char *template_name, *file;
	const char **names;
	size_t n_names;
};

static int refuse_zone_words(const char *word, char *err, size_t err_cap)
{
	snprintf(err, err_cap, "%s: give NAME [--template TEMPLATE] [--file FILE]", word);
	return -EINVAL;
}

/* Takes options and names apart. The caller frees w->names. */
static int read_words_of_add(struct words_of_add *w, const json_t *args, char *err, size_t err_cap)
{
	size_t n = json_array_size(args);

	*w = (struct words_of_add){ .names = calloc(n + 1, sizeof(const char *)) };
	if (!w->names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *word = ctl_arg(args, i);
		const char **option = !strcmp(word, "--template") ? &w->template_name :
				      !strcmp(word, "--file")     ? &w->file :
								    NULL;

		if (!option && strncmp(word, "--", 2) != 0)
			w->names[w->n_names++] = word;
		else if (!option || *option || ++i == n)
			return refuse_zone_words(word, err, err_cap);
		else
			*option = ctl_arg(args, i);
	}
	if (!w->n_names || (w->file && w->n_names > 1))
		return refuse_zone_words(w->n_names ? "--file" : "a name is missing", err, err_cap);
	return 0;
}

/*
 * A file that a user names is opened with the rights of the daemon's user. Only root and that user
 * have these rights.
 */
static int check_add(const struct zone_service *s, struct words_of_add *w, char *err,
		     size_t err_cap)
{
	if (!w->template_name)
		w->template_name = ADDED_DEFAULT_TEMPLATE;
	if (!may_use_template(s, w->template_name))
		return refuse_template(w->template_name, err, err_cap);
	if (w->file && !ctl_is_owner(s->ctl)) {
		snprintf(err, err_cap,
			 "--file is for root and the user of volleyd: the file of "
			 "the zone is where its template says");
		return -EACCES;
	}
	return check_storage(s, err, err_cap);
}

static int begin_add(const void *user, struct call_of_zone *zone, char *err, size_t err_cap)
{
	const struct words_of_add *w = user;
	const struct added_zone add = { zone->name, w->template_name, w->file };

	return added_add(zone->call->service->added, &add, on_zone_changed, zone, err, err_cap);
}

int commands_zone_add(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct zone_service *s = user;
	struct words_of_add w;
	struct zones_call *c;
	int code = read_words_of_add(&w, args, err, err_cap);

	if (!code)
		code = check_add(s, &w, err, err_cap);
	if (!code) {
		c = zones_call_new(s, "added", w.names, w.n_names);
		code = c ? begin_zone_changes(c, begin_add, &w, result, err, err_cap) : -ENOMEM;
	}
	free(w.names);
	return code;
}

/* --- zone remove ------------------------------------------------------------------------------ */

static int begin_remove(const void *user, struct call_of_zone *zone, char *err, size_t err_cap)
{
	struct zone_service *s = zone->call->service;
	const struct zones_entry *entry = zones_find(s->zones, zone->name);
	char name[256];

	(void)user;
	if (entry && added_template(entry, name, sizeof(name)) && !may_use_template(s, name))
		return refuse_template(name, err, err_cap);
	return added_remove(s->added, zone->name, on_zone_changed, zone, err, err_cap);
}

int commands_zone_remove(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct zone_service *s = user;
	struct words_of_add w;
	struct zones_call *c;
	int code = read_words_of_add(&w, args, err, err_cap);

	if (code == -EINVAL || (!code && (w.file || w.template_name))) {
		snprintf(err, err_cap, "it takes names only");
		code = -EINVAL;
	}
	if (!code) {
		c = zones_call_new(s, "removed", w.names, w.n_names);
		code = c ? begin_zone_changes(c, begin_remove, NULL, result, err, err_cap) :
			   -ENOMEM;
	}
	free(w.names);
	return code;
}
