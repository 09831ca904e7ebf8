/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads of zones that are signed here, or were until now.
 *
 *      content unchanged since signed      the signed version, with all changes since
 *      content cannot be read, or          at a start the same; later an error
 *      no keys can be used
 *      new content, or first signed        the content is signed
 *      signed no more                      the signed version without the signer's records
 */
#ifndef VOLLEY_ZONEMGR_LOAD_SIGNED_H
#define VOLLEY_ZONEMGR_LOAD_SIGNED_H

#include "zonemgr/load.h"

/* Called by the loader's threads, as the others: turns load->zone from the content into the version
 * to serve. Results as zone_load(). */
int load_make_signed(struct load *load) __attribute__((warn_unused_result));
/*
 * The content could not be read: @err. If there is a version that was signed before, load->zone
 * becomes that version, load->file_code is @err, load->err has the reason, and the result is 0.
 * Else returns @err.
 */
int load_make_without_content(struct load *load, int err) __attribute__((warn_unused_result));
/* The same if no keys can be used, whatever the content is. */
int load_make_without_keys(struct load *load) __attribute__((warn_unused_result));
/*
 * A newly signed version could not be written (load->code, load->err). It is not served, because
 * its changes would go to a journal that begins at another version. The version that was signed
 * before is served, if there is one: as load_make_without_content().
 */
void load_fall_back(struct load *load);
int load_make_unsigned(struct load *load) __attribute__((warn_unused_result));
/* Signs load->version anew. */
int load_sign_again(struct load *load) __attribute__((warn_unused_result));

#endif
