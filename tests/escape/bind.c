/* What a cell can leave in a directory of the host's that it may write: /bound, of which /below is
 * a directory that was given once more. What hurts the host is a file with the rights of its owner,
 * a device, or a way to what lies beside. */
#include "attempt.h"

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

static void has_set_id(const char *how, const char *path)
{
        struct stat st;
        char name[64];

        snprintf(name, sizeof name, "set-id by %s", how);
        escaped_if(name, stat(path, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID));
}

static void set_id(void)
{
        struct open_how how = {.flags = O_CREAT | O_WRONLY, .mode = 06755};
        int fd = open("/bound/file", O_CREAT | O_RDWR, 0755);

        chmod("/bound/file", 06755);
        has_set_id("chmod", "/bound/file");
        chmod("/bound/file", 0755);
        fchmod(fd, 06755);
        has_set_id("fchmod", "/bound/file");
        chmod("/bound/file", 0755);
        syscall(SYS_fchmodat, AT_FDCWD, "/bound/file", 06755);
        has_set_id("fchmodat", "/bound/file");
        chmod("/bound/file", 0755);
        syscall(452 /* fchmodat2 */, fd, "", 06755, AT_EMPTY_PATH);
        has_set_id("fchmodat2", "/bound/file");
        syscall(SYS_open, "/bound/open", O_CREAT | O_WRONLY, 06755);
        has_set_id("open", "/bound/open");
        syscall(SYS_openat2, AT_FDCWD, "/bound/openat2", &how, sizeof how);
        has_set_id("openat2", "/bound/openat2");
        creat("/bound/creat", 06755);
        has_set_id("creat", "/bound/creat");
        mknod("/bound/mknod", S_IFREG | 06755, 0);
        has_set_id("mknod", "/bound/mknod");
        mkdir("/bound/directory", 06755);
        chmod("/bound/directory", 02755);
        has_set_id("mkdir", "/bound/directory");
        umask(0);
        chmod("/tmp", 06777);
        rename("/tmp", "/bound/tmp");
        has_set_id("rename", "/bound/tmp");
}

static void beside(void)
{
        refused("mknod(a device)", mknod("/bound/device", S_IFCHR | 0666, makedev(1, 1)));
        refused("link(/usr)", link("/usr/bin/env", "/bound/env"));
        refused("rename(/etc)", rename("/etc/passwd", "/bound/passwd"));
        refused("chown", chown("/bound/file", 1, 1));
        refused("security.capability",
                setxattr("/bound/file", "security.capability",
                        "\1\0\0\2\377\377\377\377\0\0\0\0\0\0\0\0\0\0\0\0", 20, 0));
        refused("trusted.overlay.redirect",
                setxattr("/bound/below", "trusted.overlay.redirect", "/etc", 4, 0));
        closed("/bound/../canary/canary-file", O_RDONLY);
        closed("/bound/to-canary", O_RDONLY);
        /* The working directory leaves what was bound at /below, through the other way to it. */
        if (mkdir("/below/sub", 0755) < 0 || chdir("/below/sub") < 0 ||
                rename("/bound/below/sub", "/bound/sub") < 0)
                note("moving the working directory", "%s", strerrorname_np(errno));
        for (int i = 0; i < 8; i++) {
                closed("canary/canary-file", O_RDONLY);
                closed("../canary/canary-file", O_RDONLY);
                if (chdir("..") < 0)
                        break;
        }
}

int main(void)
{
        set_id();
        beside();
        return 0;
}
