/* Kernel calls that the C library has no wrapper for, by the kernel's own names. */
#ifndef ASSAY_KERNEL_H
#define ASSAY_KERNEL_H

#include <linux/mount.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int sys_fsopen(const char *type, unsigned flags)
{
        return (int)syscall(SYS_fsopen, type, flags);
}

static inline int sys_fsconfig(
        int fs, unsigned command, const char *key, const void *value, int aux)
{
        return (int)syscall(SYS_fsconfig, fs, command, key, value, aux);
}

static inline int sys_fsmount(int fs, unsigned flags, unsigned attributes)
{
        return (int)syscall(SYS_fsmount, fs, flags, attributes);
}

static inline int sys_open_tree(int dir, const char *path, unsigned flags)
{
        return (int)syscall(SYS_open_tree, dir, path, flags);
}

static inline int sys_move_mount(
        int from, const char *from_path, int to, const char *to_path, unsigned flags)
{
        return (int)syscall(SYS_move_mount, from, from_path, to, to_path, flags);
}

static inline int sys_mount_setattr(
        int dir, const char *path, unsigned flags, struct mount_attr *attributes)
{
        return (int)syscall(SYS_mount_setattr, dir, path, flags, attributes, sizeof *attributes);
}

static inline int sys_statx(
        int dir, const char *path, unsigned flags, unsigned mask, struct statx *ret)
{
        return (int)syscall(SYS_statx, dir, path, flags, mask, ret);
}

static inline int sys_pivot_root(const char *new_root, const char *put_old)
{
        return (int)syscall(SYS_pivot_root, new_root, put_old);
}

#endif
