/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of a list of queries, as xdpgen and scripts/loadtest read it:
 *
 *	NAME TYPE [EDNS | no-EDNS | SIZE] [DO]
 *
 * By default a query has OPT, unless the program's options say otherwise, and offers QUERY_UDP_SIZE
 * octets. DO implies OPT.
 */
#ifndef VOLLEY_TESTS_PERF_QUERYLIST_H
#define VOLLEY_TESTS_PERF_QUERYLIST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "dns/proto.h"
#include "tests/perf/query.h"

static inline int querylist_word(struct perf_query *q, const char *word)
{
	char *end;
	unsigned long size;

	q->edns = strcasecmp(word, "no-EDNS") != 0;
	if (!q->edns || !strcasecmp(word, "EDNS"))
		return 0;
	if (!strcasecmp(word, "DO")) {
		q->dnssec_ok = true;
		return 0;
	}
	size = strtoul(word, &end, 10);
	q->udp_size = (uint16_t)size;
	return end != word && !*end && size && size <= UINT16_MAX ? 0 : -EINVAL;
}

/* Sets q's name (in `wire`), type and OPT; other fields stay. -EINVAL: not such a line. */
static inline int querylist_parse(struct perf_query *q, uint8_t wire[DNS_NAME_MAX],
				  const char *line)
{
	char copy[1200], *save, *name, *type, *word;
	int qtype, err = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	name = strtok_r(copy, " \t\n", &save);
	type = name ? strtok_r(NULL, " \t\n", &save) : NULL;
	qtype = type ? proto_type_from_text(type, strlen(type)) : -1;
	if (qtype <= 0 || name_from_text(wire, DNS_NAME_MAX, name, strlen(name)) < 0)
		return -EINVAL;
	q->name = wire;
	q->qtype = (uint16_t)qtype;
	while (!err && (word = strtok_r(NULL, " \t\n", &save)))
		err = querylist_word(q, word);
	return err;
}

#endif
