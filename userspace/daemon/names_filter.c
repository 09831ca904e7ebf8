/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/names_filter.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "config/words.h"
#include "dns/name.h"
#include "dns/proto.h"

#define LOOK_NS (60 * CLOCK_NS_PER_S)
/* The shortest time between rebuilds: each takes control's thread as long as a load. */
#define REBUILD_NS (600 * CLOCK_NS_PER_S)

static void say_size(const char *key, const char *what, uint32_t has_lines, uint32_t said_lines)
{
	char has[24], said[24];

	if (has_lines == said_lines)
		return;
	words_put_size((uint64_t)has_lines * VOLLEY_NAMES_LINE_BYTES, has, sizeof(has));
	words_put_size((uint64_t)said_lines * VOLLEY_NAMES_LINE_BYTES, said, sizeof(said));
	log_notice("%s: the XDP program that was adopted keeps %s of %s; %s holds after a "
		   "start that adopts no program",
		   key, what, has, said);
}

/* A filter that goes on keeps its lines. The rest of the map is for intervals. */
static uint32_t filter_lines(const struct answer_cache *cache, const struct config *config)
{
	const struct volley_names_state *state = &cache->memory.state->names;
	uint32_t n = config->cache_names_lines;

	if (state->id && state->n_lines && state->n_lines <= cache->maps.names_lines)
		return state->n_lines;
	return n && n < cache->maps.names_lines ? n : cache->maps.names_lines;
}

/* Also begins the filter, unless an earlier one goes on. */
static int begin_intervals(struct names *names, struct answer_cache *cache,
			   const struct config *config, bool is_adopted)
{
	uint32_t n = config->cache_intervals_lines ? cache->maps.names_lines - names->n_lines : 0;

	say_size("cache.intervals", "memory", n, config->cache_intervals_lines);
	names_init_intervals(names, n);
	return is_adopted ? names_begin_intervals(names, answer_cache_grace, cache) :
			    names_begin(names, answer_cache_grace, cache);
}

/* Ends the filter of an earlier daemon; returns when the driver no longer reads it. */
static int end_adopted(struct names *names, struct answer_cache *cache)
{
	if (!names_id(names))
		return 0;
	names_end(names);
	return answer_cache_grace(cache);
}

int names_filter_open(struct names_filter *f, struct answer_cache *cache,
		      const struct config *config, struct engine_data *published)
{
	struct names *names = &f->memory;
	int err = 0;

	if (cache->is_anonymous)
		return 0; /* no driver would read it */
	names_init(names, cache->maps.names, filter_lines(cache, config),
		   &cache->memory.state->names);
	if (!config->cache_names_lines)
		return end_adopted(names, cache);
	say_size("cache.names", "a filter", names->n_lines, config->cache_names_lines);
	err = begin_intervals(names, cache, config, names_adopt(names));
	if (err) {
		log_error("cache.names: %s", err_text(err));
		return err;
	}
	f->names = names;
	shield_init(&f->shield, names->lines, cache->maps.names_lines);
	published->shield = &f->shield;
	return 0;
}

void names_filter_tell(struct names_filter *f, struct volley_state *first,
		       struct volley_state *second)
{
	if (f->names)
		names_set_states(f->names, &first->names, second ? &second->names : NULL);
}

/* --- Wrong denials ---------------------------------------------------------------------------- */

/* The fault, as a sentence. */
static void put_names_fault(const struct shield_found *found, char *text, size_t cap)
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
	snprintf(text, cap,
		 "the driver has an answer to %s %s whose octets differ from the zone's: it may "
		 "have "
		 "given that answer to this name and others",
		 name, type);
}

static void stop_denials(struct zones *zones, const struct shield_found *found)
{
	const uint8_t *apex = found->name + found->apex;
	char zone[NAME_TEXT_MAX], text[NAME_TEXT_MAX + 256];
	int err = zones_stop_denials(zones, apex, found->bytes - found->apex,
				     shield_fault_text(found->fault));

	if (err == ERR_NOT_FOUND) /* already done, or the zone has gone */
		return;
	name_to_text(zone, sizeof(zone), apex);
	put_names_fault(found, text, sizeof(text));
	log_error("zone %s: cache.names: %s. It denies no names of this zone until volleyctl names "
		  "rebuild, or a restart%s%s",
		  zone, text, err ? ": " : "", err ? err_text(err) : "");
}

/* --- Rebuilds --------------------------------------------------------------------------------- */

void names_filter_look(struct names_filter *f, const struct zones *zones)
{
	struct names_care *care = &f->care;

	names_read_use(f->names, &care->use);
	care->n_live = zones_n_names(zones);
}

int names_filter_rebuild(struct names_filter *f, struct zones *zones, bool is_asked)
{
	struct names_care *care = &f->care;
	uint64_t n_gone = f->names->n_gone;
	int err;

	care->rebuilt_ns = clock_ns();
	err = zones_rebuild_names(zones, is_asked);
	care->took_ns = clock_ns() - care->rebuilt_ns;
	names_filter_look(f, zones);
	if (err) {
		log_error(
			"cache.names: the filter of names cannot be rebuilt, the driver denies no "
			"names until it is: %s",
			err_text(err));
		return err;
	}
	care->n_rebuilds++;
	log_notice("cache.names: the filter of names was rebuilt in %llu ms: %llu names; "
		   "%llu that no longer exist were removed",
		   (unsigned long long)(care->took_ns / CLOCK_NS_PER_MS),
		   (unsigned long long)f->names->n_added, (unsigned long long)n_gone);
	return 0;
}

/* If the filter has no id, a rebuild has failed. */
static void look_after_filter(struct names_filter *f, struct zones *zones)
{
	struct names_care *care = &f->care;
	uint64_t now_ns = clock_ns();
	bool is_first = !care->looked_ns; /* the start has just added all names */

	if (care->looked_ns && now_ns < care->looked_ns + LOOK_NS)
		return;
	care->looked_ns = now_ns;
	names_filter_look(f, zones);
	if (is_first || (care->rebuilt_ns && now_ns < care->rebuilt_ns + REBUILD_NS))
		return;
	if (!names_id(f->names) || names_is_worn(f->names, &care->use, care->n_live))
		(void)!names_filter_rebuild(f, zones, false);
}

void names_filter_tick(struct names_filter *f, struct zones *zones)
{
	struct shield_found found;

	if (!f->names)
		return;
	/* A bounded number of rounds, since workers may find more faults meanwhile. */
	for (unsigned int i = 0; i < SHIELD_PLACES; i++)
		if (shield_take(&f->shield, &found))
			stop_denials(zones, &found);
	look_after_filter(f, zones);
}
