/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter of names that exist, as the daemon has it. */
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "config/words.h"
#include "daemon/daemon_internal.h"
#include "dns/name.h"
#include "dns/proto.h"

#define LOOK_NS (60 * CLOCK_NS_PER_S)
#define REBUILD_NS \
	(600 *     \
	 CLOCK_NS_PER_S) /* between two rebuilds at least: each keeps control's thread for as long as a load */

static void say_size(const char *key, const char *what, uint32_t has_lines, uint32_t said_lines)
{
	char has[24], said[24];

	if (has_lines == said_lines)
		return;
	words_put_size((uint64_t)has_lines * VOLLEY_NAMES_LINE_BYTES, has, sizeof(has));
	words_put_size((uint64_t)said_lines * VOLLEY_NAMES_LINE_BYTES, said, sizeof(said));
	log_notice(
		"%s: the XDP program that was adopted has %s of %s, which stays; %s holds from a "
		"start on that adopts none",
		key, what, has, said);
}

/* A filter that goes on keeps its lines; what the map has behind them is for intervals. */
static uint32_t filter_lines(const struct daemon *d)
{
	const struct volley_names_state *state = &d->memory.state->names;
	uint32_t n = d->config->cache_names_lines;

	if (state->id && state->n_lines && state->n_lines <= d->maps.names_lines)
		return state->n_lines;
	return n && n < d->maps.names_lines ? n : d->maps.names_lines;
}

/* With them the filter is begun, unless an earlier one goes on. */
static int begin_intervals(struct daemon *d, struct names *names, bool is_adopted)
{
	uint32_t n = d->config->cache_intervals_lines ? d->maps.names_lines - names->n_lines : 0;

	say_size("cache.intervals", "memory", n, d->config->cache_intervals_lines);
	names_init_intervals(names, n);
	return is_adopted ? names_begin_intervals(names, daemon_grace, d) :
			    names_begin(names, daemon_grace, d);
}

/* The driver reads what an earlier daemon began, until nothing is denied any more. */
static int end_adopted(struct daemon *d, struct names *names)
{
	if (!names_id(names))
		return 0;
	names_end(names);
	return daemon_grace(d);
}

int daemon_open_names(struct daemon *d)
{
	struct names *names = &d->names_memory;
	int err = 0;

	if (d->is_anonymous)
		return 0; /* no driver would read it */
	names_init(names, d->maps.names, filter_lines(d), &d->memory.state->names);
	if (!d->config->cache_names_lines)
		return end_adopted(d, names);
	say_size("cache.names", "a filter", names->n_lines, d->config->cache_names_lines);
	err = begin_intervals(d, names, names_adopt(names));
	if (err) {
		log_error("cache.names: %s", err_text(err));
		return err;
	}
	d->names = names;
	shield_init(&d->shield, names->lines, d->maps.names_lines);
	d->published.shield = &d->shield;
	return 0;
}

void daemon_tell_names(struct daemon *d, struct volley_state *first, struct volley_state *second)
{
	if (d->names)
		names_set_states(d->names, &first->names, second ? &second->names : NULL);
}

/* --- Wrong denials ------------------------------------------------------------------------------- */

/* What is wrong, as a sentence. */
static void put_fault(const struct shield_found *found, char *text, size_t cap)
{
	char name[NAME_TEXT_MAX], type[PROTO_TEXT_MAX];

	name_to_text(name, sizeof(name), found->name);
	proto_type_to_text(type, found->qtype);
	switch (found->fault) {
	case SHIELD_EXISTENCE:
		snprintf(text, cap,
			 "the filter of names does not know %s, which exists: the driver may have "
			 "answered NXDOMAIN for it",
			 name);
		return;
	case SHIELD_OCTETS:
		break;
	}
	snprintf(
		text, cap,
		"the driver has an answer to %s %s whose octets differ from the zone's: it may have "
		"given that answer to this name and others",
		name, type);
}

static void stop_denials(struct daemon *d, const struct shield_found *found)
{
	const uint8_t *apex = found->name + found->apex;
	char zone[NAME_TEXT_MAX], text[NAME_TEXT_MAX + 256];
	int err = zones_stop_denials(d->zones, apex, found->bytes - found->apex,
				     shield_fault_text(found->fault));

	if (err == ERR_NOT_FOUND) /* it was done before, or the zone has gone */
		return;
	name_to_text(zone, sizeof(zone), apex);
	put_fault(found, text, sizeof(text));
	log_error("zone %s: cache.names: %s. It denies no names of this zone until volleyctl names "
		  "rebuild, or a restart%s%s",
		  zone, text, err ? ": " : "", err ? err_text(err) : "");
}

/* --- Rebuilds ------------------------------------------------------------------------------------ */

void daemon_look_at_names(struct daemon *d)
{
	struct names_care *care = &d->names_care;

	names_read_use(d->names, &care->use);
	care->n_live = zones_n_names(d->zones);
}

int daemon_rebuild_names(struct daemon *d, bool is_asked)
{
	struct names_care *care = &d->names_care;
	uint64_t n_gone = d->names->n_gone;
	int err;

	care->rebuilt_ns = clock_ns();
	err = zones_rebuild_names(d->zones, is_asked);
	care->took_ns = clock_ns() - care->rebuilt_ns;
	daemon_look_at_names(d);
	if (err) {
		log_error(
			"cache.names: the filter of names cannot be rebuilt, the driver denies no names until it is: %s",
			err_text(err));
		return err;
	}
	care->n_rebuilds++;
	log_notice(
		"cache.names: the filter of names was rebuilt in %llu ms: %llu names, %llu that have gone are out of it",
		(unsigned long long)(care->took_ns / CLOCK_NS_PER_MS),
		(unsigned long long)d->names->n_added, (unsigned long long)n_gone);
	return 0;
}

/* Without an id a rebuild has failed. */
static void look_after_filter(struct daemon *d)
{
	struct names_care *care = &d->names_care;
	uint64_t now_ns = clock_ns();
	bool is_first = !care->looked_ns; /* behind a start, which has just added all names */

	if (care->looked_ns && now_ns < care->looked_ns + LOOK_NS)
		return;
	care->looked_ns = now_ns;
	daemon_look_at_names(d);
	if (is_first || (care->rebuilt_ns && now_ns < care->rebuilt_ns + REBUILD_NS))
		return;
	if (!names_id(d->names) || names_is_worn(d->names, &care->use, care->n_live))
		(void)!daemon_rebuild_names(d, false);
}

void daemon_check_names(struct daemon *d)
{
	struct shield_found found;

	if (!d->names || !d->is_ready)
		return;
	/* As many as were there: others may be found meanwhile. */
	for (unsigned int i = 0; i < SHIELD_PLACES; i++)
		if (shield_take(&d->shield, &found))
			stop_denials(d, &found);
	look_after_filter(d);
}
