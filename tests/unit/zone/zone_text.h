/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests: zones from strings, names from text, results as text.
 */
#ifndef VOLLEY_TESTS_ZONE_TEXT_H
#define VOLLEY_TESTS_ZONE_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/zone.h"

#define ZONE_HEAD "$TTL 300\n@ IN SOA ns host 7 2 3 4 60\n@ IN NS ns\nns IN A 192.0.2.1\n"

/* Loads @text as a file of its own. */
static inline int load_text(struct zone **z, const char *origin, const char *text,
			    struct zone_error *err)
{
	int fd = memfd_create("zone", MFD_CLOEXEC), rc;
	size_t n = strlen(text);
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = zone_load(z, origin, path, NULL, err);
	close(fd);
	return rc;
}

/* As above, for text that must load. */
static inline struct zone *zone_of(const char *origin, const char *text)
{
	struct zone_error err;
	struct zone *z;
	int rc = load_text(&z, origin, text, &err);

	if (rc)
		fail_msg("line %u: %s", err.line, err.sentence);
	return z;
}

/* A folded wire name; the length is returned. */
static inline unsigned wire_of(uint8_t dst[256], const char *text)
{
	int n = name_from_text(dst, DNS_NAME_MAX, text, strlen(text));

	assert_true(n > 0);
	name_fold(dst, dst, (size_t)n);
	return (unsigned)n;
}

/* The owner of a node as text, or "-" for none. */
static inline const char *owner_text(const struct zone *z, const struct zone_node *node,
				     char dst[NAME_TEXT_MAX])
{
	uint8_t owner[ZONE_NAME_MAX];

	if (!node)
		return "-";
	zone_node_owner(z, node, owner);
	name_to_text(dst, NAME_TEXT_MAX, owner);
	return dst;
}

#endif
