/** How long an append may take before its outcome counts as unknown. The server gives up a write after 2 s. */
export const APPEND_DEADLINE_MS = 5_000;

/** How long a read or a new subscription may be unanswered. */
export const ANSWER_DEADLINE_MS = 5_000;

/** A subscription without messages for this long is replaced, because a silent one cannot be told from a stalled one. */
export const SILENCE_MS = 60_000;

/** Maximum size of a page. No more than this is fetched ahead of a slow consumer. */
export const PAGE_EVENTS_MAX = 500;
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** Number of events in a message of an append. The server accepts messages of up to 16 MiB. */
export const MESSAGE_EVENTS_MAX = 1_000;

/**
 * How often a silent scan of the log is waited for, each time for ANSWER_DEADLINE_MS, while the server answers pings: ten minutes.
 * A scan that the server has lost would be waited for without end.
 */
export const SCAN_PINGS_MAX = 120;

/** Maximum pause before a read is retried, because its caller waits. */
export const READ_RETRY_MS_MAX = 500;

/** How long closing waits for calls to end. */
export const CLOSE_DEADLINE_MS = 2_000;

/** How long a ping may be unanswered. The readiness check waits 2 s and needs the reason before that. */
export const PING_DEADLINE_MS = 1_500;
/** How long a ping is retried while no connection to the server comes about. */
export const PING_RETRY_MS = 500;

/** How long the end of the log may appear to be before a followed position, because a new leader is still indexing. */
export const END_VISIBLE_MS_MAX = 2_000;
export const END_POLL_MS = 100;
