import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { commandsOver } from '../../../test/support/commands-over.js';
import { auditEventOf, auditLine } from '../../../projections/audit-log/audit-event.js';
import { encodeMetadata, recordedEvents } from '../../kernel/event-sourcing/codec.js';
import { APPEND_BYTES_MAX, appendBytes, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { logSealsCodec } from './log-seals.codec.js';
import { SealLogHandler } from './log-seals.commands.js';
import { LOG_SEALS_STREAM, type LogSealed } from './log-seals.events.js';
import { SealEvents, SEALS_PER_TICK_MAX } from './seal-events.ticker.js';

let store: InMemoryEventStore;
beforeEach(() => void (store = new InMemoryEventStore()));

const CAUSE = { actor: 'user:ann', credential: 'session-token', correlationId: 'c', causationId: 'c' } as const;
const happened = (stream: string, count = 1) =>
  store.append(
    stream,
    'none',
    Array.from({ length: count }, () => ({
      id: systemIds.next(),
      type: 'Happened',
      data: '{}',
      metadata: encodeMetadata(CAUSE),
    })),
  );
/** A process that seals the log. */
const process = () => new SealEvents(commandsOver(new SealLogHandler(store, new Streams(store, systemTiming))), systemIds);
const seals = async () => (await recordedEvents<LogSealed>(store, LOG_SEALS_STREAM, logSealsCodec)).map(({ data }) => data);
async function logged(): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for await (const { events } of store.readAll({ after: -1n })) all.push(...events);
  return all;
}
const hashOf = (event: StoredEvent) => createHash('sha256').update(auditLine(auditEventOf(event))).digest('hex'); // oxfmt-ignore

describe('the seals of the log', () => {
  it('hold the hash of every audited event once, in the order of the log, and the seal before', async () => {
    await happened('agent-1', 2);
    await happened('message-1', 3);
    await happened('agent-2');
    await process().tick();
    await happened('agent-3');
    await process().tick();
    const audited = (await logged()).filter(({ stream }) => !stream.startsWith('message-'));
    const [first, second, ...more] = await seals();
    expect(more).toEqual([]);
    expect([...first!.events, ...second!.events]).toEqual(
      audited.slice(0, -1).map((event) => [event.stream, event.revision, hashOf(event)]),
    );
    expect(second!.events[0]!.slice(0, 2)).toEqual([LOG_SEALS_STREAM, 0]);
    expect([first!.number, first!.after, second!.number, second!.after]).toEqual([1, '-1', 2, first!.upTo]);
    expect(second!.upTo).toBe(String(audited.at(-2)!.position));
  });

  it('are not added to while nothing but a seal or a frame is appended', async () => {
    await process().tick();
    expect(await seals()).toEqual([]);
    await happened('agent-1');
    const ticking = process();
    await ticking.tick();
    await happened('message-1');
    await ticking.tick();
    await process().tick();
    expect(await seals()).toHaveLength(1);
  });

  it('are the same if processes race', async () => {
    await happened('agent-1', 5);
    await Promise.all([process().tick(), process().tick(), process().tick()]);
    await happened('agent-2');
    await Promise.all([process().tick(), process().tick()]);
    expect((await seals()).map(({ number, events }) => [number, events.length])).toEqual([[1, 5], [2, 2]]); // oxfmt-ignore
  });

  it.each([
    '{}',
    'null',
    '{"number":1,"after":"-1","upTo":"seven","events":[]}',
    '{"number":1,"after":"-1","upTo":"1000","events":[]}',
    '{"number":1,"after":"-1","upTo":"99999999999999999999","events":[]}',
  ])('are not continued after a newest seal that was changed to %s, which the error names', async (data) => {
    await happened('agent-1');
    const changed = { id: systemIds.next(), type: 'LogSealed', data, metadata: encodeMetadata(CAUSE) };
    await store.append(LOG_SEALS_STREAM, 'none', [changed]);
    await expect(process().tick()).rejects.toThrow(
      'The newest seal, event 0 of logSeals-log, was changed: it names no position before its own up to which it seals the log. No further event is sealed.',
    );
  });

  it('of a long log fit into an append each, and a tick appends some of them', async () => {
    const name = (index: number) => `keptAgents-${index}${'字'.repeat(300)}`;
    for (let index = 0; index < 600; index++) await happened(name(index));
    await process().tick();
    expect(await seals()).toHaveLength(2);
    const written: StoredEvent[] = [];
    for await (const page of store.read(LOG_SEALS_STREAM)) written.push(...page);
    for (const event of written) expect(appendBytes([event])).toBeLessThan(0.6 * APPEND_BYTES_MAX);
    expect((await seals()).flatMap(({ events }) => events)).toHaveLength(601);
    const commands = { execute: async () => void calls++ === undefined };
    let calls = 0;
    await new SealEvents(commands as never, systemIds).tick();
    expect(calls).toBe(SEALS_PER_TICK_MAX);
  });
});
