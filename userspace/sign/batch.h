/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RRsets that are to be signed, some thousand at a time: to sign one takes longer than all else
 * that is done with it, so several threads do that side by side. What comes out is in the order of
 * what went in.
 *
 *      sign_batch_add() ─► batch ─ full ─► threads sign ─► emit() of each, by the caller's thread
 */
#ifndef VOLLEY_SIGN_BATCH_H
#define VOLLEY_SIGN_BATCH_H

#include "sign/signer.h"

struct sign_batch;

/* Takes an RRset and its signatures, none where it is not signed. Not 0 ends all and is
 * returned. */
typedef int sign_emit_fn(void *user, const struct sign_rrset *rrset, const struct sign_list *sigs);

/*
 * Borrows keys and options. @n_threads: at most so many sign, the caller's among them; the others
 * have its processors and its priority. NULL: no memory.
 */
struct sign_batch *sign_batch_new(const struct sign_keys *keys, const struct sign_options *options,
				  uint64_t now_s, unsigned int n_threads, sign_emit_fn *emit,
				  void *user);
void sign_batch_free(struct sign_batch *batch); /* NULL is allowed */

/* The RRset is copied. @old: as for signer_sign_rrset(); NULL: it is not to be signed. 0, -ENOMEM,
 * -EIO, emit's. */
int sign_batch_add(struct sign_batch *batch, const struct sign_rrset *rrset,
		   const struct sign_old *old) __attribute__((warn_unused_result));
/* What is left. As above. */
int sign_batch_flush(struct sign_batch *batch) __attribute__((warn_unused_result));

#endif
