import { afterAll, beforeAll, describe } from '@jest/globals';

import { appendsContract } from './event-store.appends.contract.js';
import { concurrencyContract } from './event-store.concurrency.contract.js';
import { followsContract } from './event-store.follows.contract.js';
import { payloadsContract } from './event-store.payloads.contract.js';
import { readsContract } from './event-store.reads.contract.js';
import { retentionContract } from './event-store.retention.contract.js';
import { type Abilities, type Subject } from './event-store.subject.js';

/** The contract of every event store. One store serves the whole suite. Each test has its own streams and categories. */
export function eventStoreContract(name: string, { open, can = {} }: { open: () => Promise<Subject>; can?: Abilities }): void {
  describe(`${name} as an event store`, () => {
    let opened: Subject;
    const subject = () => opened;

    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    describe('appends', () => appendsContract(subject, can));
    describe('reads', () => readsContract(subject));
    describe('payloads', () => payloadsContract(subject));
    describe('retention', () => retentionContract(subject));
    describe('follows the log', () => followsContract(subject, can));
    describe('concurrency', () => concurrencyContract(subject));
  });
}
