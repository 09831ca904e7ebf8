/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that have no place in the public DNS. A resolver answers for them by itself and asks no
 * server:
 *
 * 	localhost invalid test             RFC 6761
 * 	onion                              RFC 7686
 * 	home.arpa                          RFC 8375
 * 	resolver.arpa service.arpa         RFC 9462, RFC 9665
 * 	reverse zones of private, link-local, documentation and similar addresses
 * 	                                   RFC 6303, RFC 7793 (100.64.0.0/10)
 *
 * They are those of local-zone in unbound.conf(5). engine/special.h answers for them.
 */
#ifndef VOLLEY_DNS_SPECIAL_NAMES_H
#define VOLLEY_DNS_SPECIAL_NAMES_H

/* As text in lower case with a last dot, none twice; NULL after the last. */
extern const char *const special_names[];

/* The number of names. */
#define SPECIAL_NAMES_N 104

#endif
