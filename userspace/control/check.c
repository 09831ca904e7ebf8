/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/check.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/affinity.h"
#include "base/err.h"
#include "base/log.h"
#include "base/regular.h"
#include "control/cache_plan.h"
#include "control/daemon_internal.h"
#include "store/store.h"
#include "transfer/transfer.h"

#define ERR_TEXT_CAP 1024

struct check {
	const struct config *config;
	unsigned int n_warnings;
	json_t *warnings;       /* where they go; NULL: to the log */
	char err[ERR_TEXT_CAP]; /* why a start would end */
};

__attribute__((format(printf, 2, 3))) static void warn(struct check *c, const char *format, ...)
{
	char text[ERR_TEXT_CAP];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (c->warnings)
		json_array_append_new(c->warnings, json_string(text));
	else
		log_warn("%s", text);
	c->n_warnings++;
}

/* ---- What the process gets ---------------------------------------------------------------------- */

static int check_process(struct check *c)
{
	const struct config *config = c->config;
	struct descriptors descriptors = { 0 };
	struct affinity affinity;
	unsigned int n_workers;
	int code = affinity_init(&affinity, config->control_cores, config->n_control_cores, c->err,
				 sizeof(c->err));

	if (code)
		return code;
	n_workers = config->n_workers ? config->n_workers :
					(unsigned int)CPU_COUNT(&affinity.allowed);
	code = descriptors_raise(&descriptors, config, n_workers, c->err, sizeof(c->err));
	if (!code && *descriptors.problem)
		warn(c, "%s", descriptors.problem);
	return code;
}

static int check_cache(struct check *c)
{
	struct cache_sizes sizes;

	return cache_plan(&sizes, c->config, c->err, sizeof(c->err));
}

static int check_recursion(struct check *c)
{
	return recursion_check(c->config, c->err, sizeof(c->err));
}

/* ---- Policies ----------------------------------------------------------------------------------- */

static void on_loaded(struct load *load)
{
	*(bool *)load->user = true;
}

/* With its own loader: as policies.c has it read. The load is the caller's; NULL: there is no memory. */
static struct load *read_list(struct loader *loader, const struct config_rpz *list)
{
	bool is_over = false;
	struct load *load = load_new(list->name, list->file, NULL, on_loaded, &is_over);
	struct pollfd pollfd = { .fd = loader_fd(loader), .events = POLLIN };

	if (!load)
		return NULL;
	loader_start(loader, load);
	while (!is_over) {
		(void)poll(&pollfd, 1, -1);
		loader_poll(loader);
	}
	return load;
}

static int check_list(struct check *c, struct loader *loader, const struct config_rpz *list)
{
	struct policies_entry entry = { .name = list->name };
	struct load *load = read_list(loader, list);
	char text[POLICIES_TEXT_CAP];

	if (!load)
		return -ENOMEM;
	if (load->code) {
		load_put_error(load, entry.error, sizeof(entry.error));
		if (policies_entry_tell(&entry, text))
			warn(c, "%s", text);
	}
	load_free(load);
	return 0;
}

static int check_policies(struct check *c)
{
	const struct config_recursion *recursion = &c->config->recursion;
	struct loader *loader;
	int code;

	if (!recursion->n_rpz)
		return 0;
	code = loader_new(&loader, 1);
	if (code) {
		snprintf(c->err, sizeof(c->err), "start: threads that read zones: %s",
			 err_text(code));
		return code;
	}
	for (uint32_t i = 0; i < recursion->n_rpz && !code; i++)
		if (recursion->rpz[i].file)
			code = check_list(c, loader, &recursion->rpz[i]);
	loader_stop(loader);
	loader_free(loader);
	if (code)
		snprintf(c->err, sizeof(c->err), "policies: %s", err_text(code));
	return code;
}

/* ---- The rest ----------------------------------------------------------------------------------- */

static int check_storage(struct check *c)
{
	int code;

	if (!c->config->storage)
		return 0;
	code = store_check(c->config->storage, c->err, sizeof(c->err));
	if (!code || !daemon_serves_without_store(code))
		return code;
	warn(c, "%s", c->err);
	return 0;
}

static int check_transfers(struct check *c)
{
	snprintf(c->err, sizeof(c->err), "transfers: %s", err_text(-ENOMEM));
	return transfer_check(c->config, c->err, sizeof(c->err));
}

static int check_blocks(struct check *c)
{
	int code = block_book_check(c->config, c->err, sizeof(c->err));

	if (!code && *c->err)
		warn(c, "%s", c->err);
	return code;
}

/* Those that come from elsewhere, or are made here, may have none yet. What is in a file takes long to read. */
static int check_zones(struct check *c)
{
	for (uint32_t i = 0; i < c->config->n_zones; i++) {
		const struct config_zone *zone = &c->config->zones[i];
		int code = 0;

		if (!zone->primaries && zone->catalog != CONFIG_CATALOG_PRODUCE)
			code = regular_check(zone->file);
		if (code)
			warn(c, "zone %s: %s: cannot read the file: %s", zone->name, zone->file,
			     err_text(code));
	}
	return 0;
}

int check_run(const struct config *config, unsigned int *n_warnings)
{
	/* In the order of daemon_open(). */
	static int (*const steps[])(struct check *) = {
		check_process, check_cache,     check_recursion, check_policies,
		check_storage, check_transfers, check_blocks,    check_zones,
	};
	struct check c = { .config = config };
	int code = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !code; i++)
		code = steps[i](&c);
	if (code)
		log_error("%s", c.err);
	*n_warnings = c.n_warnings;
	return code;
}

int check_beside(const struct config *config, json_t *warnings, char *err, size_t err_cap)
{
	static int (*const steps[])(struct check *) = {
		check_cache, check_recursion, check_transfers, check_blocks, check_zones,
	};
	struct check c = { .config = config, .warnings = warnings };
	int code = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !code; i++)
		code = steps[i](&c);
	if (code)
		snprintf(err, err_cap, "%s", c.err);
	return code;
}
