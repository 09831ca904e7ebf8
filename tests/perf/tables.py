# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables in markdown that a terminal shows well too, and where plots come from and go."""


def table(head, rows):
    """The first column to the left, the others to the right."""
    rows = [list(map(str, row)) for row in rows]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(row):
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]
        return "| " + " | ".join(cells) + " |"
    rule = "| " + " | ".join(["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]) + " |"
    return "\n".join([line(head), rule, *map(line, rows)])


def pyplot():
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as made
    return made


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    pyplot().close(figure)
