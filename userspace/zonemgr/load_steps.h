/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps of a load (zonemgr/load.h) that differ by the kind of the zone: its file is volleyd's
 * own, an operator's, or signed here. The loader's threads take them.
 *
 * Loads of zones whose file volleyd itself writes: zones from primaries, and produced catalogs.
 * Such a file is used only if it is unchanged since it was written (zonemgr/zonefile.h): half of a
 * file may also be a valid master file, but the names of its other half would not exist. A lost
 * zone is made or fetched anew.
 */
#ifndef VOLLEY_ZONEMGR_LOAD_STEPS_H
#define VOLLEY_ZONEMGR_LOAD_STEPS_H

#include "zonemgr/load.h"

/*
 * Called by the loader's threads after reading the file of such a zone into load->zone has ended
 * with @err. 0 with the zone; 0 without a zone: there is no file yet, and a primary will give it; 0
 * with a catalog without members, in place of a file that is missing or not complete (with a
 * warning). Else an error with a sentence: the zone is not served until a primary has given it.
 */
int load_make_own(struct load *load, int err) __attribute__((warn_unused_result));

/* Tells the store the digest of the zone that is about to be written to our file. So the next start
 * accepts the file even if volleyd ends before it notes the write. 0, or as store_commit(). */
int load_announce_own(const struct load *load) __attribute__((warn_unused_result));

/* Adds a warning to those of the load. */
__attribute__((format(printf, 2, 3))) void load_warn(struct load *load, const char *format, ...);

/*
 * The serial number of a zone that an operator's file has. Secondaries fetch a zone only if its
 * serial is newer (RFC 1982), so content that has changed under an old serial is told, or, if
 * zones[].serial asks for it, gets a new serial:
 *
 *      the file                       served serial
 *      as before                      as before
 *      changed, with a newer serial   the file's
 *      changed, without               one more, or that of the time if this is newer; without the
 *                                     key the file's, and a warning
 *
 * The digest of the file stays that of its text; load->file_serial is the served serial, where the
 * journal begins. Threads of the loader.
 */

/* Gives load->zone another serial where needed, or warns. Call it after load->file_digest is set,
 * and before the journal is applied. 0, -ENOMEM or ERR_ZONE. */
int load_set_serial(struct load *load) __attribute__((warn_unused_result));

/* The serial of @policy that follows @before at the time @now_s, seconds since 1970. It is newer
 * than @before. Pure. */
uint32_t load_next_serial(enum config_serial policy, uint32_t before, uint64_t now_s);

/*
 * Loads of zones that are signed here, or were until now.
 *
 *      content unchanged since signed      the signed version, with all changes since
 *      content cannot be read, or          at a start the same; later an error
 *      no keys can be used
 *      new content, or first signed        the content is signed
 *      signed no more                      the signed version without the signer's records
 */

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
