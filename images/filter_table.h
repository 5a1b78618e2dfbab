/* The system calls that assay-unpack has left while it reads an archive; format in filter.h.
 * Paths are fenced by landlock, which knows them; this table takes away everything else. No
 * descriptor but those it was started with and files below its directory, no process, no
 * network, no executable memory. For submissions also no link, no rename, no time, no attribute;
 * layers of images have a table of their own (filter_layer_table.h), which adds to UNPACK_ROWS. */
#define FILTER_OTHERWISE SCMP_ACT_KILL_PROCESS

#define UNPACK_ROWS                                                                                \
        ALLOW(read, "the archive; the source of a hard link")                                      \
        ALLOW(pread64, "first bytes of the archive; SUBMISSION.md")                                \
        ALLOW(lseek, "zip directories; going on in a directory that is being removed")             \
        ALLOW(fstat, "sizes and kinds, by descriptor")                                             \
        ALLOW(newfstatat, "the same as some libc versions ask it, with an empty path")             \
        ALLOW(recvmsg, "requests")                                                                 \
        ALLOW(write, "answers")                                                                    \
        ALLOW(pwrite64, "files, also sparse ones")                                                 \
        ALLOW(openat2, "folders and files, beneath the directory")                                 \
        ALLOW(openat, "the same where the kernel has no openat2; removing")                        \
        ALLOW(mkdirat, "folders")                                                                  \
        ALLOW(symlinkat, "links that stay inside")                                                 \
        ALLOW(unlinkat, "removing")                                                                \
        ALLOW(getdents64, "directories as submissions; removing")                                  \
        ALLOW(readlinkat, "links in directories that are submissions")                             \
        ALLOW(close, "descriptors of files written")                                               \
        ALLOW(brk, "memory")                                                                       \
        ALLOW_ZERO(mmap, 2, PROT_EXEC, "memory, never executable")                                 \
        ALLOW_ZERO(mprotect, 2, PROT_EXEC, "memory, never executable")                             \
        ALLOW(mremap, "memory")                                                                    \
        ALLOW(munmap, "memory")                                                                    \
        ALLOW_VALUES(madvise, 2, "blocks that are free", MADV_FREE)                                \
        ALLOW(exit_group, "the end")

#ifndef FILTER_ROWS
#define FILTER_ROWS                                                                                \
        UNPACK_ROWS                                                                                \
        ALLOW_ZERO(fchmod, 1, 07000, "removing from folders without permissions; no set-id")       \
        ALLOW_ZERO(fchmodat, 2, 07000, "removing folders that cannot be opened; no set-id")
#endif
