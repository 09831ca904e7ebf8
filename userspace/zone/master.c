/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads master files: directives, the fields before the rdata, and the values that a record
 * inherits from earlier records (RFC 1035 section 5.1, RFC 2308 section 4).
 *
 * An included file begins with the origin, TTL and owner at its $INCLUDE. Its own changes of these
 * end with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/builder.h"
#include "zone/rdtext.h"
#include "zone/text.h"
#include "zone/zone.h"

#define INCLUDE_DEPTH_MAX 10
#define PATH_BYTES        4096

#define FAULTS_MAX 20 /* mistakes that are reported of one zone */

/* The mistakes in the text: the first one, and the others as text. */
struct faults {
	struct zone_error first;
	uint32_t n;
	size_t more_bytes;
	char more[sizeof(((struct zone_error *)0)->more)];
};

/* A file that is being read; @outer is the file that includes it. */
struct source {
	struct faults *faults;
	struct zone_builder *b;
	struct rdtext *rd;
	struct zone_error *err;
	struct zone_progress *progress;
	const struct source *outer;
	const char *path;
	struct regular_chain chain; /* this file, and those that lead to it */
	unsigned depth;
	uint16_t file;
	struct stat st; /* when it was opened */
	struct text_reader text;
	uint8_t origin[256];
	uint8_t owner[256];
	unsigned owner_bytes; /* 0: none yet */
	bool has_default_ttl; /* $TTL */
	bool has_last_ttl;
	uint32_t default_ttl;
	uint32_t last_ttl; /* the last one stated in a record */
};

static int read_source(struct source *s, int fd);
static int take_generate(struct source *s, const char *cursor);

#define refuse(s, ...) zone_error_set((s)->err, (s)->path, (s)->text.entry_line, __VA_ARGS__)

/* For "%.*s": a token's length, cut to what a message can show. */
static int shown(const struct text_token *token)
{
	return token->n < 64 ? (int)token->n : 64;
}

/* --- Progress --- */

static void add_to(uint64_t *counter, uint64_t n)
{
	/* One writer. */
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static void set_master_stage(struct source *s, enum zone_stage stage)
{
	__atomic_store_n(&s->progress->stage, (uint32_t)stage, __ATOMIC_RELAXED);
}

/* --- Names --- */

/* Writes the name in @token to @out. Returns its length or an error of name.h. */
static int name_of_master(const struct source *s, const struct text_token *token, uint8_t out[256])
{
	return textname_read(token, s->rd->origin, s->rd->origin_bytes, out);
}

static int refuse_name(struct source *s, const struct text_token *token, int rc)
{
	return refuse(s, "'%.*s': %s", shown(token), token->at, err_text(rc));
}

/* --- Directives --- */

static int end_of_directive(struct source *s, const char *cursor)
{
	struct text_token token;

	if (text_next(&cursor, &token))
		return refuse(s, "'%.*s' is too much in this directive", shown(&token), token.at);
	return 0;
}

static int take_origin(struct source *s, const char *cursor)
{
	struct text_token token;
	uint8_t name[256];
	int rc;

	if (!text_next(&cursor, &token))
		return refuse(s, "$ORIGIN has no name");
	rc = name_of_master(s, &token, name);
	if (rc < 0)
		return refuse_name(s, &token, rc);
	memcpy(s->origin, name, (size_t)rc);
	rc = rdtext_set_origin(s->rd, s->origin);
	return rc ? rc : end_of_directive(s, cursor);
}

static int take_ttl(struct source *s, const char *cursor)
{
	struct text_token token;

	if (!text_next(&cursor, &token))
		return refuse(s, "$TTL has no value");
	if (text_to_ttl(&token, &s->default_ttl))
		return refuse(s, "'%.*s' is not a TTL", shown(&token), token.at);
	s->has_default_ttl = true;
	return end_of_directive(s, cursor);
}

/* Makes a path of @token; a relative one begins at the folder of the including file. */
static int include_path(struct source *s, const struct text_token *token, char path[PATH_BYTES])
{
	const char *slash = strrchr(s->path, '/');
	int n_dir = slash && token->at[0] != '/' ? (int)(slash - s->path + 1) : 0;
	int n = snprintf(path, PATH_BYTES, "%.*s%.*s", n_dir, s->path, (int)token->n, token->at);

	if (n < 0 || n >= PATH_BYTES || !token->n)
		return refuse(s, "$INCLUDE has no usable file name");
	return 0;
}

static bool is_being_read(const struct source *s, const struct stat *st)
{
	for (; s; s = s->outer)
		if (s->st.st_dev == st->st_dev && s->st.st_ino == st->st_ino)
			return true;
	return false;
}

static int read_include(struct source *s, const char *path, const uint8_t *origin)
{
	struct source *inner;
	struct stat st;
	int fd = regular_open_included(path, &s->chain, &st), rc;

	if (fd < 0)
		return refuse(s, "cannot read '%.150s': %s", path, err_text(fd));
	if (is_being_read(s, &st) || s->depth >= INCLUDE_DEPTH_MAX) {
		close(fd);
		return refuse(s, "'%.150s' is included %s", path,
			      is_being_read(s, &st) ? "by itself" : "too deep");
	}
	s->progress->has_included = true;
	inner = malloc(sizeof(*inner));
	rc = inner ? zone_builder_file(s->b, path) : -ENOMEM;
	if (rc < 0) {
		close(fd);
		free(inner);
		return rc == ERR_LIMIT ? refuse(s, "there are too many $INCLUDE") : rc;
	}
	*inner = *s;
	inner->outer = s;
	inner->path = path;
	inner->chain = (struct regular_chain){ path, &s->chain };
	inner->depth = s->depth + 1;
	inner->file = (uint16_t)rc;
	inner->st = st;
	add_to(&s->progress->total_bytes, (uint64_t)st.st_size);
	memcpy(inner->origin, origin, name_bytes(origin));
	rc = rdtext_set_origin(s->rd, origin);
	if (rc)
		close(fd);
	else
		rc = read_source(inner, fd);
	free(inner);
	return rc ? rc : rdtext_set_origin(s->rd, s->origin);
}

static int take_include(struct source *s, const char *cursor)
{
	struct text_token file, name;
	uint8_t origin[256];
	char *path;
	int rc;

	if (!text_next(&cursor, &file))
		return refuse(s, "$INCLUDE has no file name");
	memcpy(origin, s->origin, name_bytes(s->origin));
	if (text_next(&cursor, &name)) {
		rc = name_of_master(s, &name, origin);
		if (rc < 0)
			return refuse_name(s, &name, rc);
	}
	rc = end_of_directive(s, cursor);
	if (rc)
		return rc;
	path = malloc(PATH_BYTES);
	if (!path)
		return -ENOMEM;
	rc = include_path(s, &file, path);
	if (!rc)
		rc = read_include(s, path, origin);
	free(path);
	return rc;
}

static int take_directive(struct source *s, const struct text_token *word, const char *cursor)
{
	if (text_is(word, "$ORIGIN"))
		return take_origin(s, cursor);
	if (text_is(word, "$TTL"))
		return take_ttl(s, cursor);
	if (text_is(word, "$INCLUDE"))
		return take_include(s, cursor);
	if (text_is(word, "$GENERATE"))
		return take_generate(s, cursor);
	return refuse(s, "'%.*s' is not a known directive ($ORIGIN, $TTL, $INCLUDE, $GENERATE)",
		      shown(word), word->at);
}

/* --- Records --- */

struct fields {
	bool has_ttl, has_class;
	uint32_t ttl;
	uint16_t type;
};

/* Returns 1 for class IN, 0 if the token is no class, or ERR_ZONE. */
static int take_class(struct source *s, const struct text_token *token)
{
	static const char *const others[] = { "CH", "CHAOS", "HS", "HESIOD", "CS", "NONE" };

	if (text_is(token, "IN") || text_is(token, "CLASS1"))
		return 1;
	if (!token->quoted && rdtext_common_type(token->at, token->n))
		return 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (text_is(token, others[i]))
			return refuse(s, "class %s is not served, only IN", others[i]);
	if (token->n > 5 && !strncasecmp(token->at, "CLASS", 5))
		return refuse(s, "'%.*s' is not served, only class IN", shown(token), token->at);
	return 0;
}

/* Reads TTL and class in either order, each at most once, then the type. */
static int take_fields(struct source *s, const char **cursor, struct fields *f)
{
	struct text_token token;
	int rc;

	while (text_next(cursor, &token)) {
		if (!f->has_ttl && token.n && token.at[0] >= '0' && token.at[0] <= '9') {
			if (text_to_ttl(&token, &f->ttl))
				return refuse(s, "'%.*s' is not a TTL", shown(&token), token.at);
			f->has_ttl = true;
			continue;
		}
		rc = f->has_class ? 0 : take_class(s, &token);
		if (rc < 0)
			return rc;
		if (rc) {
			f->has_class = true;
			continue;
		}
		rc = token.quoted ? ERR_TYPE : rdtext_type(token.at, token.n);
		if (rc < 0)
			return refuse(s, "'%.*s' is not a record type", shown(&token), token.at);
		f->type = (uint16_t)rc;
		return 0;
	}
	return refuse(s, "the record has no type");
}

/* Finds the TTL of a record without one. */
static int inherit_ttl(struct source *s, struct fields *f)
{
	if (s->has_default_ttl) {
		f->ttl = s->default_ttl;
	} else if (s->has_last_ttl) {
		f->ttl = s->last_ttl;
	} else if (f->type == DNS_TYPE_SOA && s->rd->len >= 4) {
		/* The meaning of MINIMUM before RFC 2308: some files still rely on it. */
		f->ttl = wire_load_be32(s->rd->rdata + s->rd->len - 4);
		s->last_ttl = f->ttl;
		s->has_last_ttl = true;
	} else {
		return refuse(s, "the record has no TTL, and there is no $TTL before it");
	}
	return 0;
}

static int take_master_owner(struct source *s, const struct text_token *token)
{
	int n = name_of_master(s, token, s->owner);

	s->owner_bytes = n < 0 ? 0 : (unsigned)n;
	return n < 0 ? refuse_name(s, token, n) : 0;
}

/* The column of the text, or 0: the entry has several lines, or $GENERATE made it. */
static uint32_t column_of(const struct source *s, const char *at)
{
	const struct text_reader *r = &s->text;

	if (!r->column || at < r->text || at > r->text + r->n)
		return 0;
	return r->column + (uint32_t)(at - r->text);
}

static int refuse_rdata(struct source *s, const char *type)
{
	uint32_t column = column_of(s, s->rd->why_at);

	if (column)
		refuse(s, "the data of this %s record cannot be read: %s (column %u)", type,
		       s->rd->why, column);
	else
		refuse(s, "the data of this %s record cannot be read: %s", type, s->rd->why);
	s->err->column = column;
	return ERR_ZONE;
}

static int take_master_record(struct source *s, const char *cursor)
{
	struct fields f = { 0 };
	struct zone_builder_record rec;
	char type[PROTO_TEXT_MAX];
	int rc = take_fields(s, &cursor, &f);

	if (rc)
		return rc;
	rc = rdtext_parse(s->rd, f.type, cursor);
	if (rc == ERR_RDATA) {
		proto_type_to_text(type, f.type);
		return refuse_rdata(s, type);
	}
	if (!rc && !f.has_ttl)
		rc = inherit_ttl(s, &f);
	if (rc)
		return rc;
	if (f.has_ttl) {
		s->last_ttl = f.ttl;
		s->has_last_ttl = true;
	}
	rec = (struct zone_builder_record){
		.owner = s->owner,
		.owner_bytes = s->owner_bytes,
		.type = f.type,
		.ttl = f.ttl,
		.rdata = s->rd->rdata,
		.rdata_bytes = s->rd->len,
		.is_checked = true,
		.at = { .line = s->text.entry_line, .file = s->file },
	};
	rc = zone_builder_add(s->b, &rec, s->err);
	if (!rc)
		add_to(&s->progress->n_records, 1);
	return rc;
}

static int take_master_entry(struct source *s)
{
	const char *cursor = s->text.text;
	struct text_token token;
	unsigned n;
	int rc;

	if (s->text.blank_start) {
		if (!s->owner_bytes)
			return refuse(s, "the record has no owner, and none stands before it");
		return take_master_record(s, cursor);
	}
	n = textname_read_plain(&cursor, s->rd->origin, s->rd->origin_bytes, s->owner);
	if (n) {
		s->owner_bytes = n;
		return take_master_record(s, cursor);
	}
	if (!text_next(&cursor, &token))
		return 0;
	if (!token.quoted && token.n && token.at[0] == '$')
		return take_directive(s, &token, cursor);
	rc = take_master_owner(s, &token);
	return rc ? rc : take_master_record(s, cursor);
}

/* --- $GENERATE --- */

/* Reads a line that $GENERATE made: an owner and a record. */
static int take_generated(struct source *s, const char *line)
{
	struct text_token token;
	int rc;

	if (!text_next(&line, &token))
		return refuse(s, "$GENERATE has no owner");
	rc = take_master_owner(s, &token);
	return rc ? rc : take_master_record(s, line);
}

static int take_generate(struct source *s, const char *cursor)
{
	char line[GENERATE_LINE_MAX];
	struct generate_range range;
	struct text_token token;
	const char *why = "$GENERATE has no range";
	uint64_t i;
	int rc;

	if (!text_next(&cursor, &token) || generate_read_range(&range, &token, &why))
		return refuse(s, "%s", why);
	for (i = range.first, rc = 0; i <= range.last && !rc; i += range.step) {
		if (generate_line(line, cursor, (uint32_t)i, &why))
			return refuse(s, "%s", why);
		rc = take_generated(s, line);
	}
	return rc;
}

/* --- Files --- */

/* @before: the octets that the reader had read at the last call. */
static int tell_progress(struct source *s, uint64_t *before)
{
	struct zone_progress *p = s->progress;

	if (s->text.n_read == *before)
		return 0;
	add_to(&p->n_bytes, s->text.n_read - *before);
	*before = s->text.n_read;
	return __atomic_load_n(&p->cancel, __ATOMIC_RELAXED) ? -ECANCELED : 0;
}

/* If a program writes a file in place, the text may be half old and half new. */
static int check_unchanged(struct source *s, int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && st.st_size == s->st.st_size &&
	    st.st_mtim.tv_sec == s->st.st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == s->st.st_mtim.tv_nsec)
		return 0;
	return zone_error_set(s->err, s->path, 0, "the file was written to while it was read");
}

/* Keeps the error in s->err; true: reading may go on with the next entry. */
static bool note_fault(struct source *s)
{
	struct faults *f = s->faults;
	const struct zone_error *err = s->err;
	size_t room = sizeof(f->more) - f->more_bytes;
	int n;

	if (f->n == FAULTS_MAX)
		return false;
	if (!f->n++) {
		f->first = *err;
		return !err->is_of_another;
	}
	n = snprintf(f->more + f->more_bytes, room, "%s:%u: %s\n", err->file, err->line,
		     err->sentence);
	if (n > 0 && (size_t)n < room)
		f->more_bytes += (size_t)n;
	f->more[f->more_bytes] = '\0';
	return f->n < FAULTS_MAX;
}

/* At the end: puts the mistakes into s->err, the first one in front. */
static int tell_master_faults(struct source *s, int rc)
{
	const struct faults *f = s->faults;

	if (!f->n || (rc && rc != ERR_ZONE))
		return rc;
	s->err->line = f->first.line;
	s->err->column = f->first.column;
	memcpy(s->err->file, f->first.file, sizeof(f->first.file));
	memcpy(s->err->sentence, f->first.sentence, sizeof(f->first.sentence));
	memcpy(s->err->more, f->more, f->more_bytes + 1);
	s->err->n_errors = f->n;
	return ERR_ZONE;
}

/* Reads the file and closes @fd. */
static int read_source(struct source *s, int fd)
{
	FILE *fp = fdopen(fd, "r");
	const char *why = "";
	uint64_t n_told = 0;
	int rc;

	if (!fp) {
		close(fd);
		return -ENOMEM;
	}
	setvbuf(fp, NULL, _IONBF, 0); /* the reader has a buffer */
	text_reader_init(&s->text, fp);
	text_reader_expect(&s->text, (uint64_t)s->st.st_size);
	while ((rc = text_read(&s->text, &why)) > 0) {
		rc = take_master_entry(s);
		if (rc == ERR_ZONE && note_fault(s))
			rc = 0;
		if (!rc)
			rc = tell_progress(s, &n_told);
		if (rc)
			goto out;
	}
	if (rc == ERR_ZONE) {
		refuse(s, "%s", why);
		if (note_fault(s) && s->outer)
			rc = 0; /* the file that includes this one goes on */
	}
	if (!rc)
		rc = check_unchanged(s, fd);
	if (!rc && s->text.n_read && s->text.last != '\n')
		zone_error_warn(s->err, s->path, s->text.line,
				"the last line has no end: the file may have been cut off");
out:
	text_reader_fini(&s->text);
	fclose(fp);
	return rc;
}

static int read_master_file(struct source *s, int fd)
{
	struct rdtext rd; /* of the heap it would be mapped for each zone */
	int rc;

	s->faults = calloc(1, sizeof(*s->faults));
	if (!s->faults) {
		close(fd);
		return -ENOMEM;
	}
	rdtext_init(&rd);
	s->rd = &rd;
	rc = rdtext_set_origin(&rd, s->origin);
	if (rc)
		close(fd);
	else
		rc = read_source(s, fd);
	rc = tell_master_faults(s, rc);
	rdtext_fini(&rd);
	free(s->faults);
	return rc;
}

static int load_master(struct zone **out, struct source *s)
{
	struct stat st;
	int fd = regular_open(s->path, &st), rc;

	if (fd < 0) {
		zone_error_set(s->err, s->path, 0, "cannot read the file: %s", err_text(fd));
		return fd;
	}
	s->st = st;
	if (s->progress->st)
		*s->progress->st = st;
	add_to(&s->progress->total_bytes, (uint64_t)st.st_size);
	rc = zone_builder_new(&s->b, s->origin);
	if (rc) {
		close(fd);
		return rc;
	}
	zone_builder_watch(s->b, &s->progress->cancel);
	if (s->progress->skips_outside)
		zone_builder_skip_outside(s->b);
	rc = zone_builder_file(s->b, s->path);
	if (rc < 0)
		close(fd);
	else
		rc = read_master_file(s, fd);
	set_master_stage(s, ZONE_STAGE_BUILDING);
	if (!rc)
		rc = zone_builder_finish(s->b, out, s->err);
	set_master_stage(s, ZONE_STAGE_DONE);
	zone_builder_free(s->b);
	return rc;
}

int zone_load(struct zone **out, const char *origin_text, const char *path,
	      struct zone_progress *progress, struct zone_error *err)
{
	struct zone_progress ignored = { .cancel = false };
	struct source s = { .err = err,
			    .path = path,
			    .chain = { .path = path },
			    .progress = progress ? progress : &ignored };
	int rc = name_from_text(s.origin, DNS_NAME_MAX, origin_text, strlen(origin_text));

	*out = NULL;
	*err = (struct zone_error){ 0 };
	__atomic_store_n(&s.progress->n_bytes, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s.progress->total_bytes, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s.progress->n_records, 0, __ATOMIC_RELAXED);
	set_master_stage(&s, ZONE_STAGE_READING);
	if (rc < 0)
		return zone_error_set(err, path, 0, "the zone name '%.150s': %s", origin_text,
				      err_text(rc));
	rc = load_master(out, &s);
	if (rc && !err->sentence[0])
		zone_error_set(err, path, 0, "%s", err_text(rc));
	return rc;
}
