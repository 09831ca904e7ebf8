/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "abuse/block_book.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "bpf/tables.h"
#include "config/value.h"
#include "abuse/block_book_internal.h"
#include "abuse/block_records.h"

_Static_assert(CONFIG_BLOCK_LISTS_MAX == VOLLEY_BLOCK_LISTS - 1, "0 is for blocks of commands");

#define EXPIRE_MAX 50000 /* in a tick: some 50 ms; driver and engines check the time themselves */
#define LINES_MIN  1024
#define WHY_CAP    200

#define JOURNAL_WAIT_MAX_S 64 /* between two tries to write a file that is behind */

/* ---- The table in use ------------------------------------------------------------------------ */

static void tell_kinds(struct block_book *b)
{
	uint32_t kinds = b->now ? block_table_kinds(&b->now->table) : 0;

	if (b->now)
		__atomic_store_n(&b->now->view.kinds, kinds, __ATOMIC_RELEASE);
	b->env.tell(b->env.tell_user, kinds);
}

static int set_block_book(struct block_memory *m, const struct volley_block_key *key,
			  uint32_t expires_s, uint32_t action)
{
	return block_table_set(&m->table, key,
			       volley_block_rule(expires_s, key->kind_bits, action, 0));
}

struct put {
	struct block_memory *to;
	int err;
};

/* A list's block of the same key is hidden, and comes back when the record is removed. */
static void put_block_book_record(void *user, struct block_record *record)
{
	struct put *put = user;
	const struct volley_block *there;

	if (put->err)
		return;
	there = block_table_get(&put->to->table, &record->key);
	if (!there)
		record->hidden = 0;
	else if (volley_block_list(there->rule)) /* else it is its own, of a smaller table */
		record->hidden = there->rule;
	put->err = set_block_book(put->to, &record->key, record->expires_s, record->action);
}

static void keep_met(void *user, struct block_record *record)
{
	const struct block_memory *old = user;
	const struct volley_block *block = block_table_get(&old->table, &record->key);

	if (block)
		record->met_before += __atomic_load_n(&block->met, __ATOMIC_RELAXED);
}

/* Puts the table in use; frees the old one after a grace period. On an error nothing changes. */
static int install_block_book(struct block_book *b, struct block_memory *m)
{
	struct block_memory *old = b->now;
	struct put put = { .to = m };
	int err;

	block_records_each(&b->records, put_block_book_record, &put);
	err = put.err;
	m->view.kinds = block_table_kinds(&m->table);
	if (!err && m->fd >= 0)
		err = block_map_put(b->env.blocks_fd, m->fd);
	if (err)
		return err;
	b->now = m;
	rcu_xchg_pointer(&b->env.published->blocks, &m->view);
	tell_kinds(b);
	err = b->env.grace(b->env.grace_user);
	if (old)
		block_records_each(&b->records, keep_met, old);
	if (err)
		log_error("blocks: the kernel gives no grace period, so a reader may still use the "
			  "old table: its memory is not freed");
	else
		block_memory_free(old);
	return 0;
}

/* Makes places of removed blocks free, or makes the table larger. */
static int make_block_book_room(struct block_book *b)
{
	struct block_memory *larger;
	int err;

	if (block_table_retire(&b->now->table)) {
		err = b->env.grace(b->env.grace_user);
		if (!err)
			block_table_reclaim(&b->now->table);
		return err;
	}
	if (b->now->table.cap > BLOCK_TABLE_MAX / 2)
		return -E2BIG;
	err = block_memory_new(&larger, 2 * b->now->table.cap, b->env.blocks_fd >= 0, &b->secrets,
			       &b->met);
	if (err)
		return err;
	err = block_memory_copy(larger, b->now);
	if (!err)
		err = install_block_book(b, larger);
	if (err)
		block_memory_free(larger);
	return err;
}

static int begin_block_book(struct block_book *b)
{
	struct block_memory *first;
	int err;

	if (b->now)
		return 0;
	err = block_memory_new(&first, BLOCK_TABLE_MIN, b->env.blocks_fd >= 0, &b->secrets,
			       &b->met);
	if (!err)
		err = install_block_book(b, first);
	if (err)
		block_memory_free(first);
	return err;
}

static int put_in_place_block_book(struct block_book *b, const struct block_record *record)
{
	int err;

	while ((err = set_block_book(b->now, &record->key, record->expires_s, record->action)) ==
	       -ENOSPC) {
		err = make_block_book_room(b);
		if (err)
			return err;
	}
	return err;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* A hidden block of a list comes back. It needs no new place. */
static void drop_record(struct block_book *b, struct block_record *record)
{
	struct volley_block *block = block_table_get(&b->now->table, &record->key);

	if (record->hidden && block)
		__atomic_store_n(&block->rule, record->hidden, __ATOMIC_RELAXED);
	else
		block_table_remove(&b->now->table, &record->key);
	block_records_remove(&b->records, record);
}

static struct block_record *new_record(struct block_book *b, const struct volley_block_key *key,
				       const char *what, const char *why)
{
	const struct volley_block *there = b->now ? block_table_get(&b->now->table, key) : NULL;
	struct block_record *record = block_records_add(&b->records, key, what, why);

	if (record && there && volley_block_list(there->rule))
		record->hidden = there->rule;
	return record;
}

/* Makes the key's record anew, but keeps its count and the block that it hides. */
static struct block_record *renew_record(struct block_book *b, const struct volley_block_key *key,
					 const char *what, const char *why)
{
	struct block_record *before = block_records_find(&b->records, key), *record, old;

	if (!before)
		return new_record(b, key, what, why);
	if (!strcmp(before->why, why))
		return before;
	old = *before;
	block_records_remove(&b->records, before);
	record = block_records_add(&b->records, key, what, why);
	if (!record)
		return NULL;
	record->hidden = old.hidden;
	record->met_before = old.met_before;
	return record;
}

/* ---- The journal ----------------------------------------------------------------------------- */

/* A file that could not be read stays as it is, until somebody has looked at it. */
static void say_unread(struct block_book *b, int err)
{
	char where[32] = "";

	if (b->journal.wrong_line)
		snprintf(where, sizeof(where), ":%zu", b->journal.wrong_line);
	snprintf(
		b->journal_error, sizeof(b->journal_error),
		"%s%s: the blocks of commands could not be read: %s: volleyd leaves the file as it "
		"is and keeps no new blocks: mend it, or move it away, and restart volleyd",
		b->journal.path ? b->journal.path : "", where,
		b->journal.wrong_line ? "the line is not understood" : err_text(err));
}

static void note_journal(struct block_book *b, int err)
{
	bool is_new = err && err != b->journal_code;

	b->journal_code = err;
	if (!err) {
		*b->journal_error = 0;
		b->journal_wait_s = 0;
		return;
	}
	if (!is_new)
		return;
	if (b->journal.state == BLOCK_JOURNAL_UNREAD)
		say_unread(b, err);
	else
		snprintf(b->journal_error, sizeof(b->journal_error),
			 "%s: %s: the last changes of blocks hold, but will not survive a restart",
			 b->journal.path, err_text(err));
	log_error("blocks: %s", b->journal_error);
}

static bool is_block_book_kept(const struct block_book *b)
{
	return b->journal.state == BLOCK_JOURNAL_WHOLE;
}

static void write_block_book_record(void *user, struct block_record *record)
{
	block_journal_put(user, record->wall_expires_s, block_words_action(record->action),
			  record->what, record->why);
}

static void write_all_block_book(struct block_book *b)
{
	FILE *f;
	int err;

	if (b->journal.state == BLOCK_JOURNAL_NONE || b->journal.state == BLOCK_JOURNAL_UNREAD)
		return;
	err = block_journal_begin(&b->journal, &f);
	if (!err) {
		block_records_each(&b->records, write_block_book_record, f);
		err = block_journal_end(&b->journal, f, b->records.n);
	}
	note_journal(b, err);
}

/* The file lacks a change: all is written anew, since nothing may follow a line that was cut. */
static void catch_up(struct block_book *b)
{
	b->journal_wait_s = b->journal_wait_s ? b->journal_wait_s * 2 : 1;
	if (b->journal_wait_s > JOURNAL_WAIT_MAX_S)
		b->journal_wait_s = JOURNAL_WAIT_MAX_S;
	b->journal_due_s = clock_coarse_s() + b->journal_wait_s;
	write_all_block_book(b);
}

/* @err: the result of appending a change that is in the records. */
static void end_change_block_book(struct block_book *b, int err)
{
	if (b->journal.state == BLOCK_JOURNAL_BEHIND)
		catch_up(b);
	else if (b->journal.state == BLOCK_JOURNAL_WHOLE)
		note_journal(b, err);
}

/* Reads a line of the file. A block that has expired meanwhile is left out. */
static bool take_block_book_line(void *user, char sign, uint64_t wall_expires_s, const char *word,
				 const char *what, const char *why)
{
	struct block_book *b = user;
	const uint64_t wall_s = clock_wall_s();
	int action = sign == '+' ? block_words_read_action(word) : 0;
	char text[BLOCK_WORDS_CAP];
	struct volley_block_key key;
	struct block_record *record;

	if (action < 0 || block_words_read(what, &b->secrets, &key, text))
		return false;
	record = block_records_find(&b->records, &key);
	if (record)
		block_records_remove(&b->records, record);
	if (sign == '-' || (wall_expires_s && wall_expires_s <= wall_s))
		return true;
	record = block_records_add(&b->records, &key, text, why);
	if (!record)
		return false;
	record->action = (uint32_t)action;
	record->wall_expires_s = wall_expires_s;
	if (wall_expires_s &&
	    block_records_expire(&b->records, record,
				 clock_coarse_s() + (uint32_t)(wall_expires_s - wall_s))) {
		block_records_remove(&b->records, record);
		return false;
	}
	return true;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static int refuse_words(const char *what, char *err, size_t err_cap)
{
	char ipv4[VALUE_IPV4_CAP];

	if (value_ipv4_of(what, ipv4))
		snprintf(err, err_cap, "%s: give the IPv4 address that is mapped there, %s", what,
			 ipv4);
	else
		snprintf(err, err_cap,
			 "%s: give a prefix (192.0.2.0/24), a name (example.com, or mx. with its "
			 "dot) or a type (ANY)",
			 what);
	return -EINVAL;
}

/* The reason becomes part of one line of a file or a terminal. */
static void clean_why(char *to, const char *why)
{
	snprintf(to, WHY_CAP, "%s", why ? why : "");
	for (char *c = to; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
}

static int take_order(struct block_book *b, const struct block_order *order,
		      struct block_record *record)
{
	const uint32_t now_s = clock_coarse_s();
	int err;

	record->action = order->action;
	record->wall_expires_s = order->for_s ? clock_wall_s() + order->for_s : 0;
	err = block_records_expire(&b->records, record,
				   order->for_s ? now_s + order->for_s : VOLLEY_NEVER);
	if (!err)
		err = put_in_place_block_book(b, record);
	if (err)
		return err;
	if (is_block_book_kept(b))
		err = block_journal_add(&b->journal, record->wall_expires_s,
					block_words_action(order->action), record->what,
					record->why);
	end_change_block_book(b, err);
	tell_kinds(b);
	return 0;
}

int block_book_add(struct block_book *b, const struct block_order *order, json_t **result,
		   char *err, size_t err_cap)
{
	char text[BLOCK_WORDS_CAP], why[WHY_CAP];
	struct volley_block_key key;
	struct block_record *record;
	int code;

	if (block_words_read(order->what, &b->secrets, &key, text))
		return refuse_words(order->what, err, err_cap);
	clean_why(why, order->why);
	code = begin_block_book(b);
	if (code)
		return code;
	record = renew_record(b, &key, text, why);
	if (!record)
		return -ENOMEM;
	code = take_order(b, order, record);
	if (code == -E2BIG)
		snprintf(err, err_cap, "there are %u blocks, and no room for more: remove some",
			 b->now->table.n);
	if (code) {
		drop_record(b, record);
		return code;
	}
	*result = block_book_describe(b, record);
	if (*result)
		json_object_set_new(*result, "kept", json_boolean(is_block_book_kept(b)));
	return *result ? 0 : -ENOMEM;
}

/* It is no success if the block comes back by a restart. */
static int remove_record(struct block_book *b, struct block_record *record, char *err,
			 size_t err_cap)
{
	int code = is_block_book_kept(b) ? block_journal_remove(&b->journal, record->what) : 0;

	drop_record(b, record);
	end_change_block_book(b, code);
	tell_kinds(b);
	if (b->journal.state == BLOCK_JOURNAL_NONE || is_block_book_kept(b))
		return 0;
	snprintf(err, err_cap, "it is removed, but a restart may bring it back: %s",
		 b->journal_error);
	return b->journal_code;
}

int block_book_remove(struct block_book *b, const char *what, char *err, size_t err_cap)
{
	const struct volley_block *there;
	char text[BLOCK_WORDS_CAP];
	struct volley_block_key key;
	struct block_record *record;

	if (block_words_read(what, &b->secrets, &key, text))
		return refuse_words(what, err, err_cap);
	record = block_records_find(&b->records, &key);
	if (record)
		return remove_record(b, record, err, err_cap);
	there = b->now ? block_table_get(&b->now->table, &key) : NULL;
	if (there)
		snprintf(err, err_cap,
			 "%s: the list %s blocks it: remove it there and reload, or add it with "
			 "--action allow",
			 text, b->lists[volley_block_list(there->rule) - 1].file);
	else
		snprintf(err, err_cap, "%s: it is not blocked", text);
	return ERR_NOT_FOUND;
}

/* ---- Time ------------------------------------------------------------------------------------ */

void block_book_tick(struct block_book *b)
{
	const uint32_t now_s = clock_coarse_s();
	struct block_record *record;
	unsigned int n = 0;

	if (b->journal.state == BLOCK_JOURNAL_BEHIND && now_s >= b->journal_due_s)
		catch_up(b);
	if (!b->now)
		return;
	while (n < EXPIRE_MAX && (record = block_records_expired(&b->records, now_s))) {
		drop_record(b, record);
		n++;
	}
	tell_kinds(b); /* repeated, since a cache that is being resized has a state of its own */
	if (block_table_retire(&b->now->table) && !b->env.grace(b->env.grace_user))
		block_table_reclaim(&b->now->table);
	if (is_block_book_kept(b) && b->journal.n_lines > LINES_MIN + 2 * b->records.n)
		write_all_block_book(b);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void free_lists(struct block_list *lists, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(lists[i].file);
		free(lists[i].why);
	}
	free(lists);
}

static int copy_lists(struct block_lists *l, const struct config *config)
{
	l->lists = calloc(config->n_block + 1, sizeof(*l->lists));
	if (!l->lists)
		return -ENOMEM;
	for (l->n = 0; l->n < config->n_block; l->n++) {
		const struct config_block *from = &config->block[l->n];
		struct block_list *to = &l->lists[l->n];

		to->action = from->action;
		to->file = strdup(from->file);
		to->why = from->why ? strdup(from->why) : NULL;
		if (!to->file || (from->why && !to->why)) {
			l->n++;
			return -ENOMEM;
		}
	}
	return 0;
}

static int begin_lists(struct block_book *b, struct block_lists *l, const struct config *config)
{
	*l = (struct block_lists){ .secrets = &b->secrets,
				   .is_map = b->env.blocks_fd >= 0,
				   .met = &b->met,
				   .spare = (uint32_t)b->records.n + BLOCK_TABLE_MIN };
	return copy_lists(l, config);
}

/* Puts the lists in use, in a larger table if commands have added too many blocks meanwhile. */
static int take_block_book_lists(struct block_book *b, struct block_lists *l)
{
	struct block_memory *larger;
	int err;

	while ((err = install_block_book(b, l->memory)) == -ENOSPC) {
		err = block_memory_new(&larger, 2 * l->memory->table.cap, l->is_map, &b->secrets,
				       &b->met);
		if (!err)
			err = block_memory_copy(larger, l->memory);
		if (err)
			return err;
		block_memory_free(l->memory);
		l->memory = larger;
	}
	if (err)
		return err;
	block_book_move_met(b, l->lists, l->n);
	free_lists(b->lists, b->n_lists);
	b->lists = l->lists;
	b->n_lists = l->n;
	l->lists = NULL;
	l->n = 0;
	l->memory = NULL;
	for (uint32_t i = 0; i < b->n_lists; i++)
		log_info("blocks: %s: %llu blocks; %llu lines are not understood", b->lists[i].file,
			 (unsigned long long)b->lists[i].n,
			 (unsigned long long)b->lists[i].n_wrong);
	return 0;
}

static void end_lists(struct block_lists *l)
{
	free_lists(l->lists, l->n);
	block_memory_free(l->memory);
	l->memory = NULL;
}

struct reload {
	struct background_job job;
	struct block_book *book;
	struct block_lists lists;
	block_done_fn *done;
	void *user;
	int code;
};

static void run_reload(struct background_job *job)
{
	struct reload *r = (struct reload *)job;

	r->code = background_is_cancelled(job) ? -ECANCELED : block_lists_read(&r->lists);
}

static void end_reload(struct background_job *job)
{
	struct reload *r = (struct reload *)job;
	struct block_book *b = r->book;

	if (background_is_cancelled(job))
		r->code = -ECANCELED;
	if (!r->code && *r->lists.error)
		r->code = ERR_CONFIG;
	if (!r->code)
		r->code = take_block_book_lists(b, &r->lists);
	if (!r->code)
		b->lacks_list = false;
	if (*r->lists.error)
		snprintf(b->error, sizeof(b->error), "%s: the lists of blocks stay as they are",
			 r->lists.error);
	else
		snprintf(b->error, sizeof(b->error), "%s",
			 r->code && r->code != -ECANCELED ? err_text(r->code) : "");
	if (*b->error)
		log_error("blocks: %s", b->error);
	end_lists(&r->lists);
	r->done(r->user, r->code);
	free(r);
}

int block_book_reload(struct block_book *b, const struct config *config, block_done_fn *done,
		      void *user)
{
	struct reload *r;

	if (!config->n_block && !b->n_lists) {
		*b->error = 0;
		b->lacks_list = false;
		done(user, 0);
		return 0;
	}
	r = calloc(1, sizeof(*r));
	if (!r || begin_lists(b, &r->lists, config)) {
		if (r)
			end_lists(&r->lists);
		free(r);
		return -ENOMEM;
	}
	r->book = b;
	r->done = done;
	r->user = user;
	r->job = (struct background_job){ .run = run_reload, .ended = end_reload };
	r->lists.is_cancelled = &r->job.is_cancelled;
	background_start(b->env.background, &r->job);
	return 0;
}

const char *block_book_error(const struct block_book *b)
{
	return b->error;
}

const char *block_book_journal_error(const struct block_book *b)
{
	return b->journal_error;
}

bool block_book_lacks_list(const struct block_book *b)
{
	return b->lacks_list;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static int read_lists(struct block_book *b, struct block_lists *l, const struct config *config)
{
	int err = begin_lists(b, l, config);

	if (!err)
		err = block_lists_read(l);
	b->lacks_list = !err && *l->error;
	if (b->lacks_list)
		snprintf(b->error, sizeof(b->error), "%s: this list blocks nothing", l->error);
	return err;
}

static int open_lists(struct block_book *b, const struct config *config)
{
	struct block_lists l;
	int err = read_lists(b, &l, config);

	if (*b->error)
		log_error("blocks: %s", b->error);
	if (!err)
		err = take_block_book_lists(b, &l);
	end_lists(&l);
	return err;
}

int block_book_check(const struct config *config, char *err, size_t err_cap)
{
	struct block_book *b = calloc(1, sizeof(*b));
	struct block_lists l;
	int code = b ? block_table_secrets(&b->secrets) : -ENOMEM;

	*err = '\0';
	if (!code && config->n_block) {
		b->env.blocks_fd = -1; /* in this process's memory */
		code = read_lists(b, &l, config);
		end_lists(&l);
		snprintf(err, err_cap, "policy.block: %s", b->error);
		if (!*b->error)
			*err = '\0';
	}
	if (code)
		snprintf(err, err_cap, "blocks: %s", err_text(code));
	free(b);
	return code;
}

int block_book_open(struct block_book **out, const struct block_env *env,
		    const struct config *config)
{
	struct block_book *b = calloc(1, sizeof(*b));
	int err;

	*out = NULL;
	if (!b)
		return -ENOMEM;
	b->env = *env;
	err = block_table_secrets(&b->secrets);
	if (err) {
		free(b);
		return err;
	}
	err = block_journal_open(&b->journal, env->storage, take_block_book_line, b);
	if (err)
		note_journal(b, err); /* volleyd serves without these blocks, and says so */
	err = 0;
	*out = b;
	if (config->n_block || b->records.n)
		err = open_lists(b, config);
	else
		tell_kinds(b); /* the state of an earlier daemon no longer holds */
	write_all_block_book(b);
	return err;
}

void block_book_close(struct block_book *b)
{
	if (!b)
		return;
	rcu_xchg_pointer(&b->env.published->blocks, NULL);
	block_memory_free(b->now);
	block_records_fini(&b->records);
	block_journal_close(&b->journal);
	free_lists(b->lists, b->n_lists);
	free(b);
}
