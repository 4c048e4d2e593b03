import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { onEventStoreDb, onPostgres } from '../../../test/support/backing.js';
import { type Client, conversationIdIn } from '../../../test/support/client.js';
import { eventually } from '../../../test/support/eventually.js';
import { say } from '../../../test/support/scripted-model-server.js';
import { openWorld, type World } from '../../../test/support/world.js';
import { Commands } from '../../kernel/commands.js';
import { firstEvent } from '../../kernel/event-sourcing/event-store.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { PostgresEventStore } from '../../platform/event-store/postgres/postgres-event-store.js';
import { SealLog } from '../../work/log-seals/log-seals.commands.js';
import type { LogSealed } from '../../work/log-seals/log-seals.events.js';

const PROGRAM = join(import.meta.dirname, '../../../docs/examples/audit/verify-log.mjs');
const CAUSE = { actor: 'system:test', credential: 'system', correlationId: 'test', causationId: 'test' } as const;

type Line = Readonly<{ position: string; stream: string; revision: number; type: string; data: LogSealed['data'] }>;
const parsed = (line: string) => JSON.parse(line) as Line;
const hashOf = (line: string) => createHash('sha256').update(line).digest('hex');

describe.each([
  ['Postgres', onPostgres],
  ['EventStoreDB', onEventStoreDb],
])('an auditor with an export from %s', (_, makeBacking) => {
  let world: World;
  let admin: Client;
  /** The export, a line for each event, and the newest seal in it. */
  let exported: readonly string[];
  let seal: string;
  const logged: string[] = [];

  beforeAll(async () => {
    const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
    world = await openWorld({ RETENTION_EVERY_SECONDS: '0.2' }, makeBacking, log);
    admin = await world.as('root', { roles: ['admin'] });
    // A separator of lines that JSON does not escape.
    for (const question of ['First?\u2028', 'Second?']) {
      world.model.next(say('Yes.'));
      await world.alice.stream({ question });
      await sealed();
    }
    exported = await exportedLines();
    seal = (await verified(exported)).seal;
  });
  afterAll(() => world.close());

  async function sealed(): Promise<void> {
    await world.quietHead();
    await world.service.service.app.get(Commands, { strict: false }).execute(new SealLog(CAUSE));
  }

  async function exportedLines(): Promise<readonly string[]> {
    await world.service.service.app.get(Freshness, { strict: false }).reached(['audit-log'], await world.backing.store.head());
    const response = await admin.get('/api/audit/events', { accept: 'application/x-ndjson' });
    return (await response.text()).trimEnd().split('\n');
  }

  async function verified(lines: readonly string[], ...kept: readonly string[]) {
    const file = join(world.service.dataDir, 'export.ndjson');
    await writeFile(file, `${lines.join('\n')}\n`);
    const program = spawn(process.execPath, [PROGRAM, file, ...kept], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [output, [code]] = await Promise.all([text(program.stdout), once(program, 'close') as Promise<[number]>]);
    return { code, output, seal: /Newest seal: (\S+)/.exec(output)?.[1] ?? '' };
  }

  it('has a service whose first seal, at the start, does not fail', () =>
    expect(logged.filter((line) => line.includes('seal-events'))).toEqual([]));

  const asked = () => exported.find((line) => parsed(line).type === 'TurnAsked')!;

  it('proves that nothing was changed', async () => {
    const { code, output } = await verified(exported, seal);
    expect(output).toMatch(/^\d{2} events in \d seals, 0 of them purged; 0 events without a seal yet\.\n/);
    expect(code).toBe(0);
  });

  it.each<[string, (line: string) => readonly string[], RegExp]>([
    ['changed', (line) => [line.replace('First?', 'Other?')], /^conversation-\S+@\d is not what seal \d was made of\.$/m],
    ['ascribed to somebody else', (line) => [line.replace(/"actor":"[^"]+"/, '"actor":"user:eve"')], /is not what seal \d was made of\.$/m], // oxfmt-ignore
    ['removed', () => [], /^conversation-\S+@\d is missing, and no purge explains that\.$/m],
    ['repeated in another stream', (line) => [line, moved(line)], /^agent-eve@0 is not in the order of the log\.$/m],
  ])('finds an event that was %s', async (_change, change, problem) => {
    const { code, output } = await verified(exported.flatMap((line) => (line === asked() ? change(line) : [line])));
    expect(output).toMatch(problem);
    expect(code).toBe(1);
  });

  // Positions of a log on Postgres have a gap where a frame lies between.
  const freePlace = () => exported.findIndex((_, at) => at > 0 && Number(positionAt(at)) > Number(positionAt(at - 1)) + 1 && isBeforeSeal(at)); // oxfmt-ignore
  const before = (index: number) => String(BigInt(positionAt(index)) - 1n);

  it('finds an event that was added before a seal', async () => {
    const index = freePlace();
    const added = moved(exported[index]!, before(index));
    const { code, output } = await verified([...exported.slice(0, index), added, ...exported.slice(index)]);
    expect(output).toMatch(/^agent-eve@0 was added after seal \d\.$/m);
    expect(code).toBe(1);
  });

  it('finds an event that was added with the place of a later one', async () => {
    const index = freePlace();
    const { stream, revision } = parsed(exported[index]!);
    const added = moved(exported[index]!, before(index), stream, revision).replace(/"actor":"[^"]+"/, '"actor":"user:eve"');
    const { code, output } = await verified([...exported.slice(0, index), added, ...exported.slice(index)]);
    expect(output).toContain(`${stream}@${revision} occurs twice.\n`);
    expect(code).toBe(1);
  });

  it.each(['null', '{}', '"text"'])('is told which seal cannot be read, if its data is %s', async (data) => {
    const index = exported.findIndex(isSeal);
    const { code, output } = await verified(exported.with(index, exported[index]!.replace(/"data":.*$/, `"data":${data}}`)));
    expect(output).toMatch(new RegExp(`^logSeals-log@0 in line ${index + 1} cannot be read: `, 'm'));
    expect(output).toMatch(/^logSeals-log@0 is not what seal \d was made of\.$/m);
    expect(code).toBe(1);
  });

  it('finds an export that has no seals, such as that of a user', async () => {
    const { code, output } = await verified(exported.filter((line) => !isSeal(line)));
    expect(output).toMatch(/^The export has no seal\. Only an administrator exports all events\.$/m);
    expect(code).toBe(1);
  });

  it('finds a forged log whose seals are made again, by a seal that was kept', async () => {
    const forged = resealed(exported.map((line) => line.replace('First?', 'Other?')));
    const [alone, withKept] = [await verified(forged), await verified(forged, seal)];
    expect(alone.code).toBe(0);
    expect(withKept.output).toMatch(/^Seal \d is another\.$/m);
    expect(withKept.code).toBe(1);
  });

  it('finds a log that was cut off before a seal that was kept', async () => {
    const { code, output } = await verified(exported.slice(0, exported.findLastIndex(isSeal)), seal);
    expect(output).toMatch(/^Seal \d is missing\.$/m);
    expect(code).toBe(1);
  });

  it('is told which events a purge removed, and that nothing else is missing', async () => {
    world.model.next(say('Yes.'));
    const conversationId = conversationIdIn(await world.alice.stream({ question: 'Third?', visibility: 'listed' }));
    await sealed();
    expect((await world.alice.post(`/api/delete_conversation?id=${conversationId}`, {})).status).toBe(200);
    await eventually(async () => (await exportedLines()).some((line) => parsed(line).type === 'ConversationPurged'));
    await sealed();
    const { code, output } = await verified(await exportedLines(), seal);
    expect(output).toMatch(/ events in \d seals, [1-9]\d* of them purged;/);
    expect(code).toBe(0);
  });

  it('is not alarmed by an event that was purged between two pages of its export, before any seal', async () => {
    world.model.next(say('Yes.'));
    const conversationId = conversationIdIn(await world.alice.stream({ question: 'Fourth?', visibility: 'listed' }));
    await world.quietHead();
    const page = await exportedLines();
    expect((await world.alice.post(`/api/delete_conversation?id=${conversationId}`, {})).status).toBe(200);
    await eventually(async () => {
      if (world.backing.store instanceof PostgresEventStore) await world.backing.store.scavenge();
      return (await firstEvent(world.backing.store, `conversation-${conversationId}`))?.type === 'TurnsPurged';
    });
    await sealed();
    const end = BigInt(parsed(page.at(-1)!).position);
    const rest = (await exportedLines()).filter((line) => BigInt(parsed(line).position) > end);
    const { code, output } = await verified([...page, ...rest], seal);
    expect(output).toMatch(/^\d+ events in \d seals, /);
    expect(code).toBe(0);
  });

  const positionAt = (index: number) => parsed(exported[index]!).position;
  const isBeforeSeal = (index: number) => exported.slice(index).some(isSeal) && !isSeal(exported[index]!);
  const isSeal = (line: string) => parsed(line).type === 'LogSealed';
  const moved = (line: string, position = parsed(line).position, stream = 'agent-eve', revision = 0) =>
    line.replace(/"position":"\d+"/, `"position":"${position}"`).replace(/"stream":"[^"]+","revision":\d+/, `"stream":"${stream}","revision":${revision}`); // oxfmt-ignore

  /** The export with the seals that somebody would make who has changed it. */
  function resealed(lines: readonly string[]): readonly string[] {
    const hashes = new Map<string, string>();
    return lines.map((line) => {
      const { stream, revision, data } = parsed(line);
      const made = !isSeal(line)
        ? line
        : data.events.reduce((text, [of, at, sha256]) => text.replace(sha256, hashes.get(`${of}@${at}`)!), line);
      hashes.set(`${stream}@${revision}`, hashOf(made));
      return made;
    });
  }
});
