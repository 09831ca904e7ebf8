/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/context.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"

static bool is_first_of_its_zone(const struct resolver_config *c, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (c->stubs[i].is_forward == c->stubs[at].is_forward &&
		    !strcmp(c->stubs[i].zone, c->stubs[at].zone))
			return false;
	return true;
}

static bool says_more(const struct resolver_stub *stub)
{
	return stub->is_forward || stub->first || stub->transport != RESOLVER_UDP;
}

static bool is_needed(const struct resolver_config *c)
{
	for (size_t i = 0; i < c->n_stubs; i++)
		if (says_more(&c->stubs[i]))
			return true;
	return c->forward_first || c->dns64_prefix;
}

/* A forward zone gets the addresses of all its items here, a stub zone by ub_ctx_set_stub(). */
static void put_context_file_zone(FILE *out, const struct resolver_config *c, size_t at)
{
	const struct resolver_stub *zone = &c->stubs[at];
	const char *kind = zone->is_forward ? "forward" : "stub";

	fprintf(out, "%s-zone:\n name: \"%s\"\n %s-first: %s\n", kind, zone->zone, kind,
		zone->first ? "yes" : "no");
	if (zone->transport == RESOLVER_TCP)
		fprintf(out, " %s-tcp-upstream: yes\n", kind);
	for (size_t i = at; i < c->n_stubs && zone->is_forward; i++)
		if (c->stubs[i].is_forward && !strcmp(c->stubs[i].zone, zone->zone))
			fprintf(out, " forward-addr: \"%s\"\n", c->stubs[i].address);
}

static int put_all_context_file(FILE *out, const struct resolver_config *c)
{
	if (c->dns64_prefix)
		fprintf(out, "server:\n dns64-prefix: %s\n dns64-synthall: %s\n", c->dns64_prefix,
			c->dns64_synthall ? "yes" : "no");
	for (size_t i = 0; i < c->n_stubs; i++)
		if (says_more(&c->stubs[i]) && is_first_of_its_zone(c, i))
			put_context_file_zone(out, c, i);
	if (c->forward_first)
		fprintf(out, "forward-zone:\n name: \".\"\n forward-first: yes\n");
	return fflush(out) || ferror(out) ? -ENOSPC : 0;
}

int context_file_open(const struct resolver_config *config)
{
	int fd, kept, err;
	FILE *out;

	if (!is_needed(config))
		return -ENOENT;
	fd = memory_file_open("volley-unbound", 0);
	if (fd < 0)
		return fd;
	kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	out = kept < 0 ? NULL : fdopen(kept, "w");
	if (!out) {
		err = -errno;
		close(fd);
		if (kept >= 0)
			close(kept);
		return err;
	}
	err = put_all_context_file(out, config);
	if (fclose(out) && !err)
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}
