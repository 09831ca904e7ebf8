/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/load_steps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "xfr/catalog.h"
#include "zone/builder.h"
#include "zonemgr/zonefile.h"

void load_warn(struct load *load, const char *format, ...)
{
	va_list args;

	size_t n = strlen(load->err->warning);

	if (n)
		n += (size_t)snprintf(load->err->warning + n, sizeof(load->err->warning) - n, "; ");
	if (n >= sizeof(load->err->warning))
		n = sizeof(load->err->warning) - 1;
	va_start(args, format);
	vsnprintf(load->err->warning + n, sizeof(load->err->warning) - n, format, args);
	va_end(args);
	load->err->n_warnings++;
}

/* --- Announcement of a file ------------------------------------------------------------------- */

int load_announce_own(const struct load *load)
{
	struct store_batch *batch;
	unsigned int len;
	int err;

	if (!load->journal)
		return 0;
	err = store_begin(load->journal, &batch);
	if (err)
		return err;
	err = store_put(batch, zone_apex(load->zone, &len), REPLAY_NEXT_FILE, load->file_digest,
			ZONE_DIGEST_LEN);
	if (!err)
		return store_commit(batch);
	store_cancel(batch);
	return err;
}

/* --- Produced catalogs ------------------------------------------------------------------------ */

static int add_own_load_record(void *user, const uint8_t *owner, uint16_t type, uint32_t ttl,
			       const uint8_t *rdata, uint16_t rdata_bytes)
{
	struct zone_error why;
	const struct zone_builder_record record = {
		.owner = owner,
		.owner_bytes = (unsigned int)name_bytes(owner),
		.type = type,
		.rdata_bytes = rdata_bytes,
		.ttl = ttl,
		.rdata = rdata,
	};

	return zone_builder_add(user, &record, &why);
}

/* A serial number above all that were served: later changes add the members. */
static uint32_t next_own_load_serial(const struct load *load, const uint8_t *apex)
{
	struct store_zone known;

	if (!load->store || store_get_zone(load->store, apex, &known))
		return 1;
	return known.serial + 1;
}

static int make_catalog(struct load *load)
{
	uint8_t wire[DNS_NAME_MAX], apex[NAME_FOLDED_BYTES];
	struct zone_builder *b;
	int err = name_from_text(wire, sizeof(wire), load->name, strlen(load->name));

	if (err <= 0)
		return err ? err : ERR_NAME;
	name_fold(apex, wire, (size_t)err);
	err = zone_builder_new(&b, apex);
	if (err)
		return err;
	err = catalog_put_head(apex, next_own_load_serial(load, apex), add_own_load_record, b);
	if (!err)
		err = zone_builder_finish(b, &load->zone, load->err);
	zone_builder_free(b);
	load->own = err ? LOAD_OWN_FINE : LOAD_OWN_DUE;
	return err;
}

/* load->err has the error of the old file. */
static int make_catalog_anew(struct load *load)
{
	char why[sizeof(load->err->warning)];
	int err;

	load_put_error(load, why, sizeof(why));
	err = make_catalog(load);
	if (err)
		return err;
	load->gives_up_journal = true;
	load_warn(load, "%s: the catalog is made anew", why);
	return 0;
}

/* --- Check of the file ------------------------------------------------------------------------ */

static int judge_own_load(struct load *load)
{
	unsigned int len;
	const uint8_t *apex = zone_apex(load->zone, &len);

	load->file_serial = zone_serial(load->zone);
	zone_digest(load->zone, load->file_digest);
	if (load->serial_rule.is_known &&
	    !memcmp(load->file_digest, load->serial_rule.file_digest, ZONE_DIGEST_LEN))
		return 0; /* as it was last noted: most files at a start */
	if (replay_judge_file(load->store, apex, load->file_digest) != REPLAY_FILE_HARMED)
		return 0;
	load_drop_zone(load);
	return zone_error_set(load->err, "", 0,
			      "it is not what was written to it: it was cut, or somebody has "
			      "changed it%s",
			      load->absent == LOAD_ABSENT_WAITS ?
				      "; the zone is served when a primary has given "
				      "it anew" :
				      "");
}

int load_make_own(struct load *load, int err)
{
	if (!err)
		err = judge_own_load(load);
	if (load->absent == LOAD_ABSENT_MADE && err == -ENOENT)
		return make_catalog(load);
	if (load->absent == LOAD_ABSENT_MADE && err == ERR_ZONE)
		return make_catalog_anew(load);
	return err == -ENOENT ? 0 : err;
}
