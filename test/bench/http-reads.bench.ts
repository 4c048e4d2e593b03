import postgres from 'postgres';
import { fillWithConversations } from '../support/conversation-log.js';
import { eventually } from '../support/eventually.js';
import { type Bench, type Figure, interleaved, median, warmUp, WARM_UP_SECONDS } from './report.js';
import { fillReadModel } from './listed-conversations.js';
import { startService } from './measured-service.js';
import { startProgram } from './program.js';
import { postStream, read } from './token-reader.js';

const CONVERSATIONS = 5_000;
const AT_ONCE = 16;
const ROUNDS = 5;
const SECONDS = 2;
const ALONE = 300;
const QUESTION = 'paced 20 tokens 0 ms';

/** The reads per second of `AT_ONCE` concurrent readers. */
async function perSecond(url: string, seconds: number): Promise<number> {
  const since = performance.now();
  const until = since + seconds * 1000;
  let count = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (; performance.now() < until; count++) await read(url, {}, {});
    }),
  );
  return (count * 1000) / (performance.now() - since);
}

async function millisecondsOf(url: string): Promise<number> {
  const since = performance.now();
  await read(url, {}, {});
  return performance.now() - since;
}

/** Asks a question. Returns the id of its message. */
async function shortAnswer(url: string): Promise<string> {
  let text = '';
  await read(...postStream(url, QUESTION), { onText: (piece) => void (text += piece) });
  return /"message_id":"([^"]+)"/.exec(text)![1]!;
}

/** The most frequent reads over HTTP, compared with the cheapest response of the same server. */
export const bench: Bench = {
  name: 'http-reads',
  title: `Reads over HTTP, alone and ${AT_ONCE} at once, with ${CONVERSATIONS} conversations`,
  async run(context) {
    const model = await startProgram('paced-model');
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1` });
    const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
    await fillReadModel(sql, 'local', CONVERSATIONS - 1, 1);
    await sql.unsafe('analyze conversations.conversation; analyze conversations.turn');
    await fillWithConversations(sql, 1);
    const messageId = await shortAnswer(service.url);
    const ofLog = async () =>
      (
        await sql<{ id: string }[]>`select conversation_id as id from conversations.conversation where started_at < '2026-02-01'`
      )[0]?.id;
    await eventually(async () => (await ofLog()) !== undefined);
    const conversationId = await ofLog();
    await sql.end();
    const urls = {
      health: `${service.url}/api/health`,
      replay: `${service.url}/api/messages/${messageId}/events`,
      list: `${service.url}/api/get_conversations`,
      conversation: `${service.url}/api/get_single_conversation?id=${conversationId}`,
    };
    const together = (seconds: number) => ({
      health: () => perSecond(urls.health, seconds),
      replay: () => perSecond(urls.replay, seconds),
      list: () => perSecond(urls.list, seconds),
      conversation: () => perSecond(urls.conversation, seconds),
    });
    const single = {
      health: () => millisecondsOf(urls.health),
      replay: () => millisecondsOf(urls.replay),
      list: () => millisecondsOf(urls.list),
      conversation: () => millisecondsOf(urls.conversation),
    };
    await warmUp(together(SECONDS));
    const alone = await interleaved(ALONE, single);
    const rates = await interleaved(ROUNDS, together(SECONDS));
    await Promise.all([service.stop(), model.stop()]);
    const health = median(rates.health);
    const figuresOf = (what: string, name: keyof typeof urls, times: number, atMostMs?: number): Figure[] => [
      {
        name: `${what}, alone, median`,
        value: median(alone[name]),
        unit: 'ms',
        baseline: { name: '/api/health', value: median(alone.health) },
        ...(atMostMs !== undefined && { target: { atMost: atMostMs } }),
      },
      {
        name: `${what}, ${AT_ONCE} at once`,
        value: median(rates[name]),
        unit: '/s',
        baseline: { name: '/api/health', value: health },
      },
      {
        name: `${what}, ${AT_ONCE} at once: times /api/health`,
        value: median(rates[name]) / health,
        unit: '×',
        target: { atLeast: times },
      },
    ];
    return {
      figures: [
        ...figuresOf('replay of a short answer', 'replay', 0.4, 1.5),
        ...figuresOf('get_conversations', 'list', 0.35),
        ...figuresOf('get_single_conversation', 'conversation', 0.5),
      ],
      notes: [
        `Medians of ${ROUNDS} rounds of ${SECONDS} s, in turns, and of ${ALONE} reads each, after ${WARM_UP_SECONDS} s of the same load. 30 of ${CONVERSATIONS} conversations are listed. The conversation that is read has two turns.`,
      ],
    };
  },
};
