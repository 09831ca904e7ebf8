/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store's knowledge of the zones. The results of all loads of one publish go into one
 * transaction, and so do the records of all zones of which something new is known:
 *
 *      publish: served(), served() ... ─► news ─► maintenance_served_together(): one transaction
 *      zones_store_soon() ─► zones.store_due ─► maintenance_put_known(): one transaction
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "zonemgr/maintenance.h"
#include "zonemgr/maintenance_state.h"
#include "zonemgr/signing.h"
#include "zonemgr/zonemgr.h"
#include "zonemgr/zones_state.h"

/* A load changes the zone's journal in this way. */
enum news_journal {
	NEWS_STAYS,    /* not at all */
	NEWS_APPENDS,  /* it has the way to the new content */
	NEWS_DROPS,    /* the way is not known, or the journal does not fit the file */
	NEWS_UNSIGNED, /* the zone is signed no more */
};

/* The result of a load, for the store. */
struct news {
	struct news *next;
	struct zones_entry *entry;
	struct changeset net; /* the way to the content, or empty */
	enum news_journal journal;
	uint32_t file_serial;
	bool has_content; /* entry->content_digest is stored */
	bool is_known;    /* the store has all of it: it is only measured */
};

int maintenance_measure(struct store_batch *batch, struct zones_entry *entry)
{
	struct store_room room;
	int err = store_room(batch, entry->apex, &room);

	if (!err)
		entry->stored.unwritten_bytes = room.unwritten_bytes;
	return err;
}

/* --- Results of loads ------------------------------------------------------------------------- */

/* True if the store knows at most the zone's catalog. Such zones, perhaps ten thousand, have no
 * journal to drop. */
static bool is_new(const struct store_zone *stored)
{
	static const uint8_t none[ZONE_DIGEST_LEN];

	return !stored->serial && !stored->file_serial &&
	       !memcmp(stored->file_digest, none, sizeof(none));
}

/* The record that the store has of the zone; zeros: none. */
static struct store_zone stored_record(const struct maintenance *u, const struct zones_entry *entry)
{
	struct store_zone stored;

	if (entry->stored.state == ZONES_STORE_CURRENT)
		zones_known_get(&entry->stored.known, &stored);
	else if (store_get_zone(u->store, entry->apex, &stored))
		stored = (struct store_zone){ 0 };
	return stored;
}

static enum news_journal news_journal_of(const struct load *fresh, bool is_same_file)
{
	if (fresh->source == LOAD_UNSIGNED_FILE)
		return NEWS_UNSIGNED;
	if (fresh->gives_up_journal)
		return NEWS_DROPS;
	if (fresh->net.n_bytes)
		return NEWS_APPENDS;
	if (is_same_file || fresh->source == LOAD_TRANSFER || fresh->n_replayed ||
	    fresh->content != LOAD_NOT_SIGNED)
		return NEWS_STAYS;
	return NEWS_DROPS;
}

/*
 * The zone is signed no more: drops the journal of the signed version. The new journal begins at
 * the operator's file and leads to the served version. These changes are hidden from secondaries,
 * because a signed version had the same serial number.
 */
static int put_unsigned(struct store_batch *batch, const struct news *news)
{
	const uint8_t *apex = news->entry->apex;
	int err = store_drop_zone(batch, apex);

	if (!err)
		err = zones_known_put(batch, apex, &news->entry->stored.known);
	if (!err && news->net.n_bytes)
		err = store_append(batch, apex, &news->net);
	if (!err && news->net.n_bytes)
		err = store_journal_hide(batch, apex, news->file_serial);
	return err;
}

static int put_news(struct store_batch *batch, struct news *news)
{
	struct zones_entry *entry = news->entry;
	int err = 0;

	if (news->is_known)
		return maintenance_measure(batch, entry);
	if (news->journal == NEWS_UNSIGNED)
		err = put_unsigned(batch, news);
	else if (news->journal == NEWS_APPENDS)
		err = store_append(batch, entry->apex, &news->net);
	else if (news->journal == NEWS_DROPS)
		err = store_drop_zone(batch, entry->apex);
	if (!err && news->has_content)
		err = store_put(batch, entry->apex, ZONES_CONTENT_WORD, entry->content_digest,
				sizeof(entry->content_digest));
	if (!err)
		err = zones_known_put(batch, entry->apex, &entry->stored.known);
	return err ? err : maintenance_measure(batch, entry);
}

/* Writes @first, and all that follow it if @is_all, in one transaction. Without anything new it is
 * cancelled, to save the wait for the disk. */
static int write_news(struct store *store, struct news *first, bool is_all)
{
	struct store_batch *batch;
	bool has_new = false;
	int err = store_begin(store, &batch);

	if (err)
		return err;
	for (struct news *news = first; news && !err; news = is_all ? news->next : NULL) {
		err = put_news(batch, news);
		has_new |= !news->is_known;
	}
	if (!err && has_new)
		return store_commit(batch);
	store_cancel(batch);
	return err;
}

static void free_news(struct news *news)
{
	changeset_fini(&news->net);
	free(news);
}

/* If all together have no room, each is written separately, so that none fails because of another.
 */
void maintenance_served_together(struct maintenance *u)
{
	struct news *news = u->news, *next;
	int err = news ? write_news(u->store, news, true) : 0;

	u->news = NULL;
	for (; news; news = next) {
		int code = err ? write_news(u->store, news, false) : 0;

		next = news->next;
		if (code && !(news->is_known && store_refusal(u->store)))
			maintenance_note_error(news->entry, "journal", code);
		free_news(news);
	}
}

static void add_news(struct maintenance *u, struct zones_entry *entry, const struct load *fresh,
		     enum news_journal journal, bool is_known)
{
	struct news *news = calloc(1, sizeof(*news));
	int err = news ? 0 : -ENOMEM;

	if (!err && fresh->net.n_bytes)
		err = changeset_load(&news->net, fresh->net.bytes, fresh->net.n_bytes);
	if (err) {
		free(news);
		maintenance_note_error(entry, "journal", err);
		return;
	}
	news->entry = entry;
	news->journal = journal;
	news->file_serial = fresh->file_serial;
	news->has_content = fresh->content != LOAD_NOT_SIGNED;
	news->is_known = is_known;
	news->next = u->news;
	u->news = news;
}

/* Notes in the entry what the load has found. */
static void note_fresh(struct zones_entry *entry, const struct load *fresh)
{
	bool is_unsigned = fresh->source == LOAD_UNSIGNED_FILE;
	struct zones_known *known = &entry->stored.known;

	if (is_unsigned) {
		signing_end(entry);
		memset(entry->content_digest, 0, sizeof(entry->content_digest));
	}
	known->serial = zone_serial(entry->zone);
	if (fresh->content != LOAD_NOT_SIGNED)
		memcpy(entry->content_digest, fresh->content_digest, sizeof(fresh->content_digest));
	if (fresh->source != LOAD_TRANSFER) {
		known->file_serial = fresh->file_serial;
		memcpy(known->file_digest, fresh->file_digest, sizeof(known->file_digest));
		zones_know_file(entry, &fresh->file_mark);
		entry->on_disk.changed_ns = fresh->n_replayed ||
							    (is_unsigned && fresh->net.n_bytes) ?
						    zones_time(entry->owner)->ns :
						    0;
	}
	if (fresh->gives_up_journal)
		known->checked_wall_s = 0; /* so that its primaries are asked at once */
}

void maintenance_note_load(struct maintenance *u, struct zones_entry *entry,
			   const struct load *fresh)
{
	bool is_same_file = !memcmp(entry->stored.known.file_digest, fresh->file_digest,
				    sizeof(fresh->file_digest));
	enum news_journal journal = news_journal_of(fresh, is_same_file);
	struct store_zone stored = { 0 }, known;
	bool is_plain = journal == NEWS_STAYS && fresh->content == LOAD_NOT_SIGNED, is_known;

	if (u->store)
		stored = stored_record(u, entry);
	note_fresh(entry, fresh);
	if (!u->store)
		return;
	/* There is nothing but its record, which maintenance_put_known() stores with others. */
	if ((is_plain && fresh->source == LOAD_TRANSFER) ||
	    (!fresh->gives_up_journal && !fresh->net.n_bytes && fresh->source == LOAD_FILE &&
	     is_new(&stored))) {
		zones_store_soon(entry);
		u->has_new |= fresh->source == LOAD_FILE;
		return;
	}
	zones_known_get(&entry->stored.known, &known);
	is_known = is_plain && is_same_file && fresh->source == LOAD_FILE &&
		   !memcmp(&stored, &known, sizeof(stored));
	if (is_known && !fresh->n_replayed)
		entry->stored.unwritten_bytes = 0;
	else
		add_news(u, entry, fresh, journal, is_known);
}

/* --- Records ---------------------------------------------------------------------------------- */

void zones_store_soon(struct zones_entry *entry)
{
	struct zones *zones = entry->owner;

	if (entry->stored.state >= ZONES_STORE_DUE)
		return;
	entry->stored.state = ZONES_STORE_DUE;
	entry->stored.next_due = NULL;
	*zones->store_due_end = entry;
	zones->store_due_end = &entry->stored.next_due;
}

static int put_record(struct store_batch *batch, struct zones_entry *entry)
{
	int err = zones_known_put(batch, entry->apex, &entry->stored.known);

	if (entry->stored.state != ZONES_STORE_LIMIT_DUE)
		return err;
	if (!err)
		err = store_limit(batch, entry->apex, entry->config->journal_bytes,
				  entry->stored.known.file_serial);
	return err ? err : maintenance_measure(batch, entry);
}

/* The first @n that are due have been stored. */
static void settle_records(struct zones *zones, size_t n)
{
	struct zones_entry *entry;

	for (; n; n--) {
		entry = zones->store_due;
		zones->store_due = entry->stored.next_due;
		entry->stored.state = ZONES_STORE_CURRENT;
	}
	if (!zones->store_due)
		zones->store_due_end = &zones->store_due;
}

/* Stores the first records that are due, at most @most of them, in one transaction. *@n: how many.
 * *@failed: the zone whose record ends it, or NULL. */
static int put_records(struct maintenance *u, size_t most, size_t *n, struct zones_entry **failed)
{
	struct zones_entry *entry = u->zones->store_due;
	struct store_batch *batch;
	int err = entry ? store_begin(u->store, &batch) : 0;

	*n = 0;
	*failed = NULL;
	if (!entry || err)
		return err;
	for (; entry && *n < most; entry = entry->stored.next_due, ++*n) {
		err = put_record(batch, entry);
		if (!err)
			continue;
		*failed = entry;
		store_cancel(batch);
		return err;
	}
	return store_commit(batch);
}

/* A zone with a damaged journal keeps its old record, and the others get theirs. */
void maintenance_put_known(struct maintenance *u, size_t most)
{
	struct zones_entry *failed;
	size_t n;
	int err = put_records(u, most, &n, &failed);
	const int first = err;

	if (err == -EIO && failed) {
		maintenance_note_error(failed, "journal", err);
		zones_forget_due(u->zones, failed);
		err = put_records(u, most, &n, &failed);
	}
	if (err && err != u->known_code)
		log_error("journal: the state of zones cannot be written: %s", err_text(err));
	u->known_code = first;
	if (!err)
		settle_records(u->zones, n);
}

/* --- Zones that go ---------------------------------------------------------------------------- */

void zones_forget_due(struct zones *zones, const struct zones_entry *gone)
{
	struct zones_entry **at = &zones->store_due, *entry;

	if (gone->stored.state < ZONES_STORE_DUE)
		return;
	while ((entry = *at)) {
		if (entry != gone && entry->life != ZONES_GONE) {
			at = &entry->stored.next_due;
			continue;
		}
		*at = entry->stored.next_due;
		entry->stored.state = ZONES_STORE_CURRENT;
	}
	zones->store_due_end = at;
}
