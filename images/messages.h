/* How assay-unpack is asked and how it answers. It has modes, which differ in its rights: for
 * submissions; with the argument "built" the same, with the right to read all that a cell left; and
 * with "layer" for layers of images (layer.h). UNPACK_REMOVE is answered in all.
 *
 *   0  the archive, or for UNPACK_IMAGE what holds images: a regular file, read-only, or a
 *      directory; for UNPACK_MASK, _USER, _VERIFY, _TAR and _SEARCH the directory of all layers
 * (anything for UNPACK_REMOVE) 1  a socket: requests come, answers go 2  /dev/null 3  the directory
 * to fill (or, for UNPACK_REMOVE, to empty), owned by the unpacker's id
 *
 * Each request is answered by any number of UNPACK_WARNING, then UNPACK_DONE or UNPACK_ERROR; for a
 * layer of UNPACK_OPAQUE, _SKELETON and UNPACK_WARNING, then UNPACK_LAYER_DONE or UNPACK_ERROR.
 * The unpacker ends when the other side closes. After an error the directory may hold a partial
 * tree; the runner asks for UNPACK_REMOVE, on the same socket or of a new process.
 *
 * A common top folder is stripped by naming it: the submission is then what is below the folder
 * `root` of UNPACK_DONE. Moving its content up would need the right to rename between
 * directories, which landlock cannot give on older kernels. */
#ifndef ASSAY_IMAGES_MESSAGES_H
#define ASSAY_IMAGES_MESSAGES_H

enum unpack_message {
        UNPACK_REQUEST = 1, /* u64 max_entries, u64 max_unpacked (bytes), u8 strip_common_root,
                               u8 links_drop, u32 n, n × (text required path, u64 max_size or 0),
                               u32 n, n × (text pattern (glob.h), u64 files that it must match) */
        UNPACK_BUILT,       /* the same, of a directory that a build left: build.unsafe_output when
                               an archive of it would be refused; nothing is stripped, left out or
                               required */
        UNPACK_REMOVE,      /* nothing: remove everything below the directory */
        UNPACK_WARNING,     /* text field (entry name or empty), text message */
        UNPACK_SECTION,     /* u8 number in the order of UNPACK_SECTIONS, text: a section of
                               SUBMISSION.md that says something */
        UNPACK_DONE,        /* u64 entries (files, folders, links made; after UNPACK_REMOVE:
                               removed), u64 unpacked bytes, u32 sections (a bit for each heading
                               of SUBMISSION.md, in the order of UNPACK_SECTIONS), u8
                               has_submission_md, text root (empty, or one name), text digest (of a
                               directory, folder.h; else empty) */
        UNPACK_ERROR,       /* error */
        UNPACK_LAYER,       /* u64 offset, u64 length (where in the file the blob of the layer
                               stands; UINT64_MAX: to its end), text path of the blob (when 0 is a
                               directory; else empty), u64 max_entries, u64 max_unpacked (bytes):
                               unpack a layer of an image */
        UNPACK_OPAQUE,      /* text path (empty: the layer's root): a directory of the layer that
                               hides what the layers below have in it */
        UNPACK_LAYER_DONE,  /* text digest of the blob (SHA-256, 64 digits), text the same of its
                               plain tar bytes, u64 entries (names made, whiteouts among them), u64
                               unpacked bytes */
        UNPACK_IMAGE,       /* text architecture ("amd64"), text wanted (the name of one image of
                               several, or empty): tell what an image file holds. Answered by
                               UNPACK_BLOB, _IMAGE_FOUND and _WARNING, then UNPACK_IMAGES_DONE or
                               UNPACK_ERROR */
        UNPACK_BLOB,        /* u8 enum unpack_blob, text digest (64 hexadecimal digits), u64 size,
                               bytes: a raw document of the image that follows (an index: that it was
                               pulled by). A long one comes in pieces of at most UNPACK_MAX_PIECE,
                               one frame after the other */
        UNPACK_IMAGE_FOUND, /* u32 n, n × text name; text ref_digest (of the manifest, or of the
                               index that named it; empty where the file has none), text id (digest
                               of the config), text architecture, text created; u32 n, n × text
                               entrypoint; the same cmd; the same env; text workdir, text user;
                               u32 layers, each, the lowest first: text member, u64 offset, u64
                               length, text digest (or empty), text diff_id, u8 enum
                               unpack_compression */
        UNPACK_IMAGES_DONE, /* u32 images, at least one */
        UNPACK_MASK,        /* u32 n, n × text name of a layer below the directory 0, the lowest
                               first; u32 n, n × (u8 enum unpack_hide, text path); a command, whose
                               scripts are hidden too: u32 n, n × text, text workdir, text PATH
                               (script.h): write a layer to lie on them that hides all that
                               (mask.h), as the file UNPACK_MASK_FILE of the directory 3. Answered
                               by UNPACK_DONE; entries: names hidden */
        UNPACK_USER,        /* the same layers, text USER: whom it means (user.h). Answered by
                               UNPACK_USER_FOUND or UNPACK_ERROR */
        UNPACK_EXPAND,      /* u64 most bytes: decompress the file 0 into the file
                               UNPACK_EXPANDED_FILE of the directory 3. Answered by UNPACK_DONE */
        UNPACK_USER_FOUND,  /* u32 uid, u32 gid, text home (or empty) */
        UNPACK_SKELETON, /* of a layer that is unpacked: u8 anew (forget what came before), bytes:
                            the next of its skeleton, a gzip file (skeleton.h) */
        UNPACK_VERIFY,   /* text name of a layer below the directory 0, u64 max_entries: compare
                            it with its skeleton (verify.h); the directory 3 is for trying
                            things. Answered like UNPACK_LAYER, or by image.corrupt */
        UNPACK_TAR,      /* text name of a layer: write its tar to the file UNPACK_TAR_FILE of the
                            directory 3. Answered by UNPACK_LAYER_DONE; bytes: of the tar */
        UNPACK_FILES,    /* u64 max_entries: tell each file of the directory 0. Answered by
                            UNPACK_FILE, then UNPACK_DONE or UNPACK_ERROR; for submissions' mode */
        UNPACK_FILE,     /* text path, u64 size, text digest (SHA-256) */
        UNPACK_SEARCH,   /* layers as for UNPACK_MASK; u32 n, n × (u64 size, text digest): which
                            files of their tree have the content of one of these? Answered by
                            up to 1000 UNPACK_FOUND, then UNPACK_DONE or UNPACK_ERROR */
        UNPACK_FOUND,    /* u32 which of them, text path in the tree */
};

/* What UNPACK_MASK hides of a path. */
enum unpack_hide {
        UNPACK_HIDE_CONTENT, /* what is in that directory; no link is followed */
        UNPACK_HIDE_ITSELF,  /* it, and where it leads to if it is a link */
        UNPACK_HIDE_NAMED,   /* the same; a warning where there is no such path */
        UNPACK_HIDE_COUNT,
};

#define UNPACK_MASK_FILE     "mask.tar"
#define UNPACK_EXPANDED_FILE "expanded.tar"
#define UNPACK_TAR_FILE      "layer.tar"
#define UNPACK_SKELETON_FILE "skeleton" /* of a layer, beside its tree */

enum unpack_blob { UNPACK_BLOB_MANIFEST = 1, UNPACK_BLOB_CONFIG, UNPACK_BLOB_INDEX };

/* Of a layer, as its media type tells; its own bytes tell the truth. */
enum unpack_compression {
        UNPACK_COMPRESSION_UNKNOWN,
        UNPACK_PLAIN,
        UNPACK_GZIP,
        UNPACK_ZSTD,
};

enum {
        UNPACK_MAX_REQUEST = 1 << 20,
        UNPACK_MAX_WARNINGS = 100, /* more are counted in one last warning */
        UNPACK_MAX_REQUIRED = 1000,
        UNPACK_MAX_PATH = 4095,      /* bytes of an entry's path: as many as the kernel takes */
        UNPACK_MAX_ANSWER = 1 << 20, /* bytes of a frame */
        UNPACK_MAX_PIECE = UNPACK_MAX_ANSWER - 256, /* there is more in its frame */
        UNPACK_MAX_SKELETON = 1 << 29,              /* bytes */
        UNPACK_MAX_LAYERS = 500,                    /* of an image */
        UNPACK_MAX_STACK = 128,                     /* to be looked at as one tree */
};

#define UNPACK_SECTIONS                                                                            \
        {                                                                                          \
                "What I Built", "How To Run", "Architecture", "What Works", "Known Limitations",   \
                        "Tradeoffs"                                                                \
        }
enum { UNPACK_SECTION_COUNT = 6 };

#endif
