/** How long an append may take before its outcome counts as unknown. The server itself gives up a write after 2 s. */
export const APPEND_DEADLINE_MS = 5_000;

/** How long a read or a new subscription may stay without an answer. */
export const ANSWER_DEADLINE_MS = 5_000;

/** A subscription that has said nothing for this long is replaced: silence and a stall look the same from here. */
export const SILENCE_MS = 60_000;

/** What a page holds at most, and with it what is fetched ahead of a consumer that does not ask. */
export const PAGE_EVENTS_MAX = 500;
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

/** How often in a row a read is taken up again where its connection broke. */
export const READ_ATTEMPTS_MAX = 4;

/** An append goes in messages of so many events; the server takes messages of 16 MiB. */
export const MESSAGE_EVENTS_MAX = 1_000;

/** How long closing waits for calls to end. */
export const CLOSE_DEADLINE_MS = 2_000;

/** How long a ping may stay without an answer: readiness waits 2 s, and is to hear the reason. */
export const PING_DEADLINE_MS = 1_500;

/** A new leader may still be indexing what another one showed: for so long the end of the log may seem to lie before it. */
export const END_VISIBLE_MS_MAX = 2_000;
export const END_LOOK_MS = 100;
