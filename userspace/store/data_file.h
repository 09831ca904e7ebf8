/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks an LMDB data file before LMDB maps it. LMDB trusts the file: a page that the disk has
 * damaged, or a file that was cut, would end the daemon by a signal.
 *
 * This knows the format of LMDB 0.9, data version 1, on 64-bit machines; see "struct MDB_page" and
 * "struct MDB_meta" in mdb.c of that version. LMDB itself refuses other versions.
 */
#ifndef VOLLEY_STORE_DATA_FILE_H
#define VOLLEY_STORE_DATA_FILE_H

#include <stddef.h>
#include <stdint.h>

enum data_file_state {
	DATA_FILE_WHOLE,
	DATA_FILE_NONE, /* there is no file */
	DATA_FILE_DAMAGED,
};

/*
 * Checks each page that can be reached: it is used once, is of the right kind, lies in the file and
 * holds its entries; free pages are not in use. Contents have sums of their own (journal_sum).
 * Reads the file once, with a bit for each page in memory. Returns an enum data_file_state, with
 * the damage in @why, or -errno.
 */
int data_file_check(int folder_fd, const char *name, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

#endif
