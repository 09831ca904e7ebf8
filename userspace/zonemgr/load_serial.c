/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/load_steps.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/wire.h"
#include "xfr/xfr_message.h"
#include "zone/edit.h"
#include "zone/sums.h"
#include "zonemgr/zonefile.h"

#define SOA_SERIAL_BACK 20 /* octets from the end of a SOA's rdata to its serial */

/* YYYYMMDD01 (RFC 1912 section 2.2). */
static uint32_t date_serial(uint64_t now_s)
{
	time_t at = (time_t)now_s;
	struct tm tm;

	if (!gmtime_r(&at, &tm))
		return 0;
	return ((uint32_t)(tm.tm_year + 1900) * 10000 + (uint32_t)(tm.tm_mon + 1) * 100 +
		(uint32_t)tm.tm_mday) *
		       100 +
	       1;
}

static uint32_t time_serial(enum config_serial policy, uint64_t now_s)
{
	return policy == CONFIG_SERIAL_DATE ? date_serial(now_s) : (uint32_t)now_s;
}

uint32_t load_next_serial(enum config_serial policy, uint32_t before, uint64_t now_s)
{
	uint32_t next = policy == CONFIG_SERIAL_INCREMENT ? before : time_serial(policy, now_s);

	return xfr_serial_newer(next, before) ? next : before + 1;
}

static int set_serial(struct load *load, uint32_t serial)
{
	const struct zone_rrset *soa = zone_soa(load->zone);
	uint8_t bytes[DNS_NAME_MAX * 2 + SOA_SERIAL_BACK];
	unsigned int len;
	const uint8_t *apex = zone_apex(load->zone, &len);
	struct zone_edit *edit;
	struct zone_rdata rd;
	struct zone *next;
	int err;

	if (serial == zone_serial(load->zone))
		return 0;
	zone_rdata_next(zone_rrset_first(load->zone, soa), &rd);
	if (rd.len > sizeof(bytes))
		return ERR_ZONE;
	memcpy(bytes, rd.bytes, rd.len);
	wire_store_be32(bytes + rd.len - SOA_SERIAL_BACK, serial);
	err = zone_edit_begin(&edit, load->zone);
	if (err)
		return err;
	err = zone_edit_remove_rrset(edit, apex, DNS_TYPE_SOA);
	if (!err)
		err = zone_edit_add(edit, apex, DNS_TYPE_SOA, soa->ttl, bytes, rd.len);
	if (err) {
		zone_edit_cancel(edit);
		return err;
	}
	err = zone_edit_finish(edit, &next, NULL, load->err);
	if (err)
		return err;
	zone_unref(load->zone);
	load->zone = next;
	return 0;
}

/* True if we have written the file, and have not noted it yet. */
static bool is_written_here(const struct load *load)
{
	unsigned int len;

	return !memcmp(load->file_digest, load->serial_rule.next_digest, ZONE_DIGEST_LEN) ||
	       (load->store && replay_judge_file(load->store, zone_apex(load->zone, &len),
						 load->file_digest) == REPLAY_FILE_OURS);
}

static void note_behind(struct load *load, uint32_t served)
{
	load->serial_state = LOAD_SERIAL_BEHIND;
	load->behind_serial = served;
}

static void warn_behind(struct load *load, uint32_t served)
{
	note_behind(load, served);
	load_warn(load,
		  "%s: its content has changed, but its serial %u is not newer than %u, which was "
		  "served: secondaries do not fetch it: give it a newer one, or set zones[].serial",
		  load->file, zone_serial(load->zone), served);
}

/* Why the serial of this zone cannot be changed; NULL: it can. */
static const char *obstacle(const struct zone *z)
{
	if (zone_is_signed(z))
		return "it is signed";
	return zonemd_is_stated(z) ? "it has a ZONEMD record" : NULL;
}

/* The file has changed, and has no newer serial. */
static int raise_loaded_serial(struct load *load, uint32_t served)
{
	const struct load_serial_rule *rule = &load->serial_rule;
	const char *why = obstacle(load->zone);

	if (rule->policy == CONFIG_SERIAL_FILE) {
		warn_behind(load, served);
		return 0;
	}
	if (why) {
		note_behind(load, served);
		load_warn(load,
			  "%s: its content has changed, but %s, so zones[].serial cannot raise its "
			  "serial %u above %u, which was served: secondaries do not fetch it",
			  load->file, why, zone_serial(load->zone), served);
		return 0;
	}
	load->serial_state = LOAD_SERIAL_RAISED;
	return set_serial(load, load_next_serial(rule->policy, served, rule->now_s));
}

/* The first load of the zone: nothing was served that it has to be newer than. */
static int set_first(struct load *load)
{
	const struct load_serial_rule *rule = &load->serial_rule;
	uint32_t serial = time_serial(rule->policy, rule->now_s);

	if (rule->policy == CONFIG_SERIAL_FILE || rule->policy == CONFIG_SERIAL_INCREMENT ||
	    obstacle(load->zone) || !xfr_serial_newer(serial, zone_serial(load->zone)))
		return 0;
	return set_serial(load, serial);
}

int load_set_serial(struct load *load)
{
	const struct load_serial_rule *rule = &load->serial_rule;
	bool is_same = !memcmp(load->file_digest, rule->file_digest, ZONE_DIGEST_LEN);
	uint32_t serial = is_same ? rule->file_serial : zone_serial(load->zone);
	int err;

	if (!rule->is_on || load->is_base_ahead)
		return 0;
	if (!rule->is_known)
		return set_first(load);
	if (is_same && !obstacle(load->zone)) {
		err = set_serial(load, serial);
		if (err || load->store) /* at a start: the journal leads to what was served */
			return err;
	}
	if (xfr_serial_newer(serial, rule->served) ||
	    (is_same && serial == rule->served && !rule->is_behind) ||
	    (!is_same && is_written_here(load)))
		return 0;
	return raise_loaded_serial(load, rule->served);
}
