import { expect } from '@jest/globals';
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../src/kernel/event-sourcing/event-store.js';
import { type Aggregate, Streams } from '../../src/kernel/event-sourcing/streams.js';
import { EventStoreDbEventStore } from '../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { EventStoreDbBacking } from '../support/backing.js';
import { Client, type Streamed, streamed } from '../support/client.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { ServiceProcess } from '../support/process.js';
import { call, type CompletionRequest, say, ScriptedModelServer } from '../support/scripted-model-server.js';
import { Seeded } from '../support/seeded.js';
import { TEST_SETTINGS, USUAL_DEADLINES } from '../support/service.js';
import { Viewer } from '../support/viewer.js';
import { webhookPath } from '../support/webhooks.js';
import { cause } from '../support/turns.js';
import { RaceLog, type RaceTaken } from './race-log.js';

/** The clock of each process is this far ahead of that of the one before. */
const CLOCKS_APART_MS = 120_000;

/** The number of races of each kind, of processes, and of losses of the log's leader. */
export type RacePlan = Readonly<{
  seed: number;
  processes: number;
  streams: number;
  keys: number;
  deliveries: number;
  approvals: number;
  leaderLosses: number;
  /** How long all servers are in sync before the next leader is lost. */
  calmMs: number;
}>;

const RACERS = 8;
const ASKERS = 6;
const SENDERS = 6;
const DECIDERS = 20;
/** The races of a round start at times spread over this. The leader is lost in between. */
const ROUND_MS = 8_000;
/** The pause of a client before it repeats a request that was refused temporarily. */
const COME_AGAIN_MS = 100;
const OVER_MS_MAX = 120_000;

const race: Aggregate<string | undefined, RaceTaken> = {
  initial: undefined,
  evolve: (_, { data }) => data.by,
  codec: { RaceTaken: [] },
};

/**
 * Many clients want the same thing at the same moment, through several processes, over a log whose leader is killed repeatedly.
 * What may happen once happens once, what was acknowledged is stored, and no decision is made on an outdated state.
 */
class RaceStory {
  /** The number of temporary refusals. */
  private refusals = 0;
  private losses = 0;
  /** The number of approved calls with an unknown outcome. */
  private unknown = 0;
  private readonly random: Seeded;
  private readonly over = new AbortController();
  private readonly promised = {
    takers: new Map<string, string>(),
    tasks: new Map<string, string>(),
    decisions: new Map<string, string>(),
  };
  private readonly viewers: Viewer[] = [];
  private agentId = '';
  private hook = '';

  private constructor(
    private readonly plan: RacePlan,
    private readonly backing: EventStoreDbBacking,
    private readonly services: readonly ServiceProcess[],
    private readonly clients: readonly Client[],
    private readonly streams: readonly Streams[],
    private readonly post: LocalServer,
    private readonly ends: readonly (() => Promise<unknown>)[],
  ) {
    setMaxListeners(0, this.over.signal);
    this.random = new Seeded(plan.seed);
  }

  static async begin(plan: RacePlan, backing: EventStoreDbBacking): Promise<RaceStory> {
    const model = await ScriptedModelServer.start();
    const post = await LocalServer.started((_request, response) => answerJson(response, { posted: true }));
    model.always(answer);
    const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-races-'));
    const environment = {
      ...TEST_SETTINGS,
      ...USUAL_DEADLINES,
      ...backing.environment,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'scripted',
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      TITLE_MODEL_ID: 'none',
      DATA_DIR: dataDir,
      // The default: an election of a leader must not make the turns of live producers stale.
      STALE_PRODUCER_SECONDS: '10',
      LOG_LEVEL: 'warn',
    };
    const starts = Array.from({ length: plan.processes }, (_, index) =>
      ServiceProcess.start({ environment, clockOffMs: index * CLOCKS_APART_MS }),
    );
    const services = await Promise.all(starts);
    const stores = Array.from(
      { length: 2 },
      () => new EventStoreDbEventStore({ connectionString: backing.environment['EVENT_STORE']! }),
    );
    const story = new RaceStory(
      plan,
      backing,
      services,
      services.map(({ url }) => new Client(url)),
      stores.map((store) => new Streams(store, systemTiming)),
      post,
      [
        ...services.map((service) => () => service.close()),
        ...stores.map((store) => () => store.close()),
        () => post.close(),
        () => model.close(),
        () => backing.close(),
        () => rm(dataDir, { recursive: true, force: true }),
      ],
    );
    await story.prepare();
    return story;
  }

  /** The end of the log output of all processes. */
  get output(): string {
    return this.services.map(({ output }) => output).join('\n');
  }

  get summary(): string {
    const { streams, keys, deliveries, approvals } = this.plan;
    return (
      `${streams} streams × ${RACERS}, ${keys} keys × ${ASKERS}, ${deliveries} deliveries × ${SENDERS}, ` +
      `${approvals} approvals × ${DECIDERS}, ${this.losses} leaders lost, ${this.refusals} times told to come again, ` +
      `${this.unknown} calls of unknown outcome`
    );
  }

  async run(): Promise<void> {
    const { streams, keys, deliveries, approvals, leaderLosses } = this.plan;
    const races = [
      ...each(streams, (number) => this.takeOnce(`race-${number}`)),
      ...each(keys, (number) => this.askOnce(`Question ${number}`)),
      ...each(deliveries, (number) => this.deliverOnce(`delivery-${number}`)),
      ...each(approvals, (number) => this.decideOnce(`Card ${number}`)),
    ];
    for (let round = 0; round < leaderLosses; round++) {
      const share = races.filter((_, index) => index % leaderLosses === round);
      await Promise.all([this.loseLeader(), ...share.map((begin) => this.sometime(begin))]);
      await pause(this.plan.calmMs);
    }
  }

  /** Compares what clients were told with the whole log, read independently. */
  async expectOnceEach(): Promise<void> {
    const { keys, deliveries, approvals } = this.plan;
    const log = await RaceLog.atRest(this.backing.store, OVER_MS_MAX);
    expect(log.doubled).toEqual([]);
    expect(log.takers).toEqual(this.promised.takers);
    expect(log.tasks).toEqual(this.promised.tasks);
    expect([log.turns.size, log.tasks.size, log.decisions.size]).toEqual([keys + approvals, deliveries, approvals]);
    for (const [question, decision] of this.promised.decisions)
      expect([question, log.decisions.get(question)]).toEqual([question, decision]);
    await this.expectApprovedOnce(log);
    for (const viewer of this.viewers) {
      expect(viewer.messageId).toBe(log.turns.get(viewer.body['question'] as string));
      const journal = await log.journalOf(viewer.messageId!);
      // A turn that waited for a decision has continued since.
      expect(journal.slice(0, viewer.seen.length)).toBe(viewer.seen);
    }
  }

  /**
   * Expects each approved call to have run exactly once, and no other. A call of a process that lost the log may instead have an
   * unknown outcome in its answer.
   */
  private async expectApprovedOnce(log: RaceLog): Promise<void> {
    const approved = [...log.decisions].filter(([, decision]) => decision === 'approved').map(([question]) => question);
    const sent = this.post.requests.map(({ body }) => (JSON.parse(body) as { text: string }).text);
    expect(new Set(sent).size).toBe(sent.length);
    expect(sent.filter((question) => !approved.includes(question))).toEqual([]);
    for (const question of approved.filter((each) => !sent.includes(each))) {
      const journal = await log.journalOf(log.turns.get(question)!);
      expect([question, journal]).toEqual([
        question,
        expect.stringMatching(/"error_type":"outcome_unknown"|"code":"interrupted"/),
      ]);
      this.unknown++;
    }
  }

  async close(): Promise<void> {
    this.over.abort();
    for (const end of this.ends) await end();
  }

  private async loseLeader(): Promise<void> {
    await pause(ROUND_MS / 2);
    await this.backing.eventStoreDb.loseLeader();
    this.losses++;
  }

  private async sometime(begin: () => Promise<void>): Promise<void> {
    await pause(this.random.next() * ROUND_MS);
    await begin();
  }

  /** Repeats a request until it is not refused temporarily. */
  private async insisted<T>(ask: () => Promise<T | undefined>): Promise<T> {
    for (const until = performance.now() + OVER_MS_MAX; performance.now() < until; await pause(COME_AGAIN_MS)) {
      const done = await ask();
      if (done !== undefined) return done;
      this.refusals++;
    }
    throw new Error('Nobody could be served any more.');
  }

  private responded(expected: readonly number[], send: () => Promise<Response>): Promise<Streamed> {
    return this.insisted(async () => {
      const response = await send().then(streamed, unlessCut);
      if (response === undefined || response.status === 503) return undefined;
      if (!expected.includes(response.status)) throw new Error(`${response.status}: ${response.text}`);
      return response;
    });
  }

  private clientAt(number: number): Client {
    return this.clients[number % this.clients.length]!;
  }

  private async prepare(): Promise<void> {
    const [client] = this.clients as [Client];
    const created = async (path: string, body: object) =>
      (await (await client.post(`/api/${path}`, body)).json()) as { id: string };
    const { id } = await created('create_tool', {
      name: 'api_tool',
      displayName: 'Cards',
      description: 'Sends cards',
      config: { actions: { send_card: this.cardAction() } },
      status: true,
    });
    const agent = { name: 'Guide', description: 'Knows', chunks: 4, retriever: 'classic', prompt_id: 'default', tools: [id] };
    this.agentId = (await created('create_agent', { ...agent, status: 'published' })).id;
    this.hook = await webhookPath(client, this.agentId);
  }

  private cardAction() {
    return {
      name: 'send_card',
      method: 'POST',
      url: `${this.post.url}/send_card`,
      description: 'Sends a card',
      active: true,
      require_approval: true,
      body: { type: 'object', properties: { text: { type: 'string', description: '', filled_by_llm: true } } },
    };
  }

  /** Each racer tries to take the stream. All must report the same taker. */
  private async takeOnce(stream: string): Promise<void> {
    const takers = await this.atOnce(RACERS, (number) => {
      const taken: RaceTaken = { type: 'RaceTaken', data: { by: `racer ${number}` } };
      const streams = this.streams[number % this.streams.length]!;
      const take = () => streams.transact(stream, race, (by) => (by === undefined ? [taken] : []), cause);
      return this.insisted(() => take().then(({ state }) => state, unlessAway));
    });
    expect([stream, new Set(takers).size]).toEqual([stream, 1]);
    this.promised.takers.set(stream, takers[0]!);
  }

  /** Asks the same question with the same key from several clients. Each must get the same complete answer. */
  private async askOnce(question: string): Promise<void> {
    await this.atOnce(ASKERS, (number) => this.view(question, number));
  }

  private async deliverOnce(key: string): Promise<void> {
    const tasks = await this.atOnce(SENDERS, async (number) => {
      const headers = { 'idempotency-key': key };
      const { text } = await this.responded([200], () => this.clientAt(number).post(this.hook, { key }, headers));
      return (JSON.parse(text) as { task_id: string }).task_id;
    });
    expect([key, new Set(tasks).size]).toEqual([key, 1]);
    this.promised.tasks.set(key, tasks[0]!);
  }

  /**
   * Several clients decide on a pending call at once, half approve and half deny. At most one is told that its decision counted.
   */
  private async decideOnce(question: string): Promise<void> {
    const paused = await this.view(question, 0, { agent_id: this.agentId });
    const conversation_id = paused.frames.find(({ data }) => data.type === 'id')!.data['id'];
    const decided = await this.atOnce(DECIDERS, async (number) => {
      const decision = number % 2 === 0 ? 'approved' : 'denied';
      const body = { conversation_id, tool_actions: [{ call_id: callOf(question), decision }] };
      const { status } = await this.responded([200, 409], () => this.clientAt(number).post('/stream', body));
      return status === 200 ? [decision] : [];
    });
    const [decision, ...others] = decided.flat();
    expect([question, others]).toEqual([question, []]);
    if (decision !== undefined) this.promised.decisions.set(question, decision);
  }

  private async view(question: string, number: number, more: object = {}): Promise<Viewer> {
    const body = { question, visibility: 'listed', ...more };
    const viewer = new Viewer({ client: this.clientAt(number), body, idempotencyKey: question, asksAgain: true });
    this.viewers.push(viewer);
    await viewer.watch(this.over.signal);
    this.refusals += viewer.refusals;
    return viewer;
  }

  private atOnce<T>(count: number, begin: (number: number) => Promise<T>): Promise<T[]> {
    return Promise.all(Array.from({ length: count }, (_, number) => begin(number)));
  }
}

const each = (count: number, begin: (number: number) => Promise<void>) =>
  Array.from({ length: count }, (_, number) => () => begin(number));

const unlessAway = (error: unknown): undefined => {
  if (!(error instanceof StoreUnavailable)) throw error;
};

/** Ignores a connection that breaks because both sides close and reuse it at the same moment. */
const unlessCut = (error: unknown): undefined => {
  if (!(error instanceof TypeError && error.message === 'fetch failed')) throw error;
};

const callOf = (question: string): string => question.replace(' ', '-');

/** Asks for a card to be sent, which requires approval. Every other question is answered. */
function answer({ messages }: CompletionRequest) {
  const said = messages.at(-1)!;
  const text = String(said.content);
  return said.role !== 'tool' && text.startsWith('Card ')
    ? [call(callOf(text), 'send_card', { text })]
    : say('It ', 'is ', 'so.');
}

/** The whole story, from the first race to the last check. */
export async function raceStory(plan: RacePlan, backing: EventStoreDbBacking): Promise<void> {
  const story = await RaceStory.begin(plan, backing);
  try {
    await story.run();
    await story.expectOnceEach();
    process.stdout.write(`${story.summary}\n`);
  } catch (error) {
    // The error alone does not explain much without the processes' logs.
    throw new Error(`Seed ${plan.seed}: ${String(error)}\n${story.output}`, { cause: error });
  } finally {
    await story.close();
  }
}
