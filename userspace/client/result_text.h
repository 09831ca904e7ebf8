/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the results of commands as text.
 *
 * The shapes below only decide the order of columns. A key that is not among them is shown behind
 * the others, so the daemon may add keys. An array of objects becomes a table, and an object a list
 * of keys and values, with units (units_put()).
 *
 *	status       {version, pid, uptime_s, abi, state:"starting|serving|stopping", ready,
 *	              progress, degraded:[sentence...],
 *	              interfaces:[{name, ifindex, xdp:"native", origin:"loaded|adopted|replaced",
 *	                program_id, program_tag, port:"xsk", zero_copy, queues, driver_answers,
 *	                state:"up|gone", note}...],
 *	              workers, zones:{serving, stale, failed, loading},
 *	              recursion:{mode:"off|forward|iterate", zones_for_everyone,
 *	                by:"forwarder|libunbound", transport, upstreams:[text...], root_hints,
 *	                stubs, client_prefixes, validates, threads, outstanding, max_outstanding},
 *	              cache:{size_bytes, used_bytes, entries}}
 *	stats        {answered:{driver, worker, kernel_socket, tcp, tls},
 *	              answers:{total, by_rcode:{NOERROR...}, by_qtype:{A...}, by_opcode:{QUERY...},
 *	                by_family:{ipv4, ipv6},
 *	                by_way:[{transport, way, answers}...], by_zone:[{zone, answers}...]},
 *	              driver:{received, hit, up, passed, dropped, reasons:{name:count...}},
 *	              engine:{queries, noerror, nxdomain, refused, ...},
 *	              resolver:{asked, answered, secure, bogus, failed, timed_out, outstanding,
 *	                ...},
 *	              responder:{taken, released, replies, ...},
 *	              ports:[{name, kind, rx, tx, tx_retried, tx_dropped, truncated, ...}...]}
 *	zone list    {zones:[{name, state:"serving|stale|failed|loading|awaited|expired", serves,
 *	and status    stage, percent, read_bytes, read_records, loading_s, serial, records, names,
 *	              memory_bytes, load_ms, loaded_at, file, error}...]}
 *	policy list  {policies:[{name, state:"serving|stale|failed", rules, ignored, loaded_at,
 *	              file, error}...], error}
 *	resolver     {name, type, answered_by,
 *	lookup        before_upstream:[{by:"zone|local-data|policy|special name", what, does,
 *	               rule:[text...]}...],
 *	              asks:{by, way:"forward|forward zone|stub|from the root down", zone,
 *	              addresses, first, transport, root_hints}, upstreams or targets as below,
 *	              validation:{validates, why, trust_anchors:[text...], negative_anchor,
 *	              negative_by, file, error},
 *	              failures:[{type, ago_s, first_ago_s, times, ede, ede_code, reason}...],
 *	              cache:[as entries of cache lookup...]}
 *	resolver     {by:"forwarder|libunbound", upstreams:[{address, tls_name, thread, state,
 *	infra          transport, rtt_ns, under_way, sent, answers, failures, timeouts, heard_s,
 *	               edns, cookie, caps, tcp, ...}...],
 *	              targets:[{zone, way, addresses, asked, under_way, answered, known, bogus,
 *	                failed, timed_out, mean_ns, ...}...], not_told:[sentence...]}
 *	cache stats  {size_bytes, total_bytes, used_bytes, index_bytes, store_bytes, entries,
 *	              capacity_entries, segments, segments_free, published, replaced, evicted,
 *	              expired, grace_periods, rss_bytes, within_budget, answers_bytes,
 *	              entries_stale, entries_expired, driver_share_percent,
 *	              hits_by:[{by:"driver|worker", asked, hits, ratio_percent}...],
 *	              age:{median_s, oldest_s}, time_to_expiry:{entries, soonest_s, ...},
 *	              by_type:[{type, entries, size_bytes, share_percent}...],
 *	              by_kind:[{kind, ...}...], by_zone:[{zone, ...}...],
 *	              by_variant:[{view:"public|recursive|private",
 *	              do, cd, ...}...]}
 *	cache lookup {found, entries:[{type, do, cd, view, rcode, kind, zone, valid, state, queue,
 *	              used, age_s, expires_s, refresh_s, entry_bytes, full_bytes, short_bytes,
 *	              answer_records:[text...], authority_records, additional_records}...]}
 *	cache flush  {withdrawn}
 *	cache top    {figures, answers, samples, half_life_s,
 *	              top:[{name|type|zone, share_percent, error_percent, answers}...]}
 *	drain        {drained, why}
 *	config show  {file, warnings:[sentence...], config:{the tree of config/settings.h},
 *	              origins:{path:text...}}
 *	config diff  {file, changes:[{key, change, was, becomes, needs_start}...],
 *	and apply     warnings:[sentence...]}
 *	port status  {ports:[{interface, queue, kind, core, mode:"copy|zero-copy", rx, tx, ...}...]}
 *	names        {in_use, size_bytes, names_served, names_added, names_gone, ...,
 *	              zones_not_denied:[{zone, why}...]}
 *	the others   any object; {} is written as "done"
 *
 * *_at is seconds since 1970 or a string. In a row, a missing or null value is "-". A column
 * without any value is left out.
 */
#ifndef VOLLEY_CLIENT_RESULT_TEXT_H
#define VOLLEY_CLIENT_RESULT_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Writes RESULT, the object in the reply to COMMAND ("zone list"). Returns 0 or -ENOMEM, after
 * which a part may have been written. The caller checks OUT for errors. Any thread.
 */
int result_text(FILE *out, const char *command, const json_t *result)
	__attribute__((warn_unused_result));

/*
 * A list of COMMAND, the array KEY of its result, that comes in pieces. If the first one is the
 * last, the text is that of result_text(). After result_pieces_put() has failed, the list ends. The
 * texts must live as long.
 */
struct result_pieces {
	FILE *out;
	const char *command;
	const char *key;
	struct table *table; /* NULL before the first piece, and for a list that is no table */
	bool is_begun;
};

/* Writes the rows of ROWS. 0 or -ENOMEM. */
int result_pieces_put(struct result_pieces *pieces, json_t *rows, bool is_last)
	__attribute__((warn_unused_result));
void result_pieces_end(struct result_pieces *pieces);

/* Writes an array of objects as a table: a column for each key, numbers to the right. */

#define TABLE_COLUMNS_CAP 48 /* further keys are not shown */

/* Lists of keys with spaces between them. A key in no list comes between first and last. */
struct table_order {
	const char *first;
	const char *last;
	const char *hidden;
};

/*
 * Writes ROWS, an array of objects with at least one, each line after INDENT spaces. A column
 * without any value is left out. Columns beyond WIDTH characters follow in a further table, which
 * has the first column again; 0: there is no bound. Returns 0 or -ENOMEM.
 */
int table_put(FILE *out, int indent, unsigned int width, const json_t *rows,
	      const struct table_order *order) __attribute__((warn_unused_result));

/*
 * The same for rows that come in pieces: table_put_rows() writes the titles before the first rows,
 * and again before rows that have a new column. Columns get no narrower, and a wide cell of later
 * rows makes only its own line longer. ORDER's words must live as long as the table. 0 or -ENOMEM.
 */
struct table;
int table_new(struct table **out, int indent, unsigned int width, const struct table_order *order)
	__attribute__((warn_unused_result));
int table_put_rows(struct table *table, FILE *out, const json_t *rows)
	__attribute__((warn_unused_result));
void table_free(struct table *table); /* NULL is allowed */

/* True if WORD is in LIST, which has spaces between its words. */
int table_has_word(const char *list, const char *word);

/*
 * Numbers for people to read. A key's name ends in its unit, in results as in our code.
 *
 *	_bytes ──► 256.0 MiB   _ns, _ms, _s ──► 1.2 us, 34 ms, 2 d 3 h   _at ──► 2026-01-31 09:05:00
 *
 * Numbers without a unit are counts and get separators between thousands, except under a few names
 * (pid, serial, ...) that are no counts.
 */

/*
 * The value of KEY for people to read, a new string; NULL: no memory. Control characters are
 * replaced; null is "-"; arrays and objects are on one line.
 */
char *units_put(const char *key, const json_t *value);

/* The key without its unit and with spaces, "used_bytes" is "used", in BUF, cut to CAP. */
void units_put_label(const char *key, char *buf, size_t cap);

/* The columns of TEXT in a terminal, if each character takes one column. */
size_t units_width(const char *text);

#endif
