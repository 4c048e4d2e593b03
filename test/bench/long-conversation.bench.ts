import { randomUUID } from 'node:crypto';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { ask, conversation } from '../../src/dialogue/conversation/conversation.decider.js';
import { conclude, seal, startTurn } from '../../src/dialogue/conversation/turn.decider.js';
import { type ConversationEvent, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { turnSettings } from '../support/turn-settings.js';
import { type Bench, type Figure, interleaved, median } from './report.js';
import { type MeasuredService, startService } from './measured-service.js';
import { startProgram } from './program.js';
import { reactionsCaughtUp } from './reactions-caught-up.js';
import { cause } from './stored-schedules.js';
import { read } from './token-reader.js';

const SHORT = 10;
const LONG = 10_000;
const ROUNDS = 60;
const WARM_UP_ROUNDS = 10;
const EVENTS_AT_ONCE = 200;
/** An ordinary answer. The built-in limit of a history, 128,000 tokens, holds about 300 of these. */
const ANSWER = 'The sky is blue because air scatters short waves more than long ones. '.repeat(20);

/** Appends a conversation of this many answered questions like the service. */
async function conversationOf(turns: number, streams: Streams): Promise<string> {
  const conversationId = randomUUID();
  const stream = conversationStream(conversationId);
  let known = await streams.fold(stream, conversation);
  let state = known.state;
  let events: ConversationEvent[] = [];
  const flush = async () => {
    const batch = events;
    events = [];
    known = await streams.transact(stream, conversation, () => batch, cause, known);
  };
  const start = { conversationId, ownerId: 'local', agentId: null, agentKeyId: null, name: `${turns} turns` } as const;
  const parts = { answer: ANSWER, thought: '', sources: [], toolCalls: [], structured: false, modelId: 'paced', usage: null };
  for (let index = 0; index < turns; index++) {
    const about = { conversationId, turnId: randomUUID() };
    const question = { ...about, question: `Question ${index}: why?`, index: null, requestId: 'bench', settings: turnSettings() };
    for (const decide of [
      ask(question, { ...start, visibility: 'listed', sharedUsage: false, history: [] }),
      startTurn(about.turnId, 'bench'),
      conclude({ type: 'TurnAnswered', data: { ...about, ...parts } }, 'bench'),
      seal({ ...about, lastId: 5, frames: 6, sha256: 'ab' }),
    ]) {
      const decided = decide(state);
      state = decided.reduce(conversation.evolve, state);
      events.push(...decided);
    }
    if (events.length >= EVENTS_AT_ONCE) await flush();
  }
  await flush();
  return conversationId;
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begunAt = performance.now();
  await work();
  return performance.now() - begunAt;
};

/** The newest message of a conversation, and the times until its question was accepted and answered. */
type Asked = { messageId: string; acceptedMs: number; answeredMs: number };

async function asked({ url }: MeasuredService, conversation_id: string): Promise<Asked> {
  let messageId = '';
  let acceptedMs = NaN;
  const begunAt = performance.now();
  const body = { question: 'paced 1 tokens 0 ms', conversation_id };
  await read(
    `${url}/stream`,
    { method: 'POST', body },
    {
      onText: (text) => {
        const id = /"message_id":"([^"]+)"/.exec(text)?.[1];
        if (id && !messageId) [messageId, acceptedMs] = [id, performance.now() - begunAt];
        return undefined;
      },
    },
  );
  return { messageId, acceptedMs, answeredMs: performance.now() - begunAt };
}

async function found(url: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** The cost of a turn in a short conversation and in a very long one. */
export const bench: Bench = {
  name: 'long-conversation',
  title: `Turn ${LONG} of a conversation against turn ${SHORT}`,
  async run(context) {
    const model = await startProgram('paced-model');
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1` });
    const store = new PostgresEventStore({ url: service.databaseUrl, deadlineMs: 30_000 });
    const streams = new Streams(store, systemTiming);
    const ids = { short: await conversationOf(SHORT - 1, streams), long: await conversationOf(LONG - 1, streams) };
    await store.close();
    const whole = (id: string) => found(`${service.url}/api/get_single_conversation?id=${id}`);
    const hasAll = async () => ((await whole(ids.long)) as { queries: unknown[] }).queries.length >= LONG - 1;
    while (!(await hasAll().catch(() => false))) await systemTiming.pause(250);
    context.say('waiting for the reactions to the appended events');
    await reactionsCaughtUp(service.databaseUrl);

    const last = { short: '', long: '' };
    const answered: Record<keyof typeof ids, number[]> = { short: [], long: [] };
    const subjects = (which: keyof typeof ids) => {
      const events = () => read(`${service.url}/api/messages/${last[which]}/events`, {}, {});
      return {
        ask: async () => {
          const { messageId, acceptedMs, answeredMs } = await asked(service, ids[which]);
          last[which] = messageId;
          answered[which].push(answeredMs);
          return acceptedMs;
        },
        replay: () => timed(events),
        digest: () => timed(() => found(`${service.url}/api/messages/${last[which]}/digest`)),
        mark: () => timed(() => found(`${service.url}/api/conversations/${ids[which]}/read`, { method: 'POST' })),
      };
    };
    const [short, long] = [subjects('short'), subjects('long')];
    const measure = async (rounds: number) => {
      const measured = Object.fromEntries(STEPS.map((step) => [step, { short: [] as number[], long: [] as number[] }]));
      for (let round = 0; round < rounds; round++) {
        for (const step of STEPS) {
          const { s, l } = await interleaved(1, { s: short[step], l: long[step] });
          measured[step]!.short.push(...s);
          measured[step]!.long.push(...l);
        }
      }
      return measured;
    };
    await measure(WARM_UP_ROUNDS);
    answered.short.length = answered.long.length = 0;
    const measured = await measure(ROUNDS);
    const wholeMs = await interleaved(5, {
      short: () => timed(() => whole(ids.short)),
      long: () => timed(() => whole(ids.long)),
    });
    await Promise.all([service.stop(), model.stop()]);
    const against = (name: string, value: number, baseline: number, times?: number): Figure => ({
      name,
      value,
      unit: 'ms',
      baseline: { name: `turn ${SHORT}`, value: baseline },
      ...(times !== undefined && { target: { atMost: times * baseline } }),
    });
    return {
      figures: [
        ...STEPS.map((step) =>
          against(`${step}, median`, median(measured[step]!.long), median(measured[step]!.short), TIMES_MAX),
        ),
        against('the whole answer, with its history, median', median(answered.long), median(answered.short)),
        against(`the whole conversation, median`, median(wholeMs.long), median(wholeMs.short)),
      ],
      notes: [`The history of the long conversation fills the model’s limit; that of the short one has ${SHORT - 1} answers.`],
    };
  },
};

const STEPS = ['ask', 'replay', 'digest', 'mark'] as const;
const TIMES_MAX = 1.5;
