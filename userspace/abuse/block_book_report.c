/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/clock.h"
#include "bpf/tables.h"
#include "abuse/block_book.h"
#include "abuse/block_book_internal.h"
#include "abuse/block_records.h"

/* ---- Counters of lists ----------------------------------------------------------------------- */

/* All packets counted under each list's number, by engines and programs. */
static void read_met(const struct block_book *b, uint64_t met[VOLLEY_BLOCK_LISTS])
{
	memset(met, 0, VOLLEY_BLOCK_LISTS * sizeof(met[0]));
	if (b->env.blocked_fd >= 0 && block_map_met(b->env.blocked_fd, met))
		memset(met, 0, VOLLEY_BLOCK_LISTS * sizeof(met[0]));
	for (uint32_t i = 0; i < VOLLEY_BLOCK_LISTS; i++)
		met[i] += __atomic_load_n(&b->met.of[i], __ATOMIC_RELAXED);
}

/* The count of the i-th list, whose number is i + 1. */
static uint64_t met_of(const struct block_book *b, const uint64_t *met, uint32_t i)
{
	return b->carry[i] + met[i + 1] - b->base[i];
}

void block_book_move_met(struct block_book *b, const struct block_list *lists, uint32_t n)
{
	uint64_t met[VOLLEY_BLOCK_LISTS], carry[VOLLEY_BLOCK_LISTS] = { 0 };

	read_met(b, met);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < b->n_lists; j++)
			if (!strcmp(lists[i].file, b->lists[j].file))
				carry[i] = met_of(b, met, j);
	memcpy(b->carry, carry, sizeof(carry));
	for (uint32_t i = 0; i < n; i++)
		b->base[i] = met[i + 1];
}

/* ---- As JSON --------------------------------------------------------------------------------- */

json_t *block_book_describe(const struct block_book *b, const struct block_record *record)
{
	const struct volley_block *block = block_table_get(&b->now->table, &record->key);
	uint64_t met = record->met_before;
	json_t *o;

	if (block)
		met += __atomic_load_n(&block->met, __ATOMIC_RELAXED);
	o = json_pack("{s:s, s:s, s:I}", "block", record->what, "action",
		      block_words_action(record->action), "met", (json_int_t)met);
	if (o && record->expires_s != VOLLEY_NEVER) {
		uint32_t now_s = clock_coarse_s();

		json_object_set_new(
			o, "left_s",
			json_integer(record->expires_s > now_s ? record->expires_s - now_s : 0));
	}
	if (o && *record->why)
		json_object_set_new(o, "why", json_string(record->why));
	return o;
}

static json_t *describe_list(const struct block_list *list, uint64_t met)
{
	json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I}", "file", list->file, "action",
			      block_words_action(list->action), "blocks", (json_int_t)list->n,
			      "other_lines", (json_int_t)list->n_wrong, "met", (json_int_t)met);

	if (o && list->why)
		json_object_set_new(o, "why", json_string(list->why));
	return o;
}

struct listing {
	const struct block_book *book;
	json_t *to;
	uint32_t n_left;
};

static void append_block_report(void *user, struct block_record *record)
{
	struct listing *listing = user;

	if (!listing->n_left)
		return;
	listing->n_left--;
	json_array_append_new(listing->to, block_book_describe(listing->book, record));
}

json_t *block_book_report(struct block_book *b, uint32_t n)
{
	struct listing listing = { .book = b, .to = json_array(), .n_left = n };
	uint64_t met[VOLLEY_BLOCK_LISTS];
	json_t *lists = json_array();

	read_met(b, met);
	for (uint32_t i = 0; i < b->n_lists; i++)
		json_array_append_new(lists, describe_list(&b->lists[i], met_of(b, met, i)));
	block_records_each(&b->records, append_block_report, &listing);
	return json_pack("{s:I, s:I, s:I, s:b, s:s*, s:o, s:o}", "total",
			 (json_int_t)(b->now ? b->now->table.n : 0), "by_command",
			 (json_int_t)b->records.n, "memory_bytes",
			 b->now ? (json_int_t)b->now->n_chunks * VOLLEY_BLOCK_CHUNK_BYTES :
				  (json_int_t)0,
			 "kept", b->journal.state == BLOCK_JOURNAL_WHOLE, "error",
			 *b->error         ? b->error :
			 *b->journal_error ? b->journal_error :
					     NULL,
			 "lists", lists, "blocks", listing.to);
}

/* ---- As metrics ------------------------------------------------------------------------------ */

struct sum {
	const struct block_book *book;
	uint64_t met;
};

static void add_met(void *user, struct block_record *record)
{
	struct sum *sum = user;
	const struct volley_block *block = block_table_get(&sum->book->now->table, &record->key);

	sum->met += record->met_before;
	if (block)
		sum->met += __atomic_load_n(&block->met, __ATOMIC_RELAXED);
}

void block_book_metrics(struct block_book *b, struct metrics_text *out)
{
	struct sum commands = { .book = b };
	uint64_t met[VOLLEY_BLOCK_LISTS];

	read_met(b, met);
	block_records_each(&b->records, add_met, &commands);
	metrics_text_family(out, METRICS_GAUGE, "blocks", "prefixes, names and types, by list");
	metrics_text_sample(out, b->records.n, "list", "commands", NULL);
	for (uint32_t i = 0; i < b->n_lists; i++)
		metrics_text_sample(out, b->lists[i].n, "list", b->lists[i].file, NULL);
	metrics_text_family(out, METRICS_GAUGE, "blocks_met",
			    "packets that the blocks there are have met, by list");
	metrics_text_sample(out, commands.met, "list", "commands", NULL);
	for (uint32_t i = 0; i < b->n_lists; i++)
		metrics_text_sample(out, met_of(b, met, i), "list", b->lists[i].file, NULL);
	metrics_text_family(out, METRICS_GAUGE, "blocks_error",
			    "1 when a list could not be read, or blocks are not kept");
	metrics_text_sample(out, *b->error || b->journal_code, NULL);
}
