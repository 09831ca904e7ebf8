/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that the runner opens for the daemon: those that its own copy of the configuration
 * names, by whichever key.
 *
 *	rows of type path ─► hashes of paths    zone files, keys, certificates, hints, lists ...
 *	key folders       ─► hashes of folders  the names in it, and each file directly in it
 *	include           ─► hashes of folders  the names in it
 *	templates         ─► patterns           files of catalogs' members
 *	$INCLUDE          ─► from a file of these that the daemon could not have written itself
 *
 * A configuration may name a million files, so a set keeps 8 octets of each: SipHash with a key
 * that only the runner has. base/trusted_open.h opens them. One thread.
 */
#ifndef VOLLEY_CONFIG_RUNNER_FILES_H
#define VOLLEY_CONFIG_RUNNER_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/siphash.h"
#include "config/config.h"

#define RUNNER_INCLUDED_MAX 512 /* 32 loaders, each with a chain of 10 files */

/* The files of one configuration; zeros: none. */
struct runner_files {
	uint64_t *hashes; /* sorted */
	size_t n;
	size_t cap;
	char **patterns; /* templates[].file, ended by NULL; or NULL */
};

/* What holds for all configurations. */
struct runner_opener {
	uint8_t key[SIPHASH_KEY_BYTES];
	uint64_t included[RUNNER_INCLUDED_MAX]; /* files that were found in another by $INCLUDE */
	unsigned int next_included;             /* the oldest one */
};

/* Chooses the key. 0 or -errno. */
int runner_opener_init(struct runner_opener *opener) __attribute__((warn_unused_result));

/* Fills FILES, which holds zeros. 0 or -ENOMEM; runner_files_fini() is then needed, too. */
int runner_files_collect(struct runner_files *files, const struct runner_opener *opener,
			 const struct config *config) __attribute__((warn_unused_result));
/* Makes *TO, which holds zeros, a copy. As runner_files_collect(). */
int runner_files_copy(struct runner_files *to, const struct runner_files *from)
	__attribute__((warn_unused_result));
void runner_files_fini(struct runner_files *files);

/*
 * Opens the file PATH, if one of the n sets has it, or if FROM is a file that may be opened and
 * that includes it; FROM "": there is none. A descriptor; -EACCES: it is not to be opened; or as
 * trusted_open().
 */
int runner_files_open(struct runner_opener *opener, const struct runner_files *sets, size_t n,
		      const char *path, const char *from) __attribute__((warn_unused_result));

/* The same for a folder, to read the names in it. */
int runner_files_open_folder(const struct runner_opener *opener, const struct runner_files *sets,
			     size_t n, const char *path) __attribute__((warn_unused_result));

#endif
