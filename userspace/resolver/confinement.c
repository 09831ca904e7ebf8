/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/confinement.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/landlock.h"
#include "base/log.h"
#include "resolver/thread.h"

#define PORT_DNS 53
#define PORT_DOT 853

/* Threads look at the number of processors; OpenSSL and libunbound look at nothing else. */
static const char *const read_here[] = { "/proc/self", "/sys/devices/system" };

/* The port of "192.0.2.1@5353#name", if it has one. The configuration has only sound ones. */
static int allow_upstream(int rules, const char *address)
{
	const char *at = address ? strchr(address, '@') : NULL;

	return at ? landlock_allow_connect(rules, (uint16_t)strtoul(at + 1, NULL, 10)) : 0;
}

static int allow_upstreams(int rules, const struct resolver_config *config)
{
	int err = allow_upstream(rules, config->root_copy);

	for (const char *const *f = config->forwards; f && *f && !err; f++)
		err = allow_upstream(rules, *f);
	for (size_t i = 0; i < config->n_stubs && !err; i++)
		err = allow_upstream(rules, config->stubs[i].address);
	return err;
}

/* Each thread has a relay of its own, which listens on ports that the kernel has chosen. */
static int allow_tcp(int rules, struct resolver *resolver, const struct resolver_config *config)
{
	const struct resolver_thread *t;
	int err = landlock_allow_bind(rules, 0);

	if (!err)
		err = landlock_allow_connect(rules, PORT_DNS);
	if (!err)
		err = landlock_allow_connect(rules, PORT_DOT);
	if (!err)
		err = allow_upstreams(rules, config);
	for (unsigned int i = 0; !err && (t = resolver_thread_at(resolver, i)); i++)
		if (t->relay)
			err = allow_upstreams(rules, tls_relay_config(t->relay));
	return err;
}

/* libunbound writes a new file beside it, which then takes its name. volleyd's `degraded` says that
 * a folder is too wide. */
static int allow_anchor(int rules, const char *path)
{
	char folder[PATH_MAX];

	if (!path || strlen(path) >= sizeof(folder))
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", (int)landlock_folder_bytes(path), path);
	if (landlock_is_too_wide(*folder ? folder : "."))
		return landlock_allow(rules, path, LANDLOCK_READ);
	return landlock_allow(rules, *folder ? folder : ".", LANDLOCK_WRITE);
}

static int confine_process(int rules, struct resolver *resolver,
			   const struct resolver_config *config)
{
	int err = allow_anchor(rules, config->auto_trust_anchor_file);

	landlock_allow_libraries(rules);
	for (size_t i = 0; i < sizeof(read_here) / sizeof(read_here[0]); i++)
		(void)!landlock_allow(rules, read_here[i], LANDLOCK_READ);
	(void)!landlock_allow(rules, "/dev/null", LANDLOCK_WRITE);
	if (!err)
		err = allow_tcp(rules, resolver, config);
	if (!err)
		return landlock_enforce(rules);
	close(rules);
	return err;
}

void confinement_start(struct resolver *resolver, const struct resolver_config *config)
{
	const int rules = landlock_open(LANDLOCK_FILES_AND_TCP);
	int err = rules < 0 ? rules : confine_process(rules, resolver, config);

	if (err && err != -ENOSYS && err != -EOPNOTSUPP)
		log_warn("Landlock: %s: volley-resolver opens all files that its user may open",
			 err_text(err));
}
