import { describe, expect, it } from '@jest/globals';
import { holdAnswer, holdFrame, UnlikeReference } from './held-to-reference.js';

const answered = (method: string, path: string, status: number, body: unknown) =>
  holdAnswer({
    ...{ method, url: `http://127.0.0.1${path}`, status, type: 'application/json' },
    text: () => Promise.resolve(JSON.stringify(body)),
  });

describe('a response that suites receive', () => {
  it.each([
    ['GET', '/api/health', 200, { status: 'ok' }],
    ['GET', '/api/get_agent?id=x', 404, { success: false, message: 'Not there' }],
    ['GET', '/api/nowhere', 404, { anything: true }],
    ['GET', '/api/ready', 503, { success: false, message: 'The service is shutting down.', error: 'shutting_down' }],
  ])('passes if the reference describes it: %s %s', async (method, path, status, body) => {
    await expect(answered(method, path, status, body)).resolves.toBeUndefined();
  });

  it.each([
    ['a status', 'GET', '/api/health', 409, { success: false, message: 'No' }],
    ['a field', 'GET', '/api/health', 200, { status: 'ok', since: 1 }],
    ['a field that is missing', 'POST', '/api/agents/folders/', 201, { id: 'f', name: 'F' }],
    ['a code', 'GET', '/api/get_agent?id=x', 404, { success: false, message: 'Not there', error: 'never_heard_of' }],
  ])('fails because the reference does not describe %s', async (_, method, path, status, body) => {
    await expect(answered(method, path, status, body)).rejects.toThrow(UnlikeReference);
  });

  it('fails if it is a frame that the reference does not describe', () => {
    const stream = { url: 'http://127.0.0.1/stream', status: 200 };
    expect(() => holdFrame(stream, { type: 'answer', answer: 'So.' })).not.toThrow();
    expect(() => holdFrame(stream, { type: 'answer', text: 'So.' })).toThrow(UnlikeReference);
  });
});
