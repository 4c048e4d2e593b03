import type { Purge } from '../../kernel/event-sourcing/purge.js';

/** What events of all rooms have go. */
export class Purges {
  constructor(readonly all: readonly Purge[]) {}
}
