import { type Bench, type Figure, interleaved, median, quantile, warmUp, WARM_UP_SECONDS } from './report.js';
import { startService } from './measured-service.js';
import { microsNow, startProgram } from './program.js';
import { rawCommits } from './raw-commits.js';
import { type Call, postCompletion, postStream, read } from './token-reader.js';

const ROUNDS = 400;
const AT_ONCE = 16;
const ROUNDS_AT_ONCE = 40;
/** V8 optimises other functions again when questions are concurrent. Their first thousand take up to twice the time. */
const WARM_UP_AT_ONCE_SECONDS = 20;
const QUESTION = 'paced 3 tokens 5 ms';

/** The time from a request to its first token, in milliseconds. */
async function firstToken([url, call]: [string, Call]): Promise<number> {
  const askedAt = microsNow();
  let first = 0;
  await read(url, call, { onToken: (_, cameAt) => (first ||= cameAt) });
  return (first - askedAt) / 1000;
}

/** The times to the first token of concurrent questions. */
const firstTokens = (asked: [string, Call]): Promise<number[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, () => firstToken(asked)));

/** The cost of storing every frame before it is shown: the time from a question to its first token. */
export const bench: Bench = {
  name: 'first-token',
  title: 'First token: a question to the service, against the same question to the model itself',
  async run(context) {
    const model = await startProgram('paced-model');
    const bare = await startProgram('bare-server', model.url);
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1` });
    const raw = await rawCommits(service);
    const asked = {
      ours: postStream(service.url, QUESTION),
      direct: postCompletion(model.url, QUESTION),
      bare: postStream(bare.url, QUESTION),
    };
    const subjects = {
      ours: () => firstToken(asked.ours),
      direct: () => firstToken(asked.direct),
      bare: () => firstToken(asked.bare),
      raw: () => raw.commit(),
    };
    await warmUp(subjects);
    const { ours, direct, bare: relayed, raw: commits } = await interleaved(ROUNDS, subjects);
    const atOnce = {
      ours: async () => median(await firstTokens(asked.ours)),
      direct: async () => median(await firstTokens(asked.direct)),
      bare: async () => median(await firstTokens(asked.bare)),
    };
    await warmUp(atOnce, WARM_UP_AT_ONCE_SECONDS);
    const together = await interleaved(ROUNDS_AT_ONCE, atOnce);
    await raw.close();
    await Promise.all([service.stop(), bare.stop(), model.stop()]);
    const overhead = ours.map((ms, round) => ms - direct[round]!);
    const relayOverhead = relayed.map((ms, round) => ms - direct[round]!);
    const overheadTogether = median(together.ours) - median(together.direct);
    const commit = { p50: median(commits), p99: quantile(commits, 0.99) };
    const inCommits = (name: string, ms: number, commitMs: number, atMost: number): Figure => ({
      name: `${name}, in raw commits`,
      value: ms / commitMs,
      unit: '×',
      target: { atMost },
    });
    return {
      figures: [
        {
          name: 'first token, median',
          value: median(ours),
          unit: 'ms',
          baseline: { name: 'the model itself', value: median(direct) },
        },
        {
          name: 'overhead, median',
          value: median(overhead),
          unit: 'ms',
          baseline: { name: 'bare relay', value: median(relayOverhead) },
        },
        {
          name: 'overhead, p99',
          value: quantile(overhead, 0.99),
          unit: 'ms',
          baseline: { name: 'bare relay', value: quantile(relayOverhead, 0.99) },
        },
        {
          name: `overhead with ${AT_ONCE} at once, median`,
          value: overheadTogether,
          unit: 'ms',
          baseline: { name: 'bare relay', value: median(together.bare) - median(together.direct) },
        },
        { name: 'raw INSERT … COMMIT, median', value: commit.p50, unit: 'ms' },
        { name: 'raw INSERT … COMMIT, p99', value: commit.p99, unit: 'ms' },
        inCommits('overhead, median', median(overhead), commit.p50, 4),
        inCommits('overhead, p99', quantile(overhead, 0.99), commit.p99, 4),
        inCommits(`overhead with ${AT_ONCE} at once, median`, overheadTogether, commit.p50, 12),
      ],
      notes: [
        `${ROUNDS} questions to each, one at a time, in turns, after ${WARM_UP_SECONDS} s of the same. The overhead is computed per question. Then, after ${WARM_UP_AT_ONCE_SECONDS} s of the same, ${ROUNDS_AT_ONCE} times ${AT_ONCE} concurrent ones.`,
      ],
    };
  },
};
