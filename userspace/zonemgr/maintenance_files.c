/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zone files: written in the background, and deleted with members of catalogs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "zonemgr/maintenance.h"
#include "zonemgr/maintenance_state.h"
#include "zonemgr/zonefile.h"

struct writing {
	struct background_job job; /* first */
	struct writing *next;      /* maintenance.writings */
	struct maintenance *maintenance;
	struct zones_entry *entry; /* NULL: the zone has gone */
	struct zone *zone;         /* a reference */
	char *path;
	struct zonefile_mark mark;
	int code;
	bool is_guarded;  /* not by command: written only over the file that we know */
	bool is_other;    /* the file is another one */
	bool is_unwanted; /* atomic: the file has to be deleted */
	char err[256];
};

/* A call that waits for a file. */
struct awaiting {
	struct awaiting *next; /* maintenance.awaiting */
	const struct zones_entry *entry;
	bool is_behind; /* waits for the second write: one runs already */
	maintenance_done_fn *done;
	void *user;
};

/* Ends waits with done(@result); NULL: the zone has gone. After an error the waits for a second
 * write end, too. */
static void end_waits(struct maintenance *u, const struct zones_entry *entry,
		      const struct zones_entry *result, int code)
{
	struct awaiting **at = &u->awaiting, *a;

	while ((a = *at)) {
		bool is_over = (!entry || a->entry == entry) && (code || !a->is_behind);

		a->is_behind &= entry && a->entry != entry;
		if (!is_over) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		a->done(a->user, result, code);
		free(a);
	}
}

void maintenance_end_waits(struct maintenance *u, const struct zones_entry *entry, int code)
{
	end_waits(u, entry, NULL, code);
}

int maintenance_await(struct maintenance *u, struct zones_entry *entry, maintenance_done_fn *done,
		      void *user)
{
	struct awaiting *a = malloc(sizeof(*a));

	if (!a)
		return -ENOMEM;
	*a = (struct awaiting){ u->awaiting, entry,
				entry->on_disk.work == ZONES_FILE_WRITING_AND_DUE, done, user };
	u->awaiting = a;
	return 0;
}

static void writing_free(struct writing *w)
{
	struct writing **at = &w->maintenance->writings;

	/* they end in the order in which they began, more or less */
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	if (!w->next)
		w->maintenance->writings_end = at;
	w->maintenance->n_writings--;
	zone_unref(w->zone);
	free(w->path);
	free(w);
}

/* This or maintenance_gone(), whichever comes later, deletes an unwanted file. */
static void run_writing(struct background_job *job)
{
	struct writing *w = (struct writing *)job;

	w->is_other = w->is_guarded && zonefile_is_other(w->path, &w->mark);
	if (w->is_other) {
		w->code = -ESTALE;
		return;
	}
	w->code = zonefile_write(w->zone, w->path, &job->is_cancelled, w->err, sizeof(w->err));
	if (__atomic_load_n(&w->is_unwanted, __ATOMIC_SEQ_CST))
		(void)unlink(w->path);
	zonefile_mark_read(w->path, &w->mark);
}

/*
 * Stores the digests before files are replaced. If volleyd ends before it notes the write, a
 * restart knows the new content by its digest, and applies the journal from there. One wait for the
 * disk for all.
 */
static int announce_files(struct maintenance *u, struct zones_entry *const *entries, size_t n)
{
	struct store_batch *batch;
	int err = store_begin(u->store, &batch);

	if (err)
		return err;
	for (size_t i = 0; i < n && !err; i++) {
		uint8_t *digest = entries[i]->on_disk.next_digest;

		zone_digest(entries[i]->zone, digest);
		err = store_put(batch, entries[i]->apex, REPLAY_NEXT_FILE, digest, ZONE_DIGEST_LEN);
	}
	if (!err)
		return store_commit(batch);
	store_cancel(batch);
	return err;
}

/* Notes a written file. The store gets it soon, together with others. */
static void note_file(struct zones_entry *entry, const struct writing *w)
{
	entry->stored.known.file_serial = zone_serial(w->zone);
	zone_digest(w->zone, entry->stored.known.file_digest);
	zones_know_file(entry, &w->mark);
	zones_store_soon(entry);
	entry->stored.state = ZONES_STORE_LIMIT_DUE;
}

/* The entry of a write. NULL: the zone has gone meanwhile, or has another file. */
static struct zones_entry *entry_of_zonefile(const struct writing *w)
{
	if (!w->entry)
		return NULL;
	w->entry->on_disk.work = w->entry->on_disk.work == ZONES_FILE_WRITING ? ZONES_FILE_IDLE :
										ZONES_FILE_DUE;
	return strcmp(zones_zonefile(w->entry), w->path) ? NULL : w->entry;
}

/* The operator has changed the file: neither that nor the changes made here are lost; the operator
 * has to choose. Logged once. */
static void note_other(struct zones_entry *entry, const struct writing *w)
{
	if (entry->on_disk.is_other && sentence_is_set(&entry->stored.error))
		return;
	entry->on_disk.is_other = true;
	sentence_set(&entry->stored.error,
		     "%s: somebody has changed it. volleyctl zone reload loads it, if its serial "
		     "number is newer; volleyctl zone flush overwrites it",
		     w->path);
	log_error("zone %s: %s", entry->name, sentence_text(&entry->stored.error));
}

static void note_zonefile_end(const struct writing *w, struct zones_entry *entry)
{
	if (!w->code) {
		sentence_clear(&entry->stored.error);
		log_info("zone %s: serial %u written to %s", entry->name, zone_serial(w->zone),
			 w->path);
		return;
	}
	maintenance_write_later(entry);
	if (w->is_other)
		note_other(entry, w);
	else if (*w->err)
		maintenance_note(entry, w->err);
	else if (w->code != -ECANCELED)
		maintenance_note_error(entry, w->path, w->code);
}

/* After the last of the files that a command waits for, an update must find the room that they have
 * made. */
static bool ends_command(const struct maintenance *u, const struct zones_entry *entry)
{
	const struct awaiting *a = u->awaiting;

	while (a && a->entry != entry)
		a = a->next;
	return a && u->n_writings == 1;
}

static void writing_ended(struct background_job *job)
{
	struct writing *w = (struct writing *)job;
	struct zones_entry *entry = entry_of_zonefile(w);

	if (entry) {
		if (!w->code)
			note_file(entry, w);
		note_zonefile_end(w, entry);
	}
	if (w->entry && ends_command(w->maintenance, w->entry))
		maintenance_settle(w->maintenance);
	if (w->entry)
		end_waits(w->maintenance, w->entry, w->entry, w->code);
	writing_free(w);
}

/* 0 or -ENOMEM. */
static int begin_writing(struct maintenance *u, struct zones_entry *entry, bool is_asked)
{
	struct writing *w = calloc(1, sizeof(*w));

	if (w)
		w->path = strdup(zones_zonefile(entry));
	if (!w || !w->path) {
		free(w);
		return -ENOMEM;
	}
	w->job = (struct background_job){ .run = run_writing, .ended = writing_ended };
	w->maintenance = u;
	w->code = -ECANCELED; /* the result if it never runs */
	w->entry = entry;
	w->zone = zone_ref(entry->zone);
	w->mark = entry->on_disk.mark;
	w->is_guarded = !is_asked && entry->on_disk.work != ZONES_FILE_DUE &&
			!maintenance_is_ours(entry);
	*u->writings_end = w;
	u->writings_end = &w->next;
	u->n_writings++;
	entry->on_disk.work = ZONES_FILE_WRITING;
	entry->on_disk.changed_ns = 0;
	background_start(u->background, &w->job);
	return 0;
}

void maintenance_write_all(struct maintenance *u, struct zones_entry *const *entries, size_t n)
{
	int announced = n ? announce_files(u, entries, n) : 0;

	for (size_t i = 0; i < n; i++) {
		int code = announced ? announced : begin_writing(u, entries[i], false);

		if (!code)
			continue;
		maintenance_note_error(entries[i], announced ? "journal" : "its file", code);
		maintenance_write_later(entries[i]);
		end_waits(u, entries[i], entries[i], code);
	}
}

int maintenance_write(struct maintenance *u, struct zones_entry *entry, char *err, size_t err_cap)
{
	int code;

	if (!entry->zone || !u->store) {
		snprintf(err, err_cap, "%s: %s", entry->name,
			 entry->zone ? "there is no server.storage" : "nothing is served");
		return ERR_NOT_FOUND;
	}
	if (zones_is_file_written(entry)) {
		maintenance_write_soon(entry); /* again after the write that runs */
		return 0;
	}
	code = announce_files(u, &entry, 1);
	if (code) {
		snprintf(err, err_cap, "journal: %s", err_text(code));
		return code;
	}
	code = begin_writing(u, entry, true);
	if (code)
		snprintf(err, err_cap, "%s", err_text(code));
	return code;
}

/* --- Gone ------------------------------------------------------------------------------------- */

static bool is_in_folder(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !strncmp(path, folder, n) && path[n] == '/';
}

/*
 * True if the file is deleted with the zone: a file of ours, in our folder, of a zone that a
 * catalog or a command has added. A zone of the configuration may come back later. Keys are never
 * deleted, because the parent may have their DS.
 */
static bool takes_file_along(const struct maintenance *u, const struct zones_entry *entry)
{
	return entry->is_member && maintenance_is_ours(entry) &&
	       is_in_folder(zones_zonefile(entry), store_folder(u->store));
}

static void forget_writings(struct maintenance *u, const struct zones_entry *entry,
			    bool is_unwanted)
{
	for (struct writing *w = u->writings; w; w = w->next) {
		if (w->entry != entry)
			continue;
		w->entry = NULL;
		if (!is_unwanted)
			continue;
		__atomic_store_n(&w->is_unwanted, true, __ATOMIC_SEQ_CST);
		__atomic_store_n(&w->job.is_cancelled, true, __ATOMIC_RELAXED);
	}
}

void maintenance_gone(struct maintenance *u, struct zones_entry *entry)
{
	bool is_unwanted = u->store && takes_file_along(u, entry);

	maintenance_served_together(u); /* a result that waits may be this zone's */
	forget_writings(u, entry, is_unwanted);
	maintenance_end_waits(u, entry, ERR_NOT_FOUND);
	if (is_unwanted)
		(void)unlink(zones_zonefile(entry));
	if (u->store && !u->leaving && !u->leaving_code)
		u->leaving_code = store_begin(u->store, &u->leaving);
	if (u->leaving && !u->leaving_code)
		u->leaving_code = store_drop_zone(u->leaving, entry->apex);
}

/*
 * One transaction for all members that go, perhaps thousands, because each one waits for the disk.
 */
int maintenance_gone_together(struct maintenance *u)
{
	int err = u->leaving_code;

	if (u->leaving && err)
		store_cancel(u->leaving);
	else if (u->leaving)
		err = store_commit(u->leaving);
	if (err)
		log_error("journal: removed zones cannot be deleted: %s", err_text(err));
	u->leaving = NULL;
	u->leaving_code = 0;
	return err;
}
