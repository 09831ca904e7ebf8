/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/top_view.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "client/result_text.h"

#define LINE_CAP    1024
#define NUMBERS     33u /* width of the columns after a row's key */
#define ROWS_CAP    1024u
#define CLEARS_REST "\033[K\n"

static const char *const words[TOP_N_KINDS] = {
#define TOP_WORD(name, word) word,
	TOP_VIEW_LIST(TOP_WORD)
#undef TOP_WORD
};

bool top_view_find(enum top_kind *kind, const char *word)
{
	for (int k = 0; k < TOP_N_KINDS; k++) {
		if (strcmp(words[k], word) != 0 && (word[0] != words[k][0] || word[1]))
			continue;
		*kind = (enum top_kind)k;
		return true;
	}
	return false;
}

void top_view_remember(struct top_view *view, double per_second)
{
	memmove(view->history, view->history + 1, (TOP_HISTORY - 1) * sizeof(view->history[0]));
	view->history[TOP_HISTORY - 1] = per_second;
	view->n_history += view->n_history < TOP_HISTORY;
}

/* --- Rates ------------------------------------------------------------------------------------ */

static double top_page_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* The counters of a new daemon begin at 0. */
static double rate(double now, double before, double seconds)
{
	return seconds > 0 && now > before ? (now - before) / seconds : 0;
}

static json_t *object_rates(const json_t *now, const json_t *before, double seconds)
{
	json_t *o = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)now, key, value)
		json_object_set_new(o, key,
				    json_real(rate(json_number_value(value),
						   top_page_number(before, key), seconds)));
	return o;
}

/* True if two rows differ only in their numbers. */
static bool is_same_row(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)a, key, value)
		if (json_is_string(value) && !json_equal(value, json_object_get(b, key)))
			return false;
	return true;
}

static json_t *row_rates(const json_t *now, const json_t *before, double seconds)
{
	json_t *list = json_array(), *row, *other;
	size_t i, k;

	json_array_foreach(now, i, row) {
		json_t *copy = json_copy(row);
		double was = 0;

		json_array_foreach(before, k, other)
			if (is_same_row(row, other))
				was = top_page_number(other, "answers");
		json_object_del(copy, "answers");
		json_object_set_new(copy, "per_second",
				    json_real(rate(top_page_number(row, "answers"), was, seconds)));
		json_array_append_new(list, copy);
	}
	return list;
}

static void share_rates(const json_t *rows, double total)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		json_object_set_new(row, "per_second",
				    json_real(top_page_number(row, "share_percent") / 100 * total));
}

double top_view_rates(json_t *now, const json_t *before)
{
	const double seconds =
		(top_page_number(now, "time_ms") - top_page_number(before, "time_ms")) / 1000;
	const json_t *answers = json_object_get(now, "answers");
	const json_t *old = json_object_get(before, "answers");
	double total =
		rate(top_page_number(answers, "total"), top_page_number(old, "total"), seconds);
	json_t *o = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)answers, key, value) {
		const json_t *was = json_object_get(old, key);

		if (json_is_object(value))
			json_object_set_new(o, key, object_rates(value, was, seconds));
		else if (json_is_array(value))
			json_object_set_new(o, key, row_rates(value, was, seconds));
	}
	json_object_set_new(o, "total", json_real(total));
	json_object_set_new(o, "shed",
			    json_real(rate(top_page_number(now, "shed"),
					   top_page_number(before, "shed"), seconds)));
	json_object_set_new(now, "per_second", o);
	share_rates(json_object_get(now, "clients"), total);
	share_rates(json_object_get(now, "names"), total);
	return total;
}

/* --- Lines ------------------------------------------------------------------------------------ */

struct page {
	FILE *out;
	const struct top_view *view;
	unsigned int n_lines;
};

static bool has_top_page_room(const struct page *page)
{
	return !page->view->height || page->n_lines < page->view->height;
}

/* The length in octets of the first `width` characters of UTF-8. */
static size_t cut(const char *text, unsigned int width)
{
	size_t at = 0;

	while (text[at]) {
		if ((text[at] & 0xc0) != 0x80 && !width--)
			break;
		at++;
	}
	return at;
}

/* The last line of a terminal gets no newline, which would scroll the terminal. */
__attribute__((format(printf, 2, 3))) static void put(struct page *page, const char *format, ...)
{
	const struct top_view *view = page->view;
	char line[LINE_CAP];
	va_list args;
	size_t n;

	if (!has_top_page_room(page))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	n = cut(line, view->width);
	while (n && line[n - 1] == ' ')
		n--;
	if (page->n_lines && view->is_live)
		fputs(CLEARS_REST, page->out);
	fwrite(line, 1, n, page->out);
	if (!view->is_live)
		fputc('\n', page->out);
	page->n_lines++;
}

/* A number of at most 13 columns, with commas. The text is valid until the fifth later call. */
static const char *format_count(double n)
{
	static __thread char texts[5][32];
	static __thread unsigned int at;
	json_t *value = json_integer((json_int_t)(n + 0.5));
	char *text = units_put("", value);

	at = (at + 1) % 5;
	snprintf(texts[at], sizeof(texts[at]), "%s", text ? text : "?");
	free(text);
	json_decref(value);
	return texts[at];
}

static void put_history(struct page *page)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { ".", ":", "-", "=", "+", "*", "%", "#" };
	const struct top_view *view = page->view;
	char bars[TOP_HISTORY * 3 + 1] = "";
	double most = 0;

	for (unsigned int i = TOP_HISTORY - view->n_history; i < TOP_HISTORY; i++)
		most = view->history[i] > most ? view->history[i] : most;
	for (unsigned int i = TOP_HISTORY - view->n_history; i < TOP_HISTORY; i++) {
		int level = most > 0 ? (int)(view->history[i] / most * 7.999) : 0;

		strcat(bars, (view->is_utf8 ? blocks : ascii)[level]);
	}
	put(page, "%-4s%s  most %s", "60 s", bars, format_count(most));
}

static void put_top_page_ways(struct page *page, const json_t *rates)
{
	const double total = top_page_number(rates, "total");
	char line[LINE_CAP] = "from";
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(rates, "by_way"), i, row) {
		const char *way = json_string_value(json_object_get(row, "way"));
		const char *transport = json_string_value(json_object_get(row, "transport"));
		double share = total > 0 ? top_page_number(row, "per_second") / total * 100 : 0;
		size_t n = strlen(line);

		snprintf(line + n, sizeof(line) - n, "  %s/%s %.1f %%", way ? way : "?",
			 transport ? transport : "?", share < 100 ? share : 100);
	}
	put(page, "%s", line);
}

static void put_top_page_head(struct page *page, const json_t *now)
{
	const json_t *rates = json_object_get(now, "per_second");
	const json_int_t one_in = json_integer_value(json_object_get(now, "one_in"));
	char drawn[64];

	snprintf(drawn, sizeof(drawn), one_in > 1 ? "1 in %lld sampled" : "all sampled",
		 (long long)one_in);
	put(page, "%s answers/s    %s    limited prefixes %s    shed/s %s%s",
	    format_count(top_page_number(rates, "total")), drawn,
	    format_count(top_page_number(now, "limited_prefixes")),
	    format_count(top_page_number(rates, "shed")),
	    page->view->is_paused ? "    PAUSED" : "");
	put_history(page);
	put_top_page_ways(page, rates);
}

static void put_top_page_keys(struct page *page)
{
	char line[LINE_CAP] = "";

	for (int k = 0; k < TOP_N_KINDS; k++) {
		const char *form = (int)page->view->kind == k ? "[%c %s]" : " %c %s ";
		size_t n = strlen(line);

		snprintf(line + n, sizeof(line) - n, form, words[k][0], words[k]);
	}
	put(page, "%s ? keys  q quit", line);
}

/* --- Tables ----------------------------------------------------------------------------------- */

static unsigned int key_width(const struct page *page)
{
	return page->view->width > NUMBERS + 8 ? page->view->width - NUMBERS : 8;
}

/* A key that is too long ends in dots. */
static void put_top_page_row(struct page *page, const char *key, const char *a, const char *b,
			     const char *c)
{
	const unsigned int width = key_width(page);
	char text[LINE_CAP / 2];

	snprintf(text, sizeof(text), "%s", key ? key : "?");
	if (units_width(text) > width)
		snprintf(text + cut(text, width - 3), 4, "...");
	put(page, "%s%*s %9s %8s %13s", text, (int)(width - units_width(text)), "", a, b, c);
}

static const char *percent(char buf[16], double value)
{
	snprintf(buf, 16, "%.1f %%", value);
	return buf;
}

static void put_estimates(struct page *page, const json_t *rows, const char *key, const char *title)
{
	char share[16], error[16];
	json_t *row;
	size_t i;

	put_top_page_row(page, title, "SHARE", "+-", "ANSWERS/S");
	json_array_foreach(rows, i, row)
		put_top_page_row(page, json_string_value(json_object_get(row, key)),
				 percent(share, top_page_number(row, "share_percent")),
				 percent(error, top_page_number(row, "error_percent")),
				 format_count(top_page_number(row, "per_second")));
}

struct row {
	const char *key;
	double per_second;
};

/* Sorts by number, the largest first, and equal numbers by name, so that rows keep their places. */
static int compare_top_page(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->per_second != y->per_second)
		return x->per_second < y->per_second ? 1 : -1;
	return strcmp(x->key, y->key);
}

static size_t collect_top_page(struct row rows[ROWS_CAP], const json_t *from)
{
	const char *key;
	json_t *value;
	size_t n = 0, i;

	json_object_foreach((json_t *)from, key, value)
		if (n < ROWS_CAP)
			rows[n++] = (struct row){ key, json_number_value(value) };
	json_array_foreach(from, i, value) {
		key = json_string_value(json_object_get(value, "zone"));
		if (key && n < ROWS_CAP)
			rows[n++] = (struct row){ key, top_page_number(value, "per_second") };
	}
	qsort(rows, n, sizeof(rows[0]), compare_top_page);
	return n;
}

/* Rows without an answer since the last reply are left out. */
static void put_top_page_counted(struct page *page, const json_t *rates, const char *key,
				 const char *title)
{
	const double total = top_page_number(rates, "total");
	struct row rows[ROWS_CAP];
	size_t n = collect_top_page(rows, json_object_get(rates, key));
	char share[16];

	put_top_page_row(page, title, "SHARE", "", "ANSWERS/S");
	for (size_t i = 0; i < n && rows[i].per_second > 0; i++)
		put_top_page_row(page, rows[i].key,
				 percent(share, total > 0 ? rows[i].per_second / total * 100 : 0),
				 "", format_count(rows[i].per_second));
}

static void put_limited(struct page *page, const json_t *rows)
{
	json_t *row;
	size_t i;

	put(page, "%-28s %9s %10s %13s %13s", "PREFIX", "OVER FOR", "OVER/S", "SLIPPED", "DROPPED");
	json_array_foreach(rows, i, row) {
		char *text = units_put("over_s", json_object_get(row, "over_s"));
		const char *prefix = json_string_value(json_object_get(row, "prefix"));

		put(page, "%-28s %9s %10s %13s %13s", prefix ? prefix : "?", text ? text : "",
		    format_count(top_page_number(row, "over_per_second")),
		    format_count(top_page_number(row, "slipped")),
		    format_count(top_page_number(row, "dropped")));
		free(text);
	}
}

static void put_table(struct page *page, const json_t *now)
{
	const json_t *rates = json_object_get(now, "per_second");

	switch (page->view->kind) {
	case TOP_CLIENTS:
		put_estimates(page, json_object_get(now, "clients"), "prefix", "CLIENTS");
		break;
	case TOP_NAMES:
		put_estimates(page, json_object_get(now, "names"), "name", "NAME");
		break;
	case TOP_TYPES:
		put_top_page_counted(page, rates, "by_qtype", "TYPE");
		break;
	case TOP_RCODES:
		put_top_page_counted(page, rates, "by_rcode", "RCODE");
		break;
	case TOP_ZONES:
		put_top_page_counted(page, rates, "by_zone", "ZONE");
		break;
	default:
		put_limited(page, json_object_get(now, "limited"));
	}
}

static void put_help(struct page *page)
{
	static const char *const lines[] = {
		"c  clients: the prefixes that got most answers, estimated",
		"n  names: the names that were asked for most, estimated",
		"t  types: answers by type of the question",
		"r  rcodes: answers by response code",
		"z  zones: answers by zone",
		"l  limited: prefixes over their rate limit",
		"space  stops the picture, and goes on",
		"?  this help; each other key leaves it",
		"q  quit",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		put(page, "%s", lines[i]);
}

void top_view_draw(FILE *out, const struct top_view *view, const json_t *now)
{
	struct page page = { .out = out, .view = view };

	put_top_page_head(&page, now);
	if (view->is_live)
		put_top_page_keys(&page);
	put(&page, "%s", "");
	if (view->is_help)
		put_help(&page);
	else
		put_table(&page, now);
	if (view->is_live)
		fputs("\033[J", out);
}
