import type { Purge } from '../../kernel/event-sourcing/purge.js';

/** The purges of all rooms. */
export class Purges {
  constructor(readonly all: readonly Purge[]) {}
}
