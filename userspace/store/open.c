/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening the store, and its room. LMDB writes new pages beside the old ones, syncs them, and then
 * writes one of two heads: after a crash, the old or the new head is valid. Nothing is written
 * through the mapping (MDB_WRITEMAP), so a full disk is an error of write(), not a signal.
 *
 * A new environment is made under another name and then renamed, so a file in its place was whole
 * once. A short or empty file is therefore damaged, not the remains of a killed start.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/wire.h"
#include "base/page.h"
#include "store/database.h"

#define KEY        "server.storage: "
#define FORMAT_KEY "format"
/* LMDB's lock file: two cache lines for its mutexes, then one for each reader; in whole blocks. */
#define LOCK_BYTES ((128 + 64 * STORE_READERS_MAX + 4095) / 4096 * 4096)

/* --- Open ------------------------------------------------------------------------------------- */

struct sentence {
	const char *folder;
	char *text;
	size_t cap;
};

static const char *advice(int err)
{
	if (err == -EACCES)
		return ": the folder has to belong to the user of volleyd";
	return err == -ENOENT ? ": make the folder above it" : "";
}

static int say_store(const struct sentence *s, int err, const char *what)
{
	snprintf(s->text, s->cap, KEY "%s: %s%s%s%s", s->folder, what, *what ? ": " : "",
		 err_text(err), advice(err));
	return err;
}

/* For errors of opening. Codes of LMDB mean a file that is not LMDB's or is broken. */
static int say_opening(const struct sentence *s, int rc)
{
	if (rc > 0)
		return say_store(s, -rc, "data.mdb");
	snprintf(s->text, s->cap,
		 KEY "%s/data.mdb: %s: move the folder away; zones are fetched or read anew",
		 s->folder, mdb_strerror(rc));
	return rc == MDB_MAP_FULL ? -ENOSPC : ERR_STORE;
}

int store_check(const char *folder, char *err, size_t err_cap)
{
	const struct sentence s = { folder, err, err_cap };
	char *copy = strdup(folder);
	struct stat st;
	int code = 0;

	if (!copy)
		return say_store(&s, -ENOMEM, "");
	if (!stat(folder, &st))
		code = S_ISDIR(st.st_mode) ? 0 : say_store(&s, -ENOTDIR, "");
	else if (errno != ENOENT)
		code = say_store(&s, -errno, "");
	else if (access(dirname(copy), W_OK | X_OK))
		code = say_store(&s, -errno, "cannot be made");
	free(copy);
	return code;
}

static int lock_folder(struct store *st, const struct sentence *s)
{
	if (mkdir(s->folder, 0700) && errno != EEXIST)
		return say_store(s, -errno, "cannot be made");
	st->lock_fd = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (st->lock_fd < 0)
		return say_store(s, -errno, "");
	if (!flock(st->lock_fd, LOCK_EX | LOCK_NB))
		return 0;
	return say_store(s, errno == EWOULDBLOCK ? ERR_RUNNING : -errno, "in use");
}

/* LMDB writes the lock file through a mapping: if a block is missing and the disk is full, that is
 * a signal (SIGBUS). So all blocks are allocated before LMDB maps it. */
static int make_lock_file(const struct store *st, const struct sentence *s)
{
	int fd = openat(st->lock_fd, "lock.mdb", O_RDWR | O_CREAT | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return say_store(s, -errno, "lock.mdb");
	err = posix_fallocate(fd, 0, LOCK_BYTES);
	close(fd);
	return err ? say_store(s, -err, "lock.mdb") : 0;
}

static int open_env(struct store *st, const struct sentence *s, const char *path, unsigned flags)
{
	int rc = mdb_env_create(&st->env);

	if (!rc)
		rc = mdb_env_set_maxdbs(st->env, STORE_N_DBS);
	if (!rc)
		rc = mdb_env_set_maxreaders(st->env, STORE_READERS_MAX);
	if (!rc)
		rc = mdb_env_set_mapsize(st->env, st->max_bytes);
	if (!rc)
		rc = mdb_env_open(st->env, path, MDB_NOTLS | flags, 0600);
	return rc ? say_opening(s, rc) : 0;
}

/* Writes the format's version into a new environment; an old one must have the same version. */
static int check_format(MDB_txn *txn, const struct sentence *s)
{
	uint8_t version[4];
	MDB_val key = { sizeof(FORMAT_KEY) - 1, FORMAT_KEY }, value = { sizeof(version), version };
	MDB_stat stat;
	MDB_dbi dbi; /* STORE_MAIN_DBI; without this call its keys have no order */
	int rc = mdb_dbi_open(txn, NULL, 0, &dbi);

	if (!rc)
		rc = mdb_stat(txn, dbi, &stat);
	if (!rc && !stat.ms_entries) {
		wire_store_be32(version, STORE_FORMAT);
		rc = mdb_put(txn, dbi, &key, &value, 0);
		return rc ? say_opening(s, rc) : 0;
	}
	if (!rc)
		rc = mdb_get(txn, dbi, &key, &value);
	if (rc && rc != MDB_NOTFOUND)
		return say_opening(s, rc);
	if (!rc && value.mv_size == sizeof(version) &&
	    wire_load_be32(value.mv_data) == STORE_FORMAT)
		return 0;
	snprintf(s->text, s->cap,
		 KEY
		 "%s: this is no journal, or that of another version of Volley: move the folder "
		 "away; "
		 "zones are fetched or read anew",
		 s->folder);
	return ERR_STORE;
}

static int open_dbs(struct store *st, const struct sentence *s)
{
	static const char *const names[STORE_N_DBS] = {
#define STORE_DB(name, text) text,
		STORE_DBS(STORE_DB)
#undef STORE_DB
	};
	bool is_read = st->refusal;
	MDB_txn *txn;
	int rc = mdb_txn_begin(st->env, NULL, is_read ? MDB_RDONLY : 0, &txn), err;

	if (rc)
		return say_opening(s, rc);
	err = check_format(txn, s);
	for (unsigned i = 0; i < STORE_N_DBS && !err; i++) {
		rc = mdb_dbi_open(txn, names[i], is_read ? 0 : MDB_CREATE, &st->dbs[i]);
		err = rc ? say_opening(s, rc) : 0;
	}
	if (err) {
		mdb_txn_abort(txn);
		return err;
	}
	rc = mdb_txn_commit(txn);
	return rc ? say_opening(s, rc) : 0;
}

static void close_env(struct store *st)
{
	if (st->env)
		mdb_env_close(st->env);
	st->env = NULL;
}

/* Needs no lock file: the folder's lock is enough, because no other process knows of the file. */
static int make_data_file(struct store *st, const struct sentence *s)
{
	char path[PATH_MAX], tmp[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/data.mdb", s->folder) >= PATH_MAX ||
	    snprintf(tmp, sizeof(tmp), "%s/data.mdb.new", s->folder) >= PATH_MAX)
		return say_store(s, -ENAMETOOLONG, "data.mdb");
	if (unlink(tmp) && errno != ENOENT)
		return say_store(s, -errno, "data.mdb.new");
	err = open_env(st, s, tmp, MDB_NOSUBDIR | MDB_NOLOCK);
	if (!err)
		err = open_dbs(st, s);
	close_env(st);
	if (!err) {
		err = replace_finish(tmp, path);
		err = err ? say_store(s, err, "data.mdb") : 0;
	}
	if (err)
		(void)unlink(tmp); /* gives a full disk its room back */
	return err;
}

static int check_data_file(struct store *st, const struct sentence *s)
{
	char why[128];
	int result = data_file_check(st->lock_fd, "data.mdb", why, sizeof(why));

	if (result < 0)
		return say_store(s, result, "data.mdb");
	if (result == DATA_FILE_NONE)
		return make_data_file(st, s);
	if (result == DATA_FILE_WHOLE)
		return 0;
	snprintf(s->text, s->cap,
		 KEY "%s/data.mdb: is damaged, %s: move the folder away; zones are fetched or read "
		     "anew",
		 s->folder, why);
	return ERR_STORE;
}

/* Forgetting changes needs pages, too, and so do the records of zones: an eighth of all pages is
 * kept for that. */
static int measure_store(struct store *st, const struct sentence *s)
{
	MDB_envinfo info;
	MDB_stat stat;
	int rc = mdb_env_stat(st->env, &stat);

	if (!rc)
		rc = mdb_env_info(st->env, &info);
	if (rc)
		return say_opening(s, rc);
	st->max_map_bytes = info.me_mapsize;
	st->page_bytes = stat.ms_psize;
	st->max_pages = st->max_bytes / st->page_bytes;
	st->max_live_pages = st->max_pages - st->max_pages / 8;
	return 0;
}

static int open_to_write(struct store *st, const struct sentence *s)
{
	int rc = make_lock_file(st, s);

	if (!rc)
		rc = open_env(st, s, s->folder, 0);
	if (!rc)
		rc = measure_store(st, s);
	return rc ? rc : open_dbs(st, s);
}

static bool may_be_read(int rc)
{
	return rc == -EROFS || rc == -EACCES || rc == -EPERM || rc == -ENOSPC || rc == -EDQUOT ||
	       rc == -EIO;
}

/* Acknowledged changes are served, though nothing can be added. The folder's lock excludes writers,
 * so readers need no table. The message stays that of the failure to open for writing. */
static int open_to_read(struct store *st, int refusal, const char *folder)
{
	char ignored[256];
	struct sentence s = { folder, ignored, sizeof(ignored) };
	int rc;

	close_env(st);
	st->refusal = refusal;
	rc = open_env(st, &s, folder, MDB_RDONLY | MDB_NOLOCK);
	if (!rc)
		rc = measure_store(st, &s);
	if (!rc)
		rc = open_dbs(st, &s);
	return rc ? refusal : 0;
}

int store_refusal(const struct store *st)
{
	return st->refusal;
}

int store_open(struct store **out, const char *folder, uint64_t max_bytes, char *err,
	       size_t err_cap)
{
	struct sentence s = { folder, err, err_cap };
	struct store *st = calloc(1, sizeof(*st));
	int rc;

	*out = NULL;
	err[0] = '\0';
	if (!st)
		return say_store(&s, -ENOMEM, "");
	if (max_bytes < STORE_MAX_BYTES_MIN)
		max_bytes = STORE_MAX_BYTES_MIN;
	st->lock_fd = -1;
	st->max_bytes = max_bytes / page_bytes() * page_bytes();
	st->folder = strdup(folder);
	rc = st->folder ? lock_folder(st, &s) : say_store(&s, -ENOMEM, "");
	if (!rc)
		rc = check_data_file(st, &s);
	if (!rc) {
		rc = open_to_write(st, &s);
		if (may_be_read(rc))
			rc = open_to_read(st, rc, folder);
	}
	if (rc)
		store_close(st);
	else
		*out = st;
	return rc;
}

void store_close(struct store *st)
{
	if (!st)
		return;
	close_env(st);
	if (st->lock_fd >= 0)
		close(st->lock_fd);
	free(st->folder);
	free(st);
}

const char *store_folder(const struct store *st)
{
	return st->folder;
}

/* --- Room ------------------------------------------------------------------------------------- */

int store_live_pages(struct store *st, MDB_txn *txn, uint64_t *n_pages)
{
	/* The first two are LMDB's own: free pages, and the list of databases. */
	MDB_dbi dbs[STORE_N_DBS + 2] = { 0, STORE_MAIN_DBI };

	memcpy(dbs + 2, st->dbs, sizeof(st->dbs));
	*n_pages = 2; /* the heads */
	for (unsigned i = 0; i < STORE_N_DBS + 2; i++) {
		MDB_stat stat;
		int rc = mdb_stat(txn, dbs[i], &stat);

		if (rc)
			return store_error(rc);
		*n_pages += stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
	}
	return 0;
}

int store_read_begin(struct store *st, MDB_txn **txn)
{
	return store_error(mdb_txn_begin(st->env, NULL, MDB_RDONLY, txn));
}

int store_usage(struct store *st, struct store_usage *usage)
{
	uint64_t n_pages;
	MDB_txn *txn;
	int err = store_read_begin(st, &txn);

	if (err)
		return err;
	err = store_live_pages(st, txn, &n_pages);
	mdb_txn_abort(txn);
	*usage = (struct store_usage){
		.n_bytes = err ? 0 : n_pages * st->page_bytes,
		.changes_max_bytes = st->max_live_pages * st->page_bytes,
		.max_bytes = st->max_pages * st->page_bytes,
	};
	return err;
}
