/** A text that is longer stands beside the log. */
export const TEXT_INLINE_BYTES_MAX = 64 * 1024;

/** So many attachments a worker has in hand at once, and of one owner; each waits for its turn to be read, and is in memory no sooner. */
export const READ_AT_ONCE_MAX = 40;
export const READ_OF_OWNER_MAX = 4;

/** The kind of the tasks that read attachments, and how far one is when the file is being read, and when its content is being kept. */
export const PARSE_ATTACHMENT = 'attachment';
export const READING_PERCENT = 30;
export const KEEPING_PERCENT = 80;
