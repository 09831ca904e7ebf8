/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lexical side of master files (RFC 1035 section 5.1): entries, which parentheses may spread
 * over many lines, and the tokens in them. Comments go, parentheses and line ends become blanks,
 * quotes and escapes stay.
 */
#ifndef VOLLEY_ZONE_TEXT_H
#define VOLLEY_ZONE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* 64 KiB of rdata, each octet as \DDD, and as much again for owner, quotes and blanks. */
#define TEXT_ENTRY_MAX (512 * 1024)

struct text_reader {
	FILE *fp;
	uint32_t line; /* of the next character, from 1 */
	/* the entry, NUL-terminated, without leading blanks; valid until the next read */
	char *text;
	size_t n;
	char *own; /* where entries are put together that are not one plain line */
	size_t own_cap;
	char *buffer; /* of the file: [at, end) is still to be read */
	size_t at, end;
	uint64_t n_read;     /* octets of the file so far */
	char last;           /* of these */
	uint32_t entry_line; /* where the entry begins; where the fault is, after an error */
	bool blank_start;    /* it begins with a blank: the owner of the record before */
	uint32_t column;     /* of its first character, from 1; 0: it goes over several lines */
};

/* Borrows @fp. */
void text_reader_init(struct text_reader *r, FILE *fp);
void text_reader_fini(struct text_reader *r);

/*
 * The next entry that is not empty. Returns 1, 0 at the end of the file, or ERR_ZONE with *@why, or
 * -ENOMEM, -EIO.
 */
int text_read(struct text_reader *r, const char **why) __attribute__((warn_unused_result));

struct text_token {
	const char *at; /* without the quotes */
	size_t n;
	bool quoted;
};

/* The next token at *@cursor, which steps behind it; false at the end of the entry. */
bool text_next(const char **cursor, struct text_token *token);

bool text_is(const struct text_token *token, const char *word); /* letter case aside */

/* A decimal number up to @max and nothing else. Returns 0 or ERR_ZONE. */
int text_to_number(const struct text_token *token, uint32_t max, uint32_t *value)
	__attribute__((warn_unused_result));

/* Seconds, or a sum such as 1w2d3h4m5s, up to @max. Returns 0 or ERR_ZONE. */
int text_to_period(const struct text_token *token, uint32_t max, uint32_t *seconds)
	__attribute__((warn_unused_result));

/* A TTL of 32 bits, as above; one with its top bit set is 0 (RFC 2181 section 8). Returns 0 or
 * ERR_ZONE. */
int text_to_ttl(const struct text_token *token, uint32_t *seconds)
	__attribute__((warn_unused_result));

#endif
