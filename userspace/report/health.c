/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/health.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "report/missing.h"
#include "zonemgr/signing.h"

/* --- Options ---------------------------------------------------------------------------------- */

static int read_scope(enum health_scope *scope, const char *option, const char *text, char *err,
		      size_t err_cap)
{
	static const char *const words[] = {
		[HEALTH_ALL] = "all", [HEALTH_ANY] = "any", [HEALTH_NONE] = "none"
	};

	for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(text, words[i])) {
			*scope = (enum health_scope)i;
			return 0;
		}
	snprintf(err, err_cap, "%s takes all, any or none", option);
	return -EINVAL;
}

static int ignore_health(struct health_options *options, const char *zone, char *err,
			 size_t err_cap)
{
	if (zone && options->n_ignored < HEALTH_IGNORED_CAP) {
		options->ignored[options->n_ignored++] = zone;
		return 0;
	}
	snprintf(err, err_cap,
		 zone ? "--ignore: at most %d zones and policies" :
			"--ignore takes a zone or a policy",
		 HEALTH_IGNORED_CAP);
	return -EINVAL;
}

int health_read_options(struct health_options *options, const json_t *args, char *err,
			size_t err_cap)
{
	int code = 0;

	*options = (struct health_options){ .zones = HEALTH_ALL };
	for (size_t i = 0; !code && i < json_array_size(args); i++) {
		const char *word = json_string_value(json_array_get(args, i));
		const char *value = json_string_value(json_array_get(args, i + 1));

		if (!strcmp(word, "--strict")) {
			options->is_strict = true;
			continue;
		}
		i++;
		if (!strcmp(word, "--zones")) {
			code = read_scope(&options->zones, word, value, err, err_cap);
		} else if (!strcmp(word, "--interfaces")) {
			code = read_scope(&options->interfaces, word, value, err, err_cap);
		} else if (!strcmp(word, "--policies")) {
			code = read_scope(&options->rpz, word, value, err, err_cap);
		} else if (!strcmp(word, "--ignore")) {
			code = ignore_health(options, value, err, err_cap);
		} else {
			snprintf(err, err_cap,
				 "%s: health takes --zones, --interfaces, --policies, --ignore, "
				 "--strict and --probe",
				 word);
			code = -EINVAL;
		}
	}
	return code;
}

void health_say(struct health *h, enum health_level level, const char *format, ...)
{
	char text[HEALTH_TEXT_CAP];
	bool is_reason = level >= (h->options->is_strict ? HEALTH_WARNS : HEALTH_FAILS);
	json_t *list = is_reason ? h->reasons : h->warnings;
	va_list args;

	if (level == HEALTH_WELL)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* A sentence that is not UTF-8, as from a file's name, cannot be shown. */
	if (json_array_append_new(list, json_string(text)))
		json_array_append_new(list, json_string("a sentence that is not UTF-8"));
}

/* --- Zones ------------------------------------------------------------------------------------ */

void health_denials_text(const struct zones_entry *entry, char *text, size_t cap)
{
	*text = '\0';
	if (entry->denials_fault)
		snprintf(text, cap, "%s: the driver denies no names of it", entry->denials_fault);
}

static enum health_level judge_state(const struct zones_entry *entry, char text[HEALTH_TEXT_CAP])
{
	char denials[128];

	switch (entry->state) {
	case ZONES_NEW: /* after a reload; during a start the whole daemon is not ready */
		snprintf(text, HEALTH_TEXT_CAP, "zone %s: new, and not loaded yet", entry->name);
		return HEALTH_WARNS;
	case ZONES_FAILED:
		snprintf(text, HEALTH_TEXT_CAP, "zone %s: not served: %s", entry->name,
			 sentence_text(&entry->error));
		return HEALTH_FAILS;
	case ZONES_STALE:
		snprintf(text, HEALTH_TEXT_CAP, "zone %s: an earlier version is served: %s",
			 entry->name, sentence_text(&entry->error));
		return HEALTH_WARNS;
	case ZONES_AWAITED:
		snprintf(text, HEALTH_TEXT_CAP, "zone %s: not yet transferred from a primary",
			 entry->name);
		return HEALTH_FAILS;
	case ZONES_EXPIRED:
		snprintf(text, HEALTH_TEXT_CAP, "zone %s: expired", entry->name);
		return HEALTH_FAILS;
	case ZONES_SERVING:
	case ZONES_N_STATES:
		break;
	}
	/* The zone is served, but a restart may load an earlier version, or secondaries wait. */
	health_denials_text(entry, denials, sizeof(denials));
	if (!sentence_is_set(&entry->stored.error) && !sentence_is_set(&entry->stored.warning) &&
	    !entry->behind_serial && !*denials)
		return HEALTH_WELL;
	snprintf(text, HEALTH_TEXT_CAP, "zone %s: %s", entry->name,
		 sentence_is_set(&entry->stored.error)   ? sentence_text(&entry->stored.error) :
		 sentence_is_set(&entry->stored.warning) ? sentence_text(&entry->stored.warning) :
		 entry->behind_serial                    ? sentence_text(&entry->warning) :
							   denials);
	return HEALTH_WARNS;
}

enum health_level health_zone(const struct zones_entry *entry, uint64_t now_s,
			      char text[HEALTH_TEXT_CAP])
{
	enum health_level level = judge_state(entry, text);
	char why[128];

	if (level == HEALTH_FAILS && entry->config->is_root_copy) {
		size_t n = strlen(text);

		snprintf(text + n, HEALTH_TEXT_CAP - n, ": the root servers are asked");
		return HEALTH_WARNS;
	}

	if (level == HEALTH_FAILS || signing_judge(entry, now_s, why, sizeof(why)))
		return level;
	if (level == HEALTH_WARNS && !entry->signing)
		return level;
	snprintf(text, HEALTH_TEXT_CAP, "zone %s: %s", entry->name, why);
	return entry->signing ? HEALTH_FAILS : HEALTH_WARNS;
}

/* Compares a name as an operator writes it: any case, with or without the last dot. */
static bool is_health_name(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	n -= n > 1 && a[n - 1] == '.';
	m -= m > 1 && b[m - 1] == '.';
	return n == m && !strncasecmp(a, b, n);
}

static bool is_health_ignored(const struct health_options *options, const char *name)
{
	for (size_t i = 0; i < options->n_ignored; i++)
		if (is_health_name(options->ignored[i], name))
			return true;
	return false;
}

static enum health_level zone_level(const struct health *h, const struct zones_entry *entry,
				    char text[HEALTH_TEXT_CAP])
{
	enum health_level level = health_zone(entry, h->now_s, text);

	return entry->state == ZONES_AWAITED && h->have_zones_come ? HEALTH_WARNS : level;
}

bool health_have_zones_come(health_zone_at *at, const void *user, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (at(user, i)->state == ZONES_AWAITED)
			return false;
	return true;
}

struct tally {
	size_t n;      /* zones that count */
	size_t n_well; /* of these, zones that are served */
	size_t n_listed, n_left[HEALTH_FAILS + 1];
};

static void count_health(const struct health *h, struct tally *t, const struct zones_entry *entry)
{
	char text[HEALTH_TEXT_CAP];

	if (is_health_ignored(h->options, entry->name))
		return;
	t->n++;
	t->n_well += health_zone(entry, h->now_s, text) != HEALTH_FAILS;
}

static void tell_health(struct health *h, struct tally *t, const struct zones_entry *entry)
{
	char text[HEALTH_TEXT_CAP];
	enum health_level level = zone_level(h, entry, text);

	if (level == HEALTH_WELL || is_health_ignored(h->options, entry->name))
		return;
	if (h->options->zones != HEALTH_ALL)
		level = HEALTH_NOTED;
	if (t->n_listed++ < HEALTH_LISTED_MAX)
		health_say(h, level, "%s", text);
	else
		t->n_left[level]++;
}

const char *health_more_zones(char text[HEALTH_TEXT_CAP], size_t n)
{
	snprintf(text, HEALTH_TEXT_CAP, "and %zu more zone%s: volleyctl zone list", n,
		 n == 1 ? "" : "s");
	return text;
}

void health_zones(struct health *h, health_zone_at *at, const void *user, size_t n)
{
	struct tally t = { 0 };
	char text[HEALTH_TEXT_CAP];

	for (size_t i = 0; i < n && h->options->zones == HEALTH_ANY; i++)
		count_health(h, &t, at(user, i));
	if (t.n && !t.n_well)
		health_say(h, HEALTH_FAILS, "none of %zu zones is served", t.n);
	for (size_t i = 0; i < n; i++)
		tell_health(h, &t, at(user, i));
	for (enum health_level level = HEALTH_NOTED; level <= HEALTH_FAILS; level++)
		if (t.n_left[level])
			health_say(h, level, "%s", health_more_zones(text, t.n_left[level]));
}

/* --- RPZ --------------------------------------------------------------------------------- */

static void tell_rpz(struct health *h, const struct rpz_manager_entry *entry)
{
	char text[RPZ_MANAGER_TEXT_CAP];
	enum health_level level =
		rpz_manager_entry_state(entry) == RPZ_MANAGER_FAILED ? HEALTH_FAILS : HEALTH_WARNS;

	if (h->options->rpz != HEALTH_ALL)
		level = HEALTH_NOTED;
	if (rpz_manager_entry_tell(entry, text))
		health_say(h, level, "%s", text);
}

void health_rpz(struct health *h, health_rpz_at *at, const void *user, size_t n)
{
	size_t n_counted = 0, n_in_force = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rpz_manager_entry *entry = at(user, i);

		if (is_health_ignored(h->options, entry->name))
			continue;
		n_counted++;
		n_in_force += rpz_manager_entry_state(entry) != RPZ_MANAGER_FAILED;
		tell_rpz(h, entry);
	}
	if (h->options->rpz == HEALTH_ANY && n_counted && !n_in_force)
		health_say(h, HEALTH_FAILS, "none of %zu policies is in force", n_counted);
}

/* --- Interfaces ------------------------------------------------------------------------------- */

/* A slower way of answering is a warning, or a fault if the configuration asks for a faster one. */
static enum health_level remark_level(const struct iface *iface, enum iface_topic topic)
{
	const struct iface_remark *remark = &iface->remarks[topic];
	const enum config_port port = iface->config.port;

	if (!*remark->text)
		return HEALTH_WELL;
	switch (topic) {
	case IFACE_TOPIC_PROGRAM:
		return remark->is_fault ? HEALTH_FAILS : HEALTH_WARNS;
	case IFACE_TOPIC_QUEUES:
	case IFACE_TOPIC_TAGS:
	case IFACE_TOPIC_LEAVING:
		return port == CONFIG_PORT_XSK || port == CONFIG_PORT_DPDK ? HEALTH_FAILS :
									     HEALTH_WARNS;
	case IFACE_TOPIC_MODE:
	case IFACE_TOPIC_RETURN:
	case IFACE_TOPIC_NEIGHBOURS:
	case IFACE_TOPIC_UNSEEN:
	case IFACE_TOPIC_MTU:
	case IFACE_TOPIC_QUIRK:
	case IFACE_TOPIC_HITS:
	case IFACE_TOPIC_PEER:
		return HEALTH_WARNS;
	case IFACE_TOPIC_KIND:
	case IFACE_TOPIC_CORES:
	case IFACE_N_TOPICS:
		break; /* advice */
	}
	return HEALTH_WELL;
}

/* A fault that is not in the remarks, as a sentence; or NULL. */
static const char *find_loss(const struct health_iface *one)
{
	const struct iface *iface = one->iface;

	if (iface->wish == IFACE_DETACHED)
		return "detached by volleyctl";
	if (iface->config.xdp == CONFIG_XDP_OFF)
		return NULL;
	if (iface->ifindex && !one->is_sound)
		return "the interface or its XDP program is gone";
	if (iface->state == IFACE_DOWN)
		return "nothing is attached";
	/* A native bond has no queues, so no socket is missing. */
	if (iface->config.port == CONFIG_PORT_XSK && iface->state == IFACE_UP && !iface->n_queues)
		return "no queue has an AF_XDP socket";
	return NULL;
}

static enum health_level iface_level(const struct health_iface *one)
{
	enum health_level level = find_loss(one) ? HEALTH_FAILS : HEALTH_WELL;

	for (int i = 0; i < IFACE_N_TOPICS; i++) {
		enum health_level its = remark_level(one->iface, (enum iface_topic)i);

		level = its > level ? its : level;
	}
	return level;
}

static void tell_iface(struct health *h, const struct health_iface *one, enum health_level most)
{
	const struct iface *iface = one->iface;
	const char *loss = find_loss(one);

	if (loss)
		health_say(h, most, "%s: %s", iface->config.name, loss);
	for (int i = 0; i < IFACE_N_TOPICS; i++) {
		enum health_level its = remark_level(iface, (enum iface_topic)i);

		health_say(h, its < most ? its : most, "%s: %s", iface->config.name,
			   iface->remarks[i].text);
	}
}

void health_ifaces(struct health *h, const struct health_iface *ifaces, size_t n)
{
	bool must_all = h->options->interfaces == HEALTH_ALL;
	size_t n_well = 0;

	for (size_t i = 0; i < n; i++)
		n_well += iface_level(&ifaces[i]) != HEALTH_FAILS;
	if (h->options->interfaces == HEALTH_ANY && n && !n_well)
		health_say(h, HEALTH_FAILS, "none of %zu interfaces is as configured", n);
	for (size_t i = 0; i < n; i++)
		tell_iface(h, &ifaces[i], must_all ? HEALTH_FAILS : HEALTH_NOTED);
}

/* --- Workers ---------------------------------------------------------------------------------- */

void health_look(struct health_heartbeats *heartbeats, unsigned int worker, uint64_t n_rounds)
{
	struct health_heartbeat *heartbeat = &heartbeats->workers[worker];

	if (heartbeat->n_rounds != n_rounds)
		*heartbeat = (struct health_heartbeat){ .n_rounds = n_rounds };
	else if (heartbeat->n_looks < UINT32_MAX)
		heartbeat->n_looks++;
}

bool health_hangs(const struct health_heartbeats *heartbeats, unsigned int worker)
{
	return heartbeats->workers[worker].n_looks >= HEALTH_LOOKS_MAX;
}

void health_worker(struct health *h, const struct health_heartbeats *heartbeats,
		   unsigned int worker, uint64_t n_rounds)
{
	const struct health_heartbeat *heartbeat = &heartbeats->workers[worker];

	if (heartbeat->n_rounds == n_rounds && health_hangs(heartbeats, worker))
		health_say(h, HEALTH_FAILS, "worker %u: hangs, no round for %u s", worker,
			   heartbeat->n_looks);
}

/* --- Addresses -------------------------------------------------------------------------------- */

static void say_health_missing(void *user, const char *text, int here)
{
	health_say(user, here ? HEALTH_WARNS : HEALTH_FAILS, "%s", text);
}

void health_addresses(struct health *h, const struct config *config)
{
	missing_each(config, say_health_missing, h);
}
