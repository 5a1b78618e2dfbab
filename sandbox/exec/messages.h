/* What assay-exec asks of the broker and what it is answered: one connection a call, over a socket
 * in the suite's cell (CALLS_SOCKET). docs/broker.md tells the same for people. */
#ifndef ASSAY_EXEC_MESSAGES_H
#define ASSAY_EXEC_MESSAGES_H

enum call_message {
        /* assay-exec → broker */
        CALL_START = 1, /* u64 wall, u64 cpu (microseconds), u64 memory, u64 output (bytes); each 0
                           for the task's own; text session (empty: none), u32 n + n × text
                           argument */
        CALL_STOP,      /* nothing: it printed more than it may; kill it */

        /* broker → assay-exec */
        CALL_STARTED, /* u64 output: what it may print; descriptors: the end of its standard input
                         to write to, those of its output and its error output to read from */
        CALL_DONE,    /* u8 enum cell_end, u32 status, u16 enum code (what stopped it), u64 cpu_us,
                         u64 wall_us, u64 memory_peak, u8 alive (1: of a session, whose
                         processes may hold the pipes) */
        CALL_FAILED,  /* error: there was no such call, or no cell for it */
};

enum {
        CALL_MAX_REQUEST = 256 << 10, /* bytes of a frame */
        CALL_MAX_SESSION = 64,        /* bytes of a session's name */
};

#endif
