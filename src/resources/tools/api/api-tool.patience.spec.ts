import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { callContext, configuredTool } from '../../../../test/support/used-tool.js';
import { OutgoingHttp, type OutgoingRequest, type OutgoingResponse } from '../../../platform/outgoing/outgoing-http.port.js';
import { ToolFailed } from '../toolbox/tool-kind.port.js';
import { API_CALL_MS, ApiTool } from './api-tool.js';

/** A server that never answers. */
class SilentHttp extends OutgoingHttp {
  readonly fetch: typeof globalThis.fetch = () => Promise.reject(new Error('not asked'));
  readonly asked: OutgoingRequest[] = [];
  override check = () => Promise.resolve();
  override request(_: string, request: OutgoingRequest): Promise<OutgoingResponse> {
    this.asked.push(request);
    return new Promise((_resolve, reject) =>
      request.signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
    );
  }
}

let http: SilentHttp;
let begun: AbortController;

beforeEach(() => {
  jest.useFakeTimers();
  http = new SilentHttp();
  begun = new AbortController();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Starts a call of an action and returns an object that receives its error. */
async function calling(job?: Readonly<{ begun: AbortSignal; msMax: number }>) {
  const background = job && { ...job, report: () => undefined };
  const kind = new ApiTool(http);
  const act = { name: 'act', url: 'https://reports.example/act', method: 'POST', description: 'Acts', active: true };
  const tool = await configuredTool(kind, { actions: { act } });
  const ended: { error?: unknown } = {};
  const run = kind.run(tool.definition.actions[0]!, {}, tool, callContext(background && { background }));
  run.catch((error: unknown) => (ended.error = error));
  return ended;
}

it('a call that runs in the foreground has the usual time limit', async () => {
  await calling();
  expect(http.asked[0]!.timeoutMs).toBe(API_CALL_MS);
});

it('a call that may continue in the background has the usual time limit while it does not', async () => {
  const ended = await calling({ begun: begun.signal, msMax: 1_000_000 });
  await jest.advanceTimersByTimeAsync(API_CALL_MS - 1);
  expect(ended).toEqual({});
  await jest.advanceTimersByTimeAsync(1);
  expect(ended.error).toEqual(new ToolFailed('reports.example did not answer within 60 seconds.'));
});

it('a call that continues in the background has the time limit of jobs', async () => {
  const ended = await calling({ begun: begun.signal, msMax: 1_000_000 });
  begun.abort();
  await jest.advanceTimersByTimeAsync(10 * API_CALL_MS);
  expect(ended).toEqual({});
  expect(http.asked[0]!.timeoutMs).toBe(1_000_000);
});
