import { type Bench, interleaved, median, quantile } from './report.js';
import { startService } from './measured-service.js';
import { microsNow, startProgram } from './program.js';
import { type Call, postCompletion, postStream, read } from './token-reader.js';

const WARM_UP_ROUNDS = 100;
const ROUNDS = 400;
const QUESTION = 'paced 3 tokens 5 ms';

/** How long, in ms, from the request to its first token. */
async function firstToken([url, call]: [string, Call]): Promise<number> {
  const askedAt = microsNow();
  let first = 0;
  await read(url, call, { onToken: (_, cameAt) => (first ||= cameAt) });
  return (first - askedAt) / 1000;
}

/** What it costs that every frame is in the log before it is shown: the way of a question to its first token, one at a time. */
export const bench: Bench = {
  name: 'first-token',
  title: 'First token: a question to the service, against the same question to the model itself',
  async run(context) {
    const model = await startProgram('paced-model');
    const bare = await startProgram('bare-server', model.url);
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1` });
    const subjects = {
      ours: () => firstToken(postStream(service.url, QUESTION)),
      direct: () => firstToken(postCompletion(model.url, QUESTION)),
      bare: () => firstToken(postStream(bare.url, QUESTION)),
    };
    await interleaved(WARM_UP_ROUNDS, subjects);
    const { ours, direct, bare: relayed } = await interleaved(ROUNDS, subjects);
    const overhead = ours.map((ms, round) => ms - direct[round]!);
    const relayOverhead = relayed.map((ms, round) => ms - direct[round]!);
    await Promise.all([service.stop(), bare.stop(), model.stop()]);
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
          target: { atMost: 10 },
        },
        {
          name: 'overhead, p99',
          value: quantile(overhead, 0.99),
          unit: 'ms',
          baseline: { name: 'bare relay', value: quantile(relayOverhead, 0.99) },
          target: { atMost: 30 },
        },
      ],
      notes: [`${ROUNDS} questions to each, one at a time, in turns; overhead is taken question by question.`],
    };
  },
};
