/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads of zones that are signed here, or were until now.
 *
 *      content as it was signed before     the signed version of then, with all changes since
 *      no content that can be read, or     at a start likewise; later nothing comes of it
 *      no keys that can be used
 *      other content, or first signed      signed from it
 *      signed no more                      the signed version without what is the signer's
 */
#ifndef VOLLEY_ZONEMGR_LOAD_SIGNED_H
#define VOLLEY_ZONEMGR_LOAD_SIGNED_H

#include "zonemgr/load.h"

/* By the loader's threads: load->zone, the content, becomes what is to be served. As
 * zone_load(). */
int load_make_signed(struct load *load) __attribute__((warn_unused_result));
/*
 * Likewise where @err came of reading the content: what was signed before, load->file_code is @err
 * and load->err tells it. Else @err.
 */
int load_make_without_content(struct load *load, int err) __attribute__((warn_unused_result));
/* Likewise where there are no keys that could be used, whatever the content is. */
int load_make_without_keys(struct load *load) __attribute__((warn_unused_result));
/*
 * What was signed at a start cannot be written, as load->code and load->err say, so it is not
 * served: changes of it would go to a journal that begins elsewhere. What was signed before is, if
 * there is any; then as load_make_without_content().
 */
void load_fall_back(struct load *load);
int load_make_unsigned(struct load *load) __attribute__((warn_unused_result));
/* Likewise from load->version. */
int load_sign_again(struct load *load) __attribute__((warn_unused_result));

#endif
