/** A longer text is stored as a blob instead of in the event. */
export const TEXT_INLINE_BYTES_MAX = 64 * 1024;

/**
 * How many attachments a worker claims at once, in total and of one owner. A claimed attachment waits for a parser and is loaded
 * into memory only then.
 */
export const READ_AT_ONCE_MAX = 40;
export const READ_OF_OWNER_MAX = 4;

/** The kind of the tasks that parse attachments, and their progress when parsing and when storing begins. */
export const PARSE_ATTACHMENT = 'attachment';
export const READING_PERCENT = 30;
export const KEEPING_PERCENT = 80;
