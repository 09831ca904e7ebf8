/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of an object, plain values are written first, and values that need lines of their own after them,
 * so that no value is overlooked. */
#include "client/result_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "config/settings.h"

#define INDENT_STEP 2

/* How the array KEY in the result of COMMAND is shown. NULL matches any key or command. */
struct view {
	const char *command;
	const char *key;
	bool is_list; /* show each item as a list of keys and values, not as a row */
	struct table_order order;
};

static const struct view views[] = {
	{ "zone status", "zones", true, { "", "", "" } },
	{ NULL,
	  "zones",
	  false,
	  { "name state role origin stage percent loading_s serial records memory_bytes",
	    "error warning transfer_error storage_error storage_warning",
	    "serves read_bytes read_records names load_ms loaded_at file template changed_names "
	    "changed_bytes driver_denials is_file_behind is_transferring checked_at refresh_at "
	    "expires_at" } },
	{ NULL,
	  "interfaces",
	  false,
	  { "name state xdp origin port zero_copy queues driver_answers ifindex program_id "
	    "program_tag",
	    "note", "" } },
	/* A port's name includes its kind, interface and queue. */
	{ NULL,
	  "ports",
	  false,
	  { "name worker core mode rx rx_bytes tx tx_bytes tx_retried tx_dropped truncated_in",
	    "tx_kicks note error", "kind interface queue" } },
	{ "stats", "by_way", false, { "transport way answers", "", "" } },
	{ "stats", "by_zone", false, { "zone answers", "", "" } },
	{ "cache lookup", "entries", true, { "", "", "" } },
	{ "cache top", "top", false, { "name type zone share_percent error_percent", "", "" } },
	{ "names", "zones_not_denied", false, { "zone", "why", "" } },
	{ "names rebuild", "zones_not_denied", false, { "zone", "why", "" } },
	{ "config diff", "changes", false, { "key change was becomes needs_start", "", "" } },
	{ "config apply", "changes", false, { "key change was becomes needs_start", "", "" } },
	{ "policy list",
	  "policies",
	  false,
	  { "name state rules ignored hits loaded_at", "file zone error", "" } },
	{ "resolver lookup", "before_upstream", false, { "by what does rule", "", "" } },
	{ "resolver lookup",
	  "failures",
	  false,
	  { "type ago_s times ede reason", "", "ede_code first_ago_s" } },
	{ "resolver lookup",
	  "cache",
	  false,
	  { "type do cd view rcode kind zone age_s expires_s expired_s state", "",
	    "valid generation queue used refresh_s entry_bytes full_bytes short_bytes "
	    "answer_records authority_records additional_records" } },
	{ NULL,
	  "upstreams",
	  false,
	  { "address tls_name thread state transport rtt_ns under_way sent answers failures "
	    "timeouts heard_s edns cookie caps tcp",
	    "",
	    "rtt_variation_ns wait_ns window failures_in_a_row timeouts_in_a_row tcp_under_way" } },
	{ NULL,
	  "targets",
	  false,
	  { "zone way asked under_way answered known bogus failed timed_out mean_ns last_answer_s "
	    "last_failure_s",
	    "addresses root_hints root_copy", "first transport" } },
	{ "block list", "lists", false, { "file action blocks other_lines met", "why", "" } },
	{ "block list", "blocks", false, { "block action left_s met", "why", "" } },
	{ "rrl top", "top", false, { "prefix over_s over_per_second slipped dropped", "", "" } },
	{ "cache stats",
	  NULL,
	  false,
	  { "by type kind zone view do cd entries size_bytes share_percent asked hits", "", "" } },
	{ NULL, NULL, false, { "", "note error", "" } },
};

static const struct view *find_view(const char *command, const char *key)
{
	const struct view *view = views;

	while ((view->key && strcmp(view->key, key)) ||
	       (view->command && strcmp(view->command, command)))
		view++;
	return view;
}

static bool is_array_of(const json_t *value, json_type type)
{
	size_t i;
	json_t *item;

	json_array_foreach(value, i, item)
		if (json_typeof(item) != type)
			return false;
	return json_array_size(value) > 0;
}

/* True for a list of sentences, which are strings with a space. Each gets a line. */
static bool is_sentences(const json_t *value)
{
	return is_array_of(value, JSON_STRING) &&
	       strchr(json_string_value(json_array_get(value, 0)), ' ');
}

/* True if the value needs lines of its own. */
static bool is_block(const json_t *value)
{
	return json_is_object(value) || is_array_of(value, JSON_OBJECT) || is_sentences(value);
}

/* Of the values on their label's line: widths, sum, and whether all are numbers. */
struct list {
	size_t label_width;
	size_t value_width;
	json_int_t sum;
	bool is_numbers;
};

static int measure_result(const json_t *object, struct list *list)
{
	const char *key;
	json_t *value;

	*list = (struct list){ .is_numbers = true };
	json_object_foreach((json_t *)object, key, value) {
		char label[64];
		char *text;

		if (is_block(value))
			continue;
		units_put_label(key, label, sizeof(label));
		text = units_put(key, value);
		if (!text)
			return -ENOMEM;
		if (units_width(label) > list->label_width)
			list->label_width = units_width(label);
		if (units_width(text) > list->value_width)
			list->value_width = units_width(text);
		list->is_numbers &= json_is_number(value);
		list->sum += json_integer_value(value);
		free(text);
	}
	return 0;
}

static void put_result_label(FILE *out, int indent, const char *key, size_t width)
{
	char label[64];

	units_put_label(key, label, sizeof(label));
	fprintf(out, "%*s%s:", indent, "", label);
	for (size_t used = units_width(label); used < width; used++)
		fputc(' ', out);
}

static int put_result_line(FILE *out, int indent, const struct list *list, const char *key,
			   const json_t *value, bool with_shares)
{
	char *text = units_put(key, value);

	if (!text)
		return -ENOMEM;
	put_result_label(out, indent, key, list->label_width);
	fputc(' ', out);
	if (list->is_numbers)
		for (size_t used = units_width(text); used < list->value_width; used++)
			fputc(' ', out);
	fputs(text, out);
	if (with_shares && list->sum > 0)
		fprintf(out, "  %5.1f %%",
			100.0 * (double)json_integer_value(value) / (double)list->sum);
	fputc('\n', out);
	free(text);
	return 0;
}

static int put_result_object(FILE *out, int indent, const char *command, const json_t *object,
			     bool with_shares);

static void put_sentences(FILE *out, int indent, const json_t *value)
{
	size_t i;
	json_t *item;

	json_array_foreach(value, i, item) {
		char *text = units_put("", item);

		fprintf(out, "%*s- %s\n", indent, "", text ? text : "");
		free(text);
	}
}

/* The columns of the terminal that OUT is; 0: it is none, and programs read whole lines. */
static unsigned int get_width(FILE *out)
{
	struct winsize size;

	return ioctl(fileno(out), TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

static int put_result_array(FILE *out, int indent, const char *command, const struct view *view,
			    const json_t *value)
{
	size_t i;
	json_t *item;
	int ret = 0;

	if (!view->is_list)
		return table_put(out, indent, get_width(out), value, &view->order);
	json_array_foreach(value, i, item) {
		if (i)
			fputc('\n', out);
		ret = put_result_object(out, indent, command, item, false);
		if (ret)
			break;
	}
	return ret;
}

static int put_block(FILE *out, int indent, const char *command, const char *key,
		     const json_t *value)
{
	if (json_is_object(value))
		return put_result_object(out, indent, command, value, !strcmp(key, "answered"));
	if (is_array_of(value, JSON_OBJECT))
		return put_result_array(out, indent, command, find_view(command, key), value);
	put_sentences(out, indent, value);
	return 0;
}

static int put_result_object(FILE *out, int indent, const char *command, const json_t *object,
			     bool with_shares)
{
	struct list list;
	const char *key;
	json_t *value;
	int ret = measure_result(object, &list);
	bool is_first = true;

	json_object_foreach((json_t *)object, key, value) {
		if (ret || is_block(value))
			continue;
		ret = put_result_line(out, indent, &list, key, value, with_shares);
		is_first = false;
	}
	json_object_foreach((json_t *)object, key, value) {
		if (ret || !is_block(value) || (json_is_object(value) && !json_object_size(value)))
			continue;
		if (!indent && !is_first)
			fputc('\n', out);
		is_first = false;
		put_result_label(out, indent, key, 0);
		fputc('\n', out);
		ret = put_block(out, indent + INDENT_STEP, command, key, value);
	}
	return ret;
}

/* Writes a configuration in the form of a file that volleyd can read. */
static void put_result_config(FILE *out, const json_t *result)
{
	json_t *warning;
	size_t i;

	fprintf(out, "# %s\n", json_string_value(json_object_get(result, "file")));
	json_array_foreach(json_object_get(result, "warnings"), i, warning)
		fprintf(out, "# %s\n", json_string_value(warning));
	settings_put_yaml(out, json_object_get(result, "config"),
			  json_object_get(result, "origins"));
}

static void put_named_sentences(FILE *out, const char *what, const json_t *sentences)
{
	json_t *sentence;
	size_t i;

	json_array_foreach(sentences, i, sentence)
		fprintf(out, "%s: %s\n", what, json_string_value(sentence));
}

static void put_no_change(FILE *out, const json_t *result)
{
	fputs("no key would change\n", out);
	put_named_sentences(out, "warning", json_object_get(result, "warnings"));
	put_named_sentences(out, "failed", json_object_get(result, "failed"));
}

/* Each record is a line, which begins in column 0: it can be pasted into the parent's zone file. */
static void put_pasted_records(FILE *out, const json_t *records)
{
	json_t *record;
	size_t i;

	json_array_foreach(records, i, record)
		fprintf(out, "%s\n", json_string_value(record));
}

int result_text(FILE *out, const char *command, const json_t *result)
{
	const char *key = json_object_iter_key(json_object_iter((json_t *)result));
	const json_t *value = key ? json_object_get(result, key) : NULL;

	if (!strcmp(command, "config show")) {
		put_result_config(out, result);
		return 0;
	}
	if (!strncmp(command, "config ", 7) &&
	    !json_array_size(json_object_get(result, "changes"))) {
		put_no_change(out, result);
		return 0;
	}
	if (!strcmp(command, "zone ds")) {
		put_pasted_records(out, value);
		return 0;
	}
	if (!json_object_size(result)) {
		fputs("done\n", out);
		return 0;
	}
	/* A result that is one table needs no title. */
	if (json_object_size(result) == 1 && is_array_of(value, JSON_OBJECT))
		return put_block(out, 0, command, key, value);
	return put_result_object(out, 0, command, result, false);
}

/* --- In pieces -------------------------------------------------------------------------------- */

static int put_whole_pieces(const struct result_pieces *pieces, json_t *rows)
{
	json_t *result = json_pack("{s:O}", pieces->key, rows);
	int ret = result ? result_text(pieces->out, pieces->command, result) : -ENOMEM;

	json_decref(result);
	return ret;
}

/* A list of lists: each piece is written by itself, after an empty line. */
static int put_list_piece(const struct result_pieces *pieces, json_t *rows, bool is_first)
{
	if (!json_array_size(rows))
		return 0;
	if (!is_first)
		fputc('\n', pieces->out);
	return put_whole_pieces(pieces, rows);
}

int result_pieces_put(struct result_pieces *pieces, json_t *rows, bool is_last)
{
	const struct view *view = find_view(pieces->command, pieces->key);
	const bool is_first = !pieces->is_begun;
	int ret = 0;

	pieces->is_begun = true;
	if (is_first && is_last)
		return put_whole_pieces(pieces, rows);
	if (view->is_list)
		return put_list_piece(pieces, rows, is_first);
	if (!pieces->table)
		ret = table_new(&pieces->table, 0, 0, &view->order);
	return ret ? ret : table_put_rows(pieces->table, pieces->out, rows);
}

void result_pieces_end(struct result_pieces *pieces)
{
	table_free(pieces->table);
	pieces->table = NULL;
}
