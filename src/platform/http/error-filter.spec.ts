import { expect, it } from '@jest/globals';
import { type ArgumentsHost, Logger } from '@nestjs/common';
import { ErrorFilter } from './error-filter.js';
import { KnownRoutes } from './known-routes.js';

let logged = 0;
const ignore = () => undefined;
Logger.overrideLogger({ log: ignore, warn: ignore, error: () => void logged++ });

/** The number of errors that are logged when a request throws. */
function loggedOf(thrown: unknown, destroyed: boolean): number {
  logged = 0;
  const reply = { sent: true, raw: { destroyed, headersSent: false, destroy: ignore } };
  const request = { url: '/api/stt', id: '1', method: 'POST', routeOptions: {} };
  const host = { switchToHttp: () => ({ getRequest: () => request, getResponse: () => reply }) } as unknown as ArgumentsHost;
  new ErrorFilter(new KnownRoutes(), {}).catch(thrown, host);
  return logged;
}

it('logs an error of a request, but not that its client left', () => {
  const { reason } = AbortSignal.abort() as { reason: unknown };
  expect([loggedOf(reason, true), loggedOf(reason, false), loggedOf(new Error('broken'), true)]).toEqual([0, 1, 1]);
});
