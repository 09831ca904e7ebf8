/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(size_t) == 8, "page numbers of the file have 8 octets");

#define MAGIC         0xBEEFC0DEu
#define FILE_VERSION  1u
#define PAGE_MAX      65536u
#define KEY_MAX       511u
#define DEPTH_MAX     32u /* of LMDB's cursors */
#define NO_PAGE       UINT64_MAX
#define PAGE_BRANCH   0x01u
#define PAGE_LEAF     0x02u
#define PAGE_OVERFLOW 0x04u
#define PAGE_META     0x08u
/* includes 0x10, with which LMDB would treat the page as a copy that may be written */
#define PAGE_KINDS 0x3fu
#define NODE_BIG   0x01u /* the value has pages of its own */
#define NODE_DB    0x02u
#define DB_KINDS   0x7fffu
#define DB_NUMBERS 0x08u   /* keys are numbers */
#define DB_ALONE   0x4000u /* in the tree of free pages: the file was made by MDB_NOSUBDIR */

struct page_head {
	uint64_t number;
	uint16_t pad, flags;
	uint16_t lower, upper; /* both: n_pages of an overflow page */
};

struct node_head {
	uint16_t low, high, flags, key_bytes;
};

struct db {
	uint32_t pad; /* in dbs[0] of a head: the page size */
	uint16_t flags, depth;
	uint64_t n_branch, n_leaf, n_overflow, n_entries, root;
};

struct meta {
	uint32_t magic, version;
	uint64_t address, map_bytes;
	struct db dbs[2]; /* free pages; all other data */
	uint64_t last_page, transaction;
};

struct verify {
	int fd, err;
	uint64_t n_file_bytes;
	unsigned page_bytes;
	uint64_t last_page;
	uint8_t *seen; /* a bit for each page */
	char *why;
	size_t why_cap;
};

/* A page on the way down. It is kept while the pages below it are checked. */
struct level {
	uint8_t bytes[PAGE_MAX];
};

__attribute__((format(printf, 2, 3))) static bool damaged(struct verify *v, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(v->why, v->why_cap, format, args);
	va_end(args);
	return false;
}

static bool failed(struct verify *v, int err)
{
	v->err = err;
	return false;
}

/* Marks a page as seen. False if it was seen before or does not exist. */
static bool see(struct verify *v, uint64_t number)
{
	uint8_t bit = (uint8_t)(1u << number % 8);

	if (number < 2 || number > v->last_page || v->seen[number / 8] & bit)
		return damaged(v, "page %ju is used twice or does not exist", (uintmax_t)number);
	v->seen[number / 8] |= bit;
	return true;
}

static bool read_at(struct verify *v, uint64_t number, void *bytes, size_t n)
{
	off_t at = (off_t)(number * v->page_bytes);
	ssize_t got;

	if ((number + 1) * v->page_bytes > v->n_file_bytes)
		return damaged(v, "it ends before page %ju", (uintmax_t)number);
	got = pread(v->fd, bytes, n, at);
	if (got < 0)
		return failed(v, -errno);
	return (size_t)got == n || damaged(v, "it ends in page %ju", (uintmax_t)number);
}

/* --- Pages ------------------------------------------------------------------------------------ */

static bool check_overflow(struct verify *v, uint64_t first, uint64_t n_bytes)
{
	uint64_t n = (sizeof(struct page_head) + n_bytes + v->page_bytes - 1) / v->page_bytes;
	struct page_head head;

	if (first > v->last_page || n > v->last_page - first + 1)
		return damaged(v, "a value begins at page %ju, which does not exist",
			       (uintmax_t)first);
	for (uint64_t i = 0; i < n; i++)
		if (!see(v, first + i))
			return false;
	if ((first + n) * v->page_bytes > v->n_file_bytes)
		return damaged(v, "it ends before page %ju", (uintmax_t)(first + n));
	if (!read_at(v, first, &head, sizeof(head)))
		return false;
	if (head.number != first || (head.flags & PAGE_KINDS) != PAGE_OVERFLOW ||
	    (head.lower | (uint32_t)head.upper << 16) != n)
		return damaged(v, "page %ju does not begin a value", (uintmax_t)first);
	return true;
}

static unsigned n_nodes(const struct page_head *page)
{
	return (page->lower - (unsigned)sizeof(*page)) / 2;
}

/* Reads the head of entry @i and checks that its key lies in the page. *@at: its offset. */
static bool load_node(struct verify *v, const uint8_t *page, unsigned i, struct node_head *node,
		      size_t *at)
{
	const struct page_head *head = (const struct page_head *)page;
	uint16_t offset;

	memcpy(&offset, page + sizeof(*head) + 2 * (size_t)i, sizeof(offset));
	*at = offset;
	if (offset % 2 || offset < head->upper || offset + sizeof(*node) > v->page_bytes)
		return damaged(v, "page %ju has a bad entry", (uintmax_t)head->number);
	memcpy(node, page + offset, sizeof(*node));
	if (node->key_bytes > KEY_MAX || offset + sizeof(*node) + node->key_bytes > v->page_bytes)
		return damaged(v, "page %ju has a bad key", (uintmax_t)head->number);
	return true;
}

/* The octets of an entry in its page, rounded up to an even number. */
static size_t node_bytes(const struct node_head *node, bool is_leaf)
{
	size_t n = sizeof(*node) + node->key_bytes;

	if (is_leaf)
		n += node->flags & NODE_BIG ? sizeof(uint64_t) :
					      (node->low | (size_t)node->high << 16);
	return n + n % 2;
}

/* Entries fill a page from its end without a gap: when LMDB removes one, it moves the others. */
static bool check_nodes(struct verify *v, const uint8_t *page, bool is_leaf)
{
	const struct page_head *head = (const struct page_head *)page;
	size_t n_bytes = 0, at;
	struct node_head node;

	for (unsigned i = 0; i < n_nodes(head); i++) {
		if (!load_node(v, page, i, &node, &at))
			return false;
		n_bytes += node_bytes(&node, is_leaf);
		if (node_bytes(&node, is_leaf) > v->page_bytes - at)
			return damaged(v, "an entry is longer than its page");
	}
	return n_bytes == v->page_bytes - head->upper ||
	       damaged(v, "page %ju has entries that overlap", (uintmax_t)head->number);
}

static bool load_page(struct verify *v, uint64_t number, bool is_leaf, uint8_t *page)
{
	const struct page_head *head = (const struct page_head *)page;

	if (!see(v, number) || !read_at(v, number, page, v->page_bytes))
		return false;
	if (head->number != number ||
	    (head->flags & PAGE_KINDS) != (is_leaf ? PAGE_LEAF : PAGE_BRANCH) || head->lower % 2 ||
	    head->lower < sizeof(*head) || head->lower > head->upper ||
	    head->upper > v->page_bytes || !n_nodes(head))
		return damaged(v, "page %ju is of the wrong kind", (uintmax_t)number);
	return check_nodes(v, page, is_leaf);
}

/* --- Trees ------------------------------------------------------------------------------------ */

static bool check_tree(struct verify *v, const struct db *db, bool is_free, bool is_main);

/* A list of free pages: the number of pages, then the pages in descending order. */
static bool check_free(struct verify *v, const uint8_t *value, size_t n_bytes)
{
	uint64_t n, page, before = v->last_page + 1;

	if (n_bytes < sizeof(n))
		return damaged(v, "a list of free pages is cut");
	memcpy(&n, value, sizeof(n));
	if (n > n_bytes / sizeof(n) - 1)
		return damaged(v, "a list of free pages is too long");
	for (uint64_t i = 1; i <= n; i++) {
		memcpy(&page, value + i * sizeof(page), sizeof(page));
		if (page >= before)
			return damaged(v, "a list of free pages is out of order");
		if (!see(v, page))
			return false;
		before = page;
	}
	return true;
}

/* Only for the list of free pages, the value is checked, too. */
static bool check_big(struct verify *v, uint64_t first, size_t n_bytes, bool is_free)
{
	uint8_t *bytes;
	bool is_good;

	if (!check_overflow(v, first, n_bytes))
		return false;
	if (!is_free)
		return true;
	bytes = malloc(sizeof(struct page_head) + n_bytes);
	if (!bytes)
		return failed(v, -ENOMEM);
	is_good = read_at(v, first, bytes, sizeof(struct page_head) + n_bytes) &&
		  check_free(v, bytes + sizeof(struct page_head), n_bytes);
	free(bytes);
	return is_good;
}

static bool check_leaf_node(struct verify *v, const uint8_t *page, unsigned i, bool is_free,
			    bool is_main)
{
	struct node_head node;
	struct db db;
	uint64_t first;
	size_t at, n_bytes;

	if (!load_node(v, page, i, &node, &at))
		return false;
	at += sizeof(node) + node.key_bytes;
	n_bytes = node.low | (size_t)node.high << 16;
	if (is_free && node.key_bytes != sizeof(uint64_t))
		return damaged(v, "a list of free pages has no number");
	if (node.flags == NODE_BIG) {
		memcpy(&first, page + at, sizeof(first));
		return check_big(v, first, n_bytes, is_free);
	}
	if (is_main && node.flags == NODE_DB && n_bytes == sizeof(db)) {
		memcpy(&db, page + at, sizeof(db));
		return check_tree(v, &db, false, false);
	}
	if (node.flags)
		return damaged(v, "an entry is of an unknown kind");
	return !is_free || check_free(v, page + at, n_bytes);
}

static bool check_data_file_below(struct verify *v, uint64_t number, unsigned depth, bool is_free,
				  bool is_main)
{
	struct level *level = malloc(sizeof(*level));
	bool is_leaf = depth == 1, is_good;
	unsigned n;

	if (!level)
		return failed(v, -ENOMEM);
	is_good = load_page(v, number, is_leaf, level->bytes);
	n = is_good ? n_nodes((const struct page_head *)level->bytes) : 0;
	for (unsigned i = 0; i < n && is_good; i++) {
		struct node_head node;
		size_t at;

		if (is_leaf)
			is_good = check_leaf_node(v, level->bytes, i, is_free, is_main);
		else
			is_good = load_node(v, level->bytes, i, &node, &at) &&
				  check_data_file_below(v,
							node.low | (uint64_t)node.high << 16 |
								(uint64_t)node.flags << 32,
							depth - 1, is_free, is_main);
	}
	free(level);
	return is_good;
}

static bool check_tree(struct verify *v, const struct db *db, bool is_free, bool is_main)
{
	unsigned kind = db->flags & DB_KINDS;

	if (is_free)
		kind &= ~DB_ALONE;
	if (kind != (is_free ? DB_NUMBERS : 0))
		return damaged(v, "a tree is of the wrong kind");
	if (db->root == NO_PAGE)
		return true;
	if (!db->depth || db->depth > DEPTH_MAX)
		return damaged(v, "a tree has %u levels", db->depth);
	return check_data_file_below(v, db->root, db->depth, is_free, is_main);
}

/* --- The heads -------------------------------------------------------------------------------- */

static bool is_data_file_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static bool load_meta(struct verify *v, unsigned i, struct meta *meta)
{
	uint8_t bytes[sizeof(struct page_head) + sizeof(*meta)];
	const struct page_head *head = (const struct page_head *)bytes;

	if (!read_at(v, i, bytes, sizeof(bytes)))
		return false;
	memcpy(meta, bytes + sizeof(*head), sizeof(*meta));
	if (!(head->flags & PAGE_META) || meta->magic != MAGIC || meta->version != FILE_VERSION)
		return damaged(v, "it has no head of LMDB");
	return true;
}

static bool check_metas(struct verify *v, struct meta *meta)
{
	struct meta second;

	v->page_bytes = 4096; /* until it is known; the first head is at offset 0 */
	if (!load_meta(v, 0, meta))
		return false;
	v->page_bytes = meta->dbs[0].pad;
	if (!is_data_file_power_of_two(v->page_bytes) || v->page_bytes < 512 ||
	    v->page_bytes > PAGE_MAX / 2)
		return damaged(v, "its pages have %u octets", v->page_bytes);
	if (!load_meta(v, 1, &second))
		return false;
	if (second.dbs[0].pad != v->page_bytes)
		return damaged(v, "its heads differ");
	if (second.transaction > meta->transaction)
		*meta = second;
	/* Free pages may never have been written, and lie after the file's end. Their number is
	 * limited. */
	if (meta->last_page < 1 || meta->last_page > meta->map_bytes / v->page_bytes)
		return damaged(v, "it claims to have %ju pages", (uintmax_t)meta->last_page);
	return true;
}

static bool check_all(struct verify *v)
{
	struct meta meta;
	bool is_good;

	if (!check_metas(v, &meta))
		return false;
	v->last_page = meta.last_page;
	v->seen = calloc(1, v->last_page / 8 + 1);
	if (!v->seen)
		return failed(v, -ENOMEM);
	is_good = check_tree(v, &meta.dbs[1], false, true) &&
		  check_tree(v, &meta.dbs[0], true, false);
	free(v->seen);
	return is_good;
}

int data_file_check(int folder_fd, const char *name, char *why, size_t why_cap)
{
	struct verify v = { .why = why, .why_cap = why_cap };
	struct stat st;
	int result;

	why[0] = '\0';
	v.fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (v.fd < 0)
		return errno == ENOENT ? DATA_FILE_NONE : -errno;
	if (fstat(v.fd, &st)) {
		result = -errno;
	} else if (!S_ISREG(st.st_mode)) {
		result = -EINVAL;
	} else {
		v.n_file_bytes = (uint64_t)st.st_size;
		result = check_all(&v) ? DATA_FILE_WHOLE : v.err ? v.err : DATA_FILE_DAMAGED;
	}
	close(v.fd);
	return result;
}
