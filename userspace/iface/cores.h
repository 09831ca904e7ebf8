/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses processors for workers and workers for queues on a machine with several memory nodes
 * (NUMA): a frame, its UMEM, its rings and its worker should be on the node of the card.
 *
 *      processors that workers may have   ─► those on a card's node first       (cores_order)
 *      queues 0, 1, 2 ... of an interface ─► workers on its node, in turn, then the others
 *                                            (cores_worker)
 *      memory that control asks for       ─► the node of the worker that will use it
 *                                            (cores_prefer_memory)
 *
 * With one node, or a card without a node (a veth, a tap), nothing is reordered.
 */
#ifndef VOLLEY_IFACE_CORES_H
#define VOLLEY_IFACE_CORES_H

#include <stddef.h>

#define CORES_NODE_ANY (-1)

/* The node of an interface's card, from /sys. CORES_NODE_ANY: not known there. */
int cores_link_node(const char *ifname);

/* The node of a processor. CORES_NODE_ANY: /sys has none, or cpu is below 0. */
int cores_cpu_node(int cpu);

/* Moves the processors that are on a node of `nodes` to the front; otherwise keeps the order. */
void cores_order(int *cpus, size_t n, const int *nodes, size_t n_nodes);

/* Which of n workers gets the queue of a card on `node`; worker i is on worker_nodes[i]; n > 0. */
unsigned int cores_worker(const int *worker_nodes, unsigned int n, unsigned int queue, int node);

/* Puts new memory of the calling thread on this node, if it has room. CORES_NODE_ANY: as usual. */
void cores_prefer_memory(int node);

#endif
