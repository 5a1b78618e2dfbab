/* What a cell sees: its own root, a tmpfs with a few files, and the mounts fitted into it. In this
 * order; who calls each is said beside it. */
#ifndef ASSAY_VIEW_H
#define ASSAY_VIEW_H

#include "mounts.h"

/* The root with what lies in it, and the result directory, empty: by the maker of the mounts. */
int view_begin(struct mounts *m, const struct mounts_for *who, struct error *err);
/* /proc and terminals, which only the cell's own namespaces can give: by the first process. */
int view_begin_inside(struct mounts *m, struct error *err);
/* Everything in its place: by the first process, as root of the cell's user namespace. */
int view_fit(struct mounts *m, const struct cell_request *request, bool root, struct error *err);
/* Checked: a cell from which a way leads up is not started. */
int view_leave_host(const struct mounts *m, bool root, struct error *err);

#endif
