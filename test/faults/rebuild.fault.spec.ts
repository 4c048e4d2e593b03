import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { conversations } from '../../projections/conversations/conversations.projection.js';
import { logUseOf } from '../../src/app/log-use.js';
import { requireReadable } from '../../src/app/readable-log.js';
import { readConfig } from '../../src/platform/config/config.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { PostgresFreshness } from '../../src/platform/projections/postgres-freshness.js';
import { Progress } from '../../src/platform/projections/progress.js';
import { Projector } from '../../src/platform/projections/projector.js';
import { readCheckpoint } from '../../src/platform/projections/schema.js';
import { createReactionTables } from '../../src/platform/reactions/reaction-tables.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { append } from '../support/accounts.js';
import { compiledProgram } from '../support/compiled-program.js';
import { fillWithConversations } from '../support/conversation-log.js';
import { eventually } from '../support/eventually.js';
import { type TestDatabase, testDatabase } from '../support/postgres-for-tests.js';
import { SeverableProxy } from '../support/severable-proxy.js';

const CONVERSATIONS = 4_000;
const MINUTES = 5 * 60_000;

type Outcome = Readonly<{ events: number; resumedAt?: string; swapped: boolean; comparison?: { difference?: object } }>;

let database: TestDatabase;
let store: PostgresEventStore;
let projector: Projector;
let program: string;
let dataDir: string;
const progress = new Progress(systemTiming);

beforeAll(async () => {
  [database, program, dataDir] = [
    await testDatabase(),
    await compiledProgram(),
    await mkdtemp(join(tmpdir(), 'verbatim-rebuild-')),
  ];
  store = new PostgresEventStore({ url: database.url });
  await store.start();
  await requireReadable(store, logUseOf(readConfig({ DATABASE_URL: database.url })));
  const last = await fillWithConversations(database.sql, CONVERSATIONS);
  projector = new Projector({ sql: database.sql, store, progress, timing: systemTiming, log: pino({ level: 'silent' }) }, [
    conversations,
  ]);
  await projector.start();
  await reached(last);
}, MINUTES);
afterAll(async () => {
  await projector.stop();
  await store.close();
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
});

const reached = (position: bigint) =>
  new PostgresFreshness(database.sql, [conversations], progress, store, systemTiming, MINUTES).reached(
    ['conversations'],
    position,
  );

/** Runs `npm run rebuild -- conversations` in a separate process. */
const rebuild = (...options: string[]) => rebuildIn(database.url, options);

/** `url`: undefined for an embedded Postgres in `dataDir`. */
function rebuildIn(url: string | undefined, options: readonly string[] = [], name = 'conversations') {
  const { PATH, HOME } = process.env;
  const child: ChildProcess = spawn(process.execPath, [join(program, 'program/rebuild.js'), name, ...options], {
    env: { PATH, HOME, DATABASE_URL: url, DATA_DIR: dataDir },
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [child.stdout!, child.stderr!]) output.on('data', (text: Buffer) => (said += text.toString()));
  return {
    ended: once(child, 'close').then(([code]) => ({
      code: code as number | null,
      said,
      outcome: () => JSON.parse(said) as Outcome,
    })),
    said: () => said,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
  };
}

const rebuiltTo = async () => (await readCheckpoint(database.sql, 'conversations_rebuilt'))?.position ?? -1n;

/** Lets a rebuild make some progress and then ends it. */
async function interrupt(signal: NodeJS.Signals) {
  const before = await rebuiltTo();
  const { ended, kill } = rebuild();
  await eventually(async () => (await rebuiltTo()) > before);
  kill(signal);
  return ended;
}

const liveRows = async () => {
  const [row] = await database.sql<{ rows: number }[]>`select count(*)::integer as rows from conversations.conversation`;
  return row!.rows;
};

const rename = (name: string) =>
  append(store, 'conversation-more', { type: 'ConversationRenamed', data: { conversationId: 'more', name } });

describe('A rebuild as a process', () => {
  it(
    'continues where it was killed, repeatedly, with the same result, while the live tables remain complete',
    async () => {
      for (let kills = 0; kills < 3; kills++) {
        expect((await interrupt('SIGKILL')).code).toBeNull();
        expect(await liveRows()).toBe(CONVERSATIONS);
        await reached(await rename(`after ${kills} kills`));
      }
      const resumeAt = await rebuiltTo();
      const { code, outcome } = await rebuild('--json').ended;
      expect(code).toBe(0);
      expect(outcome()).toMatchObject({ resumedAt: String(resumeAt), swapped: true, parked: [] });
      expect(outcome().comparison).toBeDefined();
      expect(outcome().comparison!.difference).toBeUndefined();
      expect(outcome().events).toBeLessThan(10 * CONVERSATIONS);
      expect(await liveRows()).toBe(CONVERSATIONS);
      await reached(await rename('after the swap'));
    },
    MINUTES,
  );

  it(
    'reports a cancellation, and can be resumed',
    async () => {
      const { code, said } = await interrupt('SIGINT');
      expect(code).toBe(130);
      expect(said).toContain('cancelled');
      expect((await rebuild('--json').ended).outcome().resumedAt).toBeDefined();
    },
    MINUTES,
  );

  it(
    'verifies: exits with 0 if the live tables match the log, and with 1 and the differing row if not',
    async () => {
      const same = await rebuild('--verify').ended;
      expect([same.code, same.said]).toEqual([0, expect.stringContaining('the same: conversation 4000, share 0, turn 8000')]);
      const [row] = await database.sql<{ turn_id: string }[]>`
      update conversations.turn set response = 'forged' where turn_id = (select max(turn_id) from conversations.turn) returning turn_id`;
      const different = await rebuild('--verify').ended;
      expect(different.code).toBe(1);
      expect(different.said).toContain(`first in turn at {"turn_id":"${row!.turn_id}"}`);
      expect(different.said).toContain('forged');
      expect((await database.sql`select 1 from pg_namespace where nspname like 'conversations_%'`).length).toBe(0);
    },
    MINUTES,
  );

  it(
    'waits for Postgres if it does not answer at the start',
    async () => {
      const proxy = await SeverableProxy.to(database.url);
      proxy.cut();
      const url = new URL(database.url);
      url.port = new URL(proxy.url).port;
      const { ended, said } = rebuildIn(url.href, ['--verify']);
      await eventually(() => said().includes('Trying again'));
      proxy.mend();
      const { code, said: all } = await ended;
      await proxy.close();
      expect([code, all]).toEqual([expect.any(Number), expect.stringContaining('nothing was changed')]);
    },
    MINUTES,
  );

  it('refuses a log of a version before 0.2.0 with one sentence', async () => {
    const other = await testDatabase();
    const older = new PostgresEventStore({ url: other.url });
    await older.start();
    await append(older, 'conversation-old', { type: 'ConversationOpened', data: { conversationId: 'old' } });
    const { code, said } = await rebuildIn(other.url).ended;
    expect([code, said]).toEqual([2, expect.stringMatching(/^The log in .* was written by a version before 0\.2\.0.*\n$/)]);
    await older.close();
    await other.close();
  });

  it('prints what it retried as JSON, of a projection and of a reaction', async () => {
    const projection = await rebuild('--parked', '--json').ended;
    expect([projection.code, projection.outcome()]).toEqual([0, { projection: 'conversations', released: [], parked: [] }]);
    const name = 'title-conversation';
    await createReactionTables(database.sql);
    await database.sql`insert into reactions.reaction_checkpoint (reaction, position, epoch) values (${name}, 1, 1)`;
    const reaction = await rebuildIn(database.url, ['--parked', '--json'], `reaction:${name}`).ended;
    expect([reaction.code, reaction.outcome()]).toEqual([0, { reaction: name, asked: 0 }]);
  });

  it('ends a verification with 2 if there are no live rows to compare with', async () => {
    const other = await testDatabase();
    const { code, said } = await rebuildIn(other.url, ['--verify']).ended;
    expect([code, said]).toEqual([2, expect.stringContaining('no live rows of this version')]);
    await other.close();
  });

  it(
    'reports that its Postgres cannot be closed beside its result, which alone decides the exit code',
    async () => {
      const { ended } = rebuildIn(undefined);
      const lock = join(dataDir, 'postgres', 'owner');
      await eventually(() => existsSync(lock));
      rmSync(lock);
      mkdirSync(lock);
      const { code, said } = await ended;
      rmSync(lock, { recursive: true });
      expect([code, said]).toEqual([0, expect.stringMatching(/in place\.[^]*could not be closed: EISDIR/)]);
    },
    MINUTES,
  );

  it.each([
    ['an unknown option', ['all', '--verfy'], /unknown option '--verfy'/],
    ['an unknown projection, and names the known ones', ['nonsense'], /no projection nonsense.*conversations/],
    ['to retry parked events in a verification', ['conversations', '--verify', '--parked'], /cannot be used/],
  ])('refuses %s', async (_, args, expected) => {
    const child = spawn(process.execPath, [join(program, 'program/rebuild.js'), ...args], { cwd: tmpdir() });
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(2);
    expect(said).toMatch(expected);
  });
});
