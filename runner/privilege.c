/* Giving up root; see privilege.h. */
#include "privilege.h"

#include "sandbox/messages.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A system user is a local one: name services, which load libraries, are not asked. */
void privilege_ids(uid_t *ret_uid, gid_t *ret_gid)
{
        FILE *file = fopen("/etc/passwd", "re");
        const struct passwd *user;

        *ret_uid = *ret_gid = IDS_RUNNER;
        while (file && (user = fgetpwent(file)))
                if (strcmp(user->pw_name, "assay") == 0 && user->pw_uid != 0) {
                        *ret_uid = user->pw_uid;
                        *ret_gid = user->pw_gid;
                        break;
                }
        if (file)
                fclose(file);
}

int privilege_drop(struct error *err)
{
        uid_t uid;
        gid_t gid;

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot refuse new privileges");
        if (geteuid() != 0)
                return 0;
        privilege_ids(&uid, &gid);
        if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
                return error_errno(err, CODE_INFRA_CELL, errno, "cannot give up root");
        if (setuid(0) == 0)
                return error_set(err, CODE_INTERNAL_BUG, "root came back after it was given up");
        /* Not readable by other processes of the same user: it holds the supervisor's socket. */
        prctl(PR_SET_DUMPABLE, 0);
        return 0;
}
