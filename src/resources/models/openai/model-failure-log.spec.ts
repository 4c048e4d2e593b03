import { Logger } from '@nestjs/common';
import { expect, it, jest } from '@jest/globals';
import { APIConnectionError, APIError } from 'openai';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { MODEL_FAILURE_LOGGED_EVERY_MS, ModelFailureLog } from './model-failure-log.js';
import { modelFailed } from './openai-failures.js';

const SECRET = 'sk-quoted-by-the-endpoint';
const refusal = (status: number) =>
  APIError.generate(status, { error: { message: `Bad key ${SECRET}` } }, undefined, new Headers());
const unreachable = () => {
  const cause = new Error('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:9') });
  return modelFailed('unavailable', new APIConnectionError({ cause }));
};

function logged() {
  const timing = new VirtualTiming();
  const lines: unknown[] = [];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(line));
  return { log: new ModelFailureLog(timing), lines, timing };
}

it('names the model, the kind of failure and its reason, and quotes no endpoint', () => {
  const { log, lines } = logged();
  log.note('The model gpt', modelFailed('not-authorised', refusal(401)));
  log.note('The model gpt', unreachable());
  log.note('The model gpt', modelFailed('bad-reply', new SyntaxError(`Unexpected token in ${SECRET}`)));
  expect(lines).toEqual([
    expect.stringMatching(/^The model gpt failed: not-authorised \(HTTP 401\)\./),
    expect.stringMatching(/^The model gpt failed: unavailable \(connect ECONNREFUSED 127\.0\.0\.1:9\)\./),
    expect.stringMatching(/^The model gpt failed: bad-reply\./),
  ]);
  expect(lines.join()).not.toContain(SECRET);
});

it('logs each kind once while it lasts, and again later', async () => {
  const { log, lines, timing } = logged();
  for (let times = 0; times < 3; times++) log.note('The model gpt', unreachable());
  log.note('The model gpt', modelFailed('overloaded', refusal(429)));
  expect(lines).toHaveLength(2);
  await timing.pause(MODEL_FAILURE_LOGGED_EVERY_MS);
  log.note('The model gpt', unreachable());
  expect(lines).toHaveLength(3);
});

it('logs nothing of questions that are too long or that the model refuses', () => {
  const { log, lines } = logged();
  log.note('The model gpt', modelFailed('context-too-long', refusal(400)));
  log.note('The model gpt', modelFailed('refused', refusal(400)));
  expect(lines).toEqual([]);
});
