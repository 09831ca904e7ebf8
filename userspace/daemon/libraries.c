/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/daemon.h"

#include <event2/event.h>
#include <jansson.h>
#include <ldns/ldns.h>
#include <limits.h>
#include <link.h>
#include <lmdb.h>
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <protobuf-c/protobuf-c.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/started.h"

/* The only function of DPDK here: its headers want flags of their own. NULL in a build without. */
const char *rte_version(void) __attribute__((weak));

/* "DPDK 22.11.11" */
static const char *dpdk_version(void)
{
	return rte_version ? rte_version() + strcspn(rte_version(), "0123456789") : "";
}

/* It is a library of volley-resolver alone. */
static const char *unbound_version(void)
{
	static char text[32];
	struct executable program;
	char err[320];

	if (!executable_open(&program, NULL, err, sizeof(err)))
		started_ask_libunbound(&program, text, sizeof(text));
	executable_close(&program);
	return *text ? text : "not found";
}

static const char *openssl_version(void)
{
	return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static const char *lmdb_version(void)
{
	static char text[32];
	int major, minor, patch;

	mdb_version(&major, &minor, &patch);
	snprintf(text, sizeof(text), "%d.%d.%d", major, minor, patch);
	return text;
}

struct library {
	const char *package;
	const char *built_with;
};

static const struct library libraries[] = {
#define LIBRARY(package, version) { package, version },
#include <libraries_built.h> /* made from PKGS */
#undef LIBRARY
};

/* Packages that are not here have no such function; libbpf's leaves out the last number. */
static const struct {
	const char *package;
	const char *(*version)(void);
} versions[] = {
	{ "ldns", ldns_version },
	{ "libunbound", unbound_version },
	{ "libevent_core", event_get_version },
	{ "lmdb", lmdb_version },
	{ "yaml-0.1", yaml_get_version_string },
	{ "jansson", jansson_version_str },
	{ "libssl", openssl_version },
	{ "libcrypto", openssl_version },
	{ "libmicrohttpd", MHD_get_version },
	{ "libprotobuf-c", protobuf_c_version },
	{ "libdpdk", dpdk_version },
};

struct file_search {
	const char *package; /* the file is PACKAGE.so... */
	char path[PATH_MAX]; /* "": not found */
};

static int match_file(struct dl_phdr_info *info, size_t size, void *user)
{
	struct file_search *search = user;
	const char *name = strrchr(info->dlpi_name, '/');
	size_t len = strlen(search->package);

	(void)size;
	if (!name || strncmp(name + 1, search->package, len) != 0 ||
	    strncmp(name + 1 + len, ".so", 3) != 0)
		return 0;
	return !!realpath(info->dlpi_name, search->path);
}

static void put_running(FILE *out, const char *package)
{
	struct file_search search = { .package = package };

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (!strcmp(versions[i].package, package)) {
			fprintf(out, "%s\n", versions[i].version());
			return;
		}
	if (dl_iterate_phdr(match_file, &search))
		fprintf(out, "%s\n", strrchr(search.path, '/') + 1);
	else
		fprintf(out, "not loaded\n");
}

void libraries_put(FILE *out)
{
	fprintf(out, "%-18s%-16s%s\n", "library", "built with", "running with");
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		fprintf(out, "%-18s%-16s", libraries[i].package, libraries[i].built_with);
		put_running(out, libraries[i].package);
	}
}
