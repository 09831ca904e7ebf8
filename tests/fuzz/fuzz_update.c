/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is one octet of choices and an UPDATE for a small zone. If it is accepted, the new zone
 * has its SOA and an NS at the apex, the serial number grew exactly if the content changed, and the
 * change set leads from the old version to the new one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xfr/update.h"
#include "zone/builder.h"
#include "zone/changeset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct zone *zone;

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void add(struct zone_builder *b, const char *owner, size_t owner_bytes, uint16_t type,
		const char *rdata, size_t n)
{
	const struct zone_builder_record r = {
		.owner = (const uint8_t *)owner,
		.owner_bytes = (unsigned int)owner_bytes,
		.type = type,
		.ttl = 60,
		.rdata = (const uint8_t *)rdata,
		.rdata_bytes = (uint16_t)n,
	};
	struct zone_error err;

	must(!zone_builder_add(b, &r, &err));
}

#define ADD(owner, type, rdata) add(b, owner, sizeof(owner), type, rdata, sizeof(rdata) - 1)

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct zone_builder *b;
	struct zone_error err;

	(void)argc;
	(void)argv;
	must(!zone_builder_new(&b, (const uint8_t *)"\1z"));
	ADD("\1z", DNS_TYPE_SOA, "\1n\1z\0\1h\1z\0\0\0\0\7\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1");
	ADD("\1z", DNS_TYPE_NS, "\1n\1z\0");
	ADD("\1z", DNS_TYPE_NS, "\1m\1z\0");
	ADD("\1n\1z", DNS_TYPE_A, "\1\2\3\4");
	ADD("\1n\1z", DNS_TYPE_A, "\1\2\3\5");
	ADD("\1c\1z", DNS_TYPE_CNAME, "\1n\1z\0");
	ADD("\1d\1z", DNS_TYPE_DNAME, "\1y\0");
	ADD("\1a\1e\1z", DNS_TYPE_TXT, "\1x");
	ADD("\1s\1z", DNS_TYPE_NS, "\1n\1s\1z\0");
	ADD("\1n\1s\1z", DNS_TYPE_A, "\1\2\3\4");
	must(!zone_builder_finish(b, &zone, &err));
	zone_builder_free(b);
	return 0;
}

static void check_zone(const struct zone *to, bool changed, const struct update_options *options)
{
	const struct zone_node *apex = zone_apex_node(to);
	const struct zone_rrset *soa = zone_node_rrset(to, apex, DNS_TYPE_SOA);

	must(soa && soa->n == 1 && zone_node_rrset(to, apex, DNS_TYPE_NS));
	if (!changed)
		must(zone_serial(to) == zone_serial(zone));
	else if (options->serial != UPDATE_SERIAL_KEEP)
		must(xfr_serial_newer(zone_serial(to), zone_serial(zone)));
}

/* The old version with the changes equals the new one. */
static void check_changes(struct zone *to, const struct changeset *changes)
{
	uint8_t a[ZONE_DIGEST_LEN], b[ZONE_DIGEST_LEN];
	struct zone_edit *edit;
	struct zone_error err;
	struct zone *again;

	if (!changes->n_bytes)
		return;
	must(!zone_edit_begin(&edit, zone));
	must(!zone_edit_apply(edit, changes, &err));
	must(!zone_edit_finish(edit, &again, NULL, &err));
	zone_digest(to, a);
	zone_digest(again, b);
	must(!memcmp(a, b, sizeof(a)));
	zone_free(again);
}

static void finish(struct zone_edit *edit, bool changed, const struct update_options *options)
{
	struct changeset changes;
	struct zone_error err;
	struct zone *to;

	changeset_init(&changes);
	if (!zone_edit_finish(edit, &to, &changes, &err)) {
		check_zone(to, changed, options);
		check_changes(to, &changes);
		zone_free(to);
	}
	changeset_fini(&changes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct update_options options = { .now_s = 1000 };
	struct zone_edit *edit;
	struct update u;
	bool changed;

	if (!size)
		return 0;
	options.serial = (enum update_serial)(data[0] % 3);
	options.is_signed_here = data[0] & 4;
	if (update_open(&u, data + 1, size - 1) || !name_equal(u.zone, (const uint8_t *)"\1z"))
		return 0;
	must(!zone_edit_begin(&edit, zone));
	if (update_apply(&u, edit, &options, &changed))
		zone_edit_cancel(edit);
	else
		finish(edit, changed, &options);
	return 0;
}
