/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/daemon.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/affinity.h"
#include "base/err.h"
#include "base/files.h"
#include "base/log.h"
#include "control/rights.h"
#include "daemon/answer_cache.h"
#include "daemon/descriptors.h"
#include "daemon/taps.h"
#include "daemon/zone_service.h"
#include "abuse/block_book.h"
#include "recursion/rpz_manager.h"
#include "recursion/recursion_service.h"
#include "store/store.h"
#include "transfer/transfer.h"
#include "zonemgr/loader.h"

#define ERR_TEXT_CAP 1024

struct check {
	const struct config *config;
	bool with_zones;
	unsigned int n_threads; /* that the process may run at a time */
	unsigned int n_warnings;
	json_t *warnings;       /* gets the warnings; NULL: the log gets them */
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

/* ---- Limits of the process ------------------------------------------------------------------- */

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
	c->n_threads = (unsigned int)CPU_COUNT(&affinity.allowed);
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

/* ---- RPZ -------------------------------------------------------------------------------- */

static void on_checked_loaded(struct load *load)
{
	*(bool *)load->user = true;
}

/* Waits until the loader has a result. */
static void wait_for_load(struct loader *loader)
{
	struct pollfd pollfd = { .fd = loader_fd(loader), .events = POLLIN };

	(void)poll(&pollfd, 1, -1);
	loader_poll(loader);
}

static int new_loader(struct check *c, struct loader **loader, unsigned int n)
{
	int code = loader_new(loader, n);

	if (code)
		snprintf(c->err, sizeof(c->err), "start: threads that read zones: %s",
			 err_text(code));
	return code;
}

/* Reads a list as rpz_manager.c does. The caller owns the load; NULL: no memory. */
static struct load *read_checked_list(struct loader *loader, const struct config_rpz *list)
{
	bool is_over = false;
	struct load *load = load_new(list->name, list->file, NULL, on_checked_loaded, &is_over);

	if (!load)
		return NULL;
	load->progress.skips_outside = true;
	loader_start(loader, load);
	while (!is_over)
		wait_for_load(loader);
	return load;
}

static int check_list(struct check *c, struct loader *loader, const struct config_rpz *list)
{
	struct rpz_manager_entry entry = { .name = list->name };
	struct load *load = read_checked_list(loader, list);
	char text[RPZ_MANAGER_TEXT_CAP];

	if (!load)
		return -ENOMEM;
	if (load->code) {
		load_put_error(load, entry.error, sizeof(entry.error));
		if (rpz_manager_entry_tell(&entry, text))
			warn(c, "%s", text);
	} else if (*load->err->warning) {
		warn(c, "policy %s: %s", load->name, load->err->warning);
	}
	load_free(load);
	return 0;
}

static int check_policy_zones(struct check *c)
{
	const struct config_recursion *recursion = &c->config->recursion;
	struct loader *loader;
	int code;

	if (!recursion->n_rpz)
		return 0;
	code = new_loader(c, &loader, 1);
	if (code)
		return code;
	for (uint32_t i = 0; i < recursion->n_rpz && !code; i++)
		if (recursion->rpz[i].file)
			code = check_list(c, loader, &recursion->rpz[i]);
	loader_stop(loader);
	loader_free(loader);
	if (code)
		snprintf(c->err, sizeof(c->err), "policies: %s", err_text(code));
	return code;
}

/* ---- The rest -------------------------------------------------------------------------------- */

static int check_checked_storage(struct check *c)
{
	int code;

	if (!c->config->storage)
		return 0;
	code = store_check(c->config->storage, c->err, sizeof(c->err));
	if (!code || !zone_service_does_without_store(code))
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

static int check_rights(struct check *c)
{
	struct rights rights;
	int code = rights_read(&rights, c->config);

	snprintf(c->err, sizeof(c->err), "control: %s", err_text(code));
	if (!code && *rights.problem)
		warn(c, "%s", rights.problem);
	if (!code)
		rights_fini(&rights);
	return code;
}

/* ---- Files that volleyd writes --------------------------------------------------------------- */

static int check_taps(struct check *c)
{
	char text[TAPS_ERROR_CAP];

	taps_check(c->config, text);
	if (*text)
		warn(c, "%s", text);
	return 0;
}

static int check_snapshot(struct check *c)
{
	const char *file = c->config->cache_snapshot;
	int code = file ? writable_check_replaced(file) : 0;

	if (code)
		warn(c, "cache.snapshot: %s: cannot be written: %s", file, err_text(code));
	return 0;
}

/* ---- Secrets --------------------------------------------------------------------------------- */

static bool is_open_to_all(const char *file)
{
	struct stat st;

	return !stat(file, &st) && st.st_mode & (S_IROTH | S_IWOTH);
}

/*
 * Warns about files with secrets that all users can read. A file with nothing but a secret is
 * refused by config_load().
 */
static int check_secrets(struct check *c)
{
	const char *key = c->config->tls_key;

	for (char *const *file = c->config->secret_files; file && *file; file++)
		if (is_open_to_all(*file))
			warn(c,
			     "%s has secrets, and everyone can read or write it: chmod o-rw it, "
			     "and "
			     "make new secrets",
			     *file);
	/* config_load() has logged it. */
	if (key && is_open_to_all(key) && !c->warnings)
		c->n_warnings++;
	else if (key && is_open_to_all(key))
		warn(c, "server.tls.key: everyone can read or write %s: chmod o-rw it", key);
	return 0;
}

/* ---- Zones ----------------------------------------------------------------------------------- */

/* A zone from primaries, or one that volleyd makes, may have no file yet. */
static bool needs_file(const struct config_zone *zone)
{
	return !zone->primaries && zone->catalog != CONFIG_CATALOG_PRODUCE;
}

struct zone_loads {
	struct check *check;
	unsigned int n_running, n_refused;
};

/* Logs a line for each mistake. */
static void log_mistakes(const struct load *load)
{
	const char *at = load->err->more;
	char text[ERR_TEXT_CAP];

	load_put_error(load, text, sizeof(text));
	log_error("zone %s: %s", load->name, text);
	while (*at) {
		size_t len = strcspn(at, "\n");

		log_error("zone %s: %.*s", load->name, (int)len, at);
		at += len + (at[len] == '\n');
	}
}

static void on_zone_loaded(struct load *load)
{
	struct zone_loads *loads = load->user;

	loads->n_running--;
	if (load->code) {
		log_mistakes(load);
		loads->n_refused++;
	} else if (*load->err->warning) {
		warn(loads->check, "zone %s: %s", load->name, load->err->warning);
	}
	load_free(load);
}

static int start_zone(struct zone_loads *loads, struct loader *loader,
		      const struct config_zone *zone)
{
	struct load *load = load_new(zone->name, zone->file, NULL, on_zone_loaded, loads);

	if (!load)
		return -ENOMEM;
	load->absent = needs_file(zone) ? LOAD_ABSENT_FAILS : LOAD_ABSENT_WAITS;
	load->needs_zonemd = zone->zonemd == CONFIG_ZONEMD_REQUIRE;
	loads->n_running++;
	loader_start(loader, load);
	return 0;
}

/* At most two zones for each thread are in memory: the loading one and a waiting one. */
static int load_zones(struct check *c)
{
	struct zone_loads loads = { .check = c };
	struct loader *loader;
	unsigned int n = c->n_threads < LOADER_THREADS_MAX ? c->n_threads : LOADER_THREADS_MAX;
	int code = new_loader(c, &loader, n);

	if (code)
		return code;
	for (uint32_t i = 0; i < c->config->n_zones && !code; i++) {
		code = start_zone(&loads, loader, &c->config->zones[i]);
		while (loads.n_running >= 2 * n)
			wait_for_load(loader);
	}
	while (loads.n_running)
		wait_for_load(loader);
	loader_stop(loader);
	loader_free(loader);
	if (code)
		snprintf(c->err, sizeof(c->err), "zones: %s", err_text(code));
	if (code || !loads.n_refused)
		return code;
	snprintf(c->err, sizeof(c->err), "%u of %u zone files are refused", loads.n_refused,
		 c->config->n_zones);
	return ERR_ZONE;
}

/* Reading zone files takes long, so they are read only with with_zones. */
static int check_zones(struct check *c)
{
	if (c->with_zones)
		return load_zones(c);
	for (uint32_t i = 0; i < c->config->n_zones; i++) {
		const struct config_zone *zone = &c->config->zones[i];
		int code = 0;

		if (needs_file(zone))
			code = regular_check(zone->file);
		if (code)
			warn(c, "zone %s: %s: cannot read the file: %s", zone->name, zone->file,
			     err_text(code));
	}
	return 0;
}

int check_run(const struct config *config, bool with_zones, unsigned int *n_warnings)
{
	/* In the order of daemon_open(). */
	static int (*const steps[])(struct check *) = {
		check_process,         check_cache,  check_recursion, check_policy_zones,
		check_checked_storage, check_taps,   check_transfers, check_blocks,
		check_snapshot,        check_rights, check_secrets,   check_zones,
	};
	struct check c = { .config = config, .with_zones = with_zones };
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
		check_cache,    check_recursion, check_taps,    check_transfers, check_blocks,
		check_snapshot, check_rights,    check_secrets, check_zones,
	};
	struct check c = { .config = config, .warnings = warnings };
	int code = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !code; i++)
		code = steps[i](&c);
	if (code)
		snprintf(err, err_cap, "%s", c.err);
	return code;
}
