/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transferin CONFIG: the secondary's side of the transfer floor by itself. It keeps the zones of
 * the configuration that have primaries, in memory, and prints a line for each event, with tabs
 * between the fields:
 *
 *	zone NAME SERIAL RECORDS REMOTE
 *	changes NAME SERIAL SETS REMOTE
 *	checked NAME SERIAL REMOTE
 *	expired NAME
 *	refused NAME SENTENCE		a zone or changes came that cannot be taken
 *
 * "ready" comes first. Lines of stdin: see words[].
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "config/config.h"
#include "dns/name.h"
#include "transfer/secondary.h"
#include "transfer/transfer.h"
#include "transfer/transfer_thread.h"
#include "zone/edit.h"

#define ZONES_CAP 16384

static struct engine_data published;
static struct engine_config engine_config = ENGINE_CONFIG_INIT;
static struct transfer *transfer;
static struct zone_member members[ZONES_CAP];
static uint8_t apexes[ZONES_CAP][NAME_FOLDED_BYTES];
static size_t n_zones;
static struct config *config;
static bool refuses; /* the next changes */
static bool holds;   /* what comes is not settled */

static void publish(void)
{
	struct zone_set *set, *old;

	if (zone_set_new(&set, members, n_zones))
		abort();
	old = rcu_xchg_pointer(&published.set, set);
	synchronize_rcu();
	zone_set_free(old);
}

static struct zone_member *find(const uint8_t *apex)
{
	for (size_t i = 0; i < n_zones; i++) {
		if (name_equal(members[i].apex, apex))
			return &members[i];
	}
	return NULL;
}

static int take_changes(struct transfer_event *event, struct zone *old, struct zone **out,
			struct zone_error *err)
{
	struct zone *now = zone_ref(old), *next;
	int code = 0;

	for (size_t i = 0; i < event->n_sets && !code; i++) {
		struct zone_edit *edit;

		code = zone_edit_begin(&edit, now);
		if (!code)
			code = zone_edit_apply(edit, &event->sets[i], err);
		if (!code)
			code = zone_edit_finish(edit, &next, NULL, err);
		else
			zone_edit_cancel(edit);
		if (code)
			break;
		zone_unref(now);
		now = next;
	}
	if (code)
		zone_unref(now);
	else
		*out = now;
	return code;
}

static void replace(struct zone_member *member, struct zone *with)
{
	struct zone *old = member->zone;

	member->zone = with;
	publish();
	zone_unref(old);
}

static void on_content(struct zone_member *member, struct transfer_event *event, const char *name)
{
	struct zone_error err = { 0 };
	struct zone *made = NULL;
	int code;

	if (event->kind == TRANSFER_ZONE) {
		code = zone_builder_finish(event->builder, &made, &err);
		zone_builder_free(event->builder);
	} else if (refuses) {
		refuses = false;
		code = ERR_ZONE;
	} else {
		code = take_changes(event, member->zone, &made, &err);
	}
	if (code) {
		printf("refused\t%s\t%s\n", name, *err.sentence ? err.sentence : err_text(code));
	} else {
		replace(member, made);
		if (event->kind == TRANSFER_ZONE)
			printf("zone\t%s\t%u\t%zu\t%s\n", name, zone_serial(made),
			       zone_n_records(made), event->remote);
		else
			printf("changes\t%s\t%u\t%zu\t%s\n", name, zone_serial(made), event->n_sets,
			       event->remote);
	}
	if (!holds)
		transfer_settled(transfer, event->apex, code);
}

static void on_event(void *user, struct transfer_event *event)
{
	struct zone_member *member = find(event->apex);
	char name[NAME_TEXT_MAX];

	(void)user;
	(void)name_to_text(name, sizeof(name), event->apex);
	if (event->kind == TRANSFER_CHECKED) {
		printf("checked\t%s\t%u\t%s\n", name, member->zone ? zone_serial(member->zone) : 0,
		       event->remote);
	} else if (event->kind == TRANSFER_EXPIRED) {
		printf("expired\t%s\n", name);
		replace(member, NULL);
	} else {
		on_content(member, event, name);
	}
	fflush(stdout);
}

static void say_status(const uint8_t *apex, char *rest)
{
	struct transfer_status s;

	(void)rest;
	if (transfer_status(transfer, apex, &s))
		abort();
	printf("status\t%d\t%s\t%s\n", s.is_running, s.remote, s.error);
}

static void say_digest(const uint8_t *apex, char *path)
{
	const struct zone *zone = find(apex)->zone;
	uint8_t digest[2][ZONE_DIGEST_LEN];
	char name[NAME_TEXT_MAX];
	struct zone_error err;
	struct zone *file;

	(void)name_to_text(name, sizeof(name), apex);
	if (zone_load(&file, name, path, NULL, &err)) {
		printf("digest\t%s\n", err.sentence);
		return;
	}
	zone_digest(zone, digest[0]);
	zone_digest(file, digest[1]);
	zone_unref(file);
	printf("digest\t%s\n", memcmp(digest[0], digest[1], ZONE_DIGEST_LEN) ? "differs" : "same");
}

static void refresh(const uint8_t *apex, char *rest)
{
	printf("asked\t%s\n", err_text(transfer_refresh(transfer, apex, *rest)));
}

static void refuse(const uint8_t *apex, char *rest)
{
	(void)apex, (void)rest;
	refuses = true;
}

static void hold(const uint8_t *apex, char *rest)
{
	(void)apex, (void)rest;
	holds = true;
}

static void settle(const uint8_t *apex, char *rest)
{
	(void)rest;
	transfer_settled(transfer, apex, 0);
}

struct request_audit {
	struct call call;
	const uint8_t *apex;
	struct port_addr from;
	bool has_serial;
	uint32_t serial;
};

static void run_told(struct transfer *t, struct call *call)
{
	struct request_audit *told = (struct request_audit *)call;

	secondary_notified(t, transfer_zones_find(&t->zones, told->apex), &told->from,
			   told->has_serial ? &told->serial : NULL);
}

static void notified(const uint8_t *apex, char *rest)
{
	struct request_audit told = { .call.run = run_told, .apex = apex, .has_serial = *rest };

	told.serial = (uint32_t)strtoul(rest, NULL, 10);
	if (port_addr_from_text(&told.from, "192.0.2.99", 53))
		abort();
	call_wait(transfer, &told.call);
}

static const struct {
	const char *name;
	void (*run)(const uint8_t *apex, char *rest);
} words[] = {
	{ "status", say_status }, /* status ZONE: status RUNNING REMOTE ERROR */
	{ "digest", say_digest }, /* digest ZONE FILE: is it what the file has? */
	{ "refresh", refresh },   /* refresh ZONE [whole] */
	{ "notified", notified }, /* notified ZONE [SERIAL]: as a NOTIFY */
	{ "refuse", refuse },     /* refuse ZONE: the next changes */
	{ "hold", hold },         /* hold ZONE: what comes of any is not settled any more, */
	{ "settle", settle },     /* settle ZONE: but so */
};

static void obey(char *line)
{
	uint8_t wire[DNS_NAME_MAX], apex[NAME_FOLDED_BYTES];
	char *word = strtok(line, " \n"), *name = strtok(NULL, " \n"), *rest = strtok(NULL, " \n");
	int n = name ? name_from_text(wire, sizeof(wire), name, strlen(name)) : -1;
	static char nothing[] = "";

	if (n < 0)
		exit(2);
	name_fold(apex, wire, (size_t)n);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].name, word))
			words[i].run(apex, rest ? rest : nothing);
	}
	fflush(stdout);
}

static void put_zones(void)
{
	const struct transfer_past never = { 0 };

	for (uint32_t i = 0; i < config->n_zones && n_zones < ZONES_CAP; i++) {
		const struct config_zone *zone = &config->zones[i];
		uint8_t wire[DNS_NAME_MAX];
		int n = name_from_text(wire, sizeof(wire), zone->name, strlen(zone->name));

		if (!zone->primaries)
			continue;
		name_fold(apexes[n_zones], wire, (size_t)n);
		members[n_zones] = (struct zone_member){ .apex = apexes[n_zones],
							 .apex_len = (unsigned int)n };
		n_zones++;
	}
	publish();
	for (size_t i = 0, at = 0; i < config->n_zones; i++) {
		if (config->zones[i].primaries &&
		    transfer_put_zone(transfer, apexes[at++], &config->zones[i], &never))
			abort();
	}
}

static void open_all(const char *path)
{
	const struct transfer_env env = { .published = &published,
					  .engine_config = &engine_config };
	char err[512];

	if (config_load(&config, path, err, sizeof(err)) ||
	    transfer_new(&transfer, &env, on_event, NULL) ||
	    transfer_configure(transfer, config, err, sizeof(err))) {
		fprintf(stderr, "transferin: %s\n", err);
		exit(1);
	}
	put_zones();
}

int main(int argc, char **argv)
{
	char line[1024];

	if (argc != 2)
		return 2;
	open_all(argv[1]);
	puts("ready");
	fflush(stdout);
	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		struct pollfd fds[] = { { .fd = 0, .events = POLLIN },
					{ .fd = transfer_fd(transfer), .events = POLLIN } };

		(void)poll(fds, 2, -1);
		if (fds[1].revents)
			transfer_poll(transfer);
		if (fds[0].revents) {
			if (!fgets(line, sizeof(line), stdin))
				break;
			obey(line);
		}
	}
	transfer_stop(transfer);
	transfer_free(transfer);
	for (size_t i = 0; i < n_zones; i++)
		replace(&members[i], NULL);
	zone_set_free(published.set);
	config_free(config);
	return 0;
}
