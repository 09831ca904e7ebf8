/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signs some thousand RRsets at a time. Signing takes longer than all other work on an RRset, so
 * several threads do it. The output has the order of the input.
 *
 *      sign_batch_add() ─► batch ─ full ─► threads sign ─► emit() for each, by the caller's thread
 */
#ifndef VOLLEY_SIGN_BATCH_H
#define VOLLEY_SIGN_BATCH_H

#include "sign/signer.h"

struct sign_batch;

/* Receives an RRset and its signatures, none if it is not signed. A result other than 0 ends the
 * batch and is returned. */
typedef int sign_emit_fn(void *user, const struct sign_rrset *rrset, const struct sign_list *sigs);

/* Borrows keys and options. At most @n_threads sign, including the caller's; the others run on its
 * processors with its priority. NULL: no memory. */
struct sign_batch *sign_batch_new(const struct sign_keys *keys, const struct sign_options *options,
				  uint64_t now_s, unsigned int n_threads, sign_emit_fn *emit,
				  void *user);
void sign_batch_free(struct sign_batch *batch); /* NULL is allowed */

/* Copies the RRset. @old: as for signer_sign_rrset(); NULL: the RRset is not to be signed. 0,
 * -ENOMEM, -EIO, or emit's error. */
int sign_batch_add(struct sign_batch *batch, const struct sign_rrset *rrset,
		   const struct sign_old *old) __attribute__((warn_unused_result));
/* Signs and emits the rest. Returns the same errors. */
int sign_batch_flush(struct sign_batch *batch) __attribute__((warn_unused_result));

#endif
