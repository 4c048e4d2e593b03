import { describe, expect, it } from '@jest/globals';
import { Unavailable } from '../../kernel/rejection.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { failureOf } from './errors.js';

it('a lost connection is recognised as the cause of other errors', () => {
  const lost = Object.assign(new Error('terminating connection'), { code: '57P01' });
  const reported = new Error('The projection could not be read.', { cause: new Error('query failed', { cause: lost }) });
  expect(failureOf(reported, 'r1')).toMatchObject({ status: 503, retryAfterSeconds: 2 });
  expect(failureOf(Object.assign(new Error('duplicate key'), { code: '23505' }), 'r1')).toMatchObject({ status: 500 });
});

it.each([
  ['a statement that took too long', '57014'],
  ['a server that became read-only', '25006'],
  ['a deadlock', '40P01'],
  ['a lock that was not free in time', '55P03'],
  ['a read model without a table that this version reads', '42P01'],
  ['a read model without a column that this version reads', '42703'],
  ['a read model that is not there yet', '3F000'],
])('%s is answered 503 with a retry time, and is logged', (_what, code) => {
  const error = Object.assign(new Error('about table agents.agent'), { code });
  expect(failureOf(error, 'r1')).toMatchObject({
    status: 503,
    code: 'unavailable',
    retryAfterSeconds: 2,
    unexpected: true,
    message: expect.not.stringContaining('agents'),
  });
});

it('a text that no column can hold is answered 400', () => {
  const refused = Object.assign(new Error('invalid byte sequence for encoding "UTF8": 0x00'), { code: '22021' });
  expect(failureOf(refused, 'r1')).toEqual({ status: 400, message: expect.stringContaining('NUL'), json: true });
});

it.each(['EMFILE', 'ENFILE'])('a process with too many open files (%s) is answered 503 with a retry time', (code) => {
  const error = Object.assign(new Error(`${code}: too many open files, open '/data/blobs/1'`), { code });
  expect(failureOf(error, 'r1')).toMatchObject({
    status: 503,
    retryAfterSeconds: 2,
    message: expect.not.stringContaining('/data'),
  });
});

describe('a full disk', () => {
  const DISK_FULL = { status: 503, code: 'disk_full', retryAfterSeconds: 10, message: expect.stringContaining('no space left') };

  it.each([
    ['of a file', Object.assign(new Error("ENOSPC: no space left on device, write '/data/blobs/1'"), { code: 'ENOSPC' })],
    ['of a quota', Object.assign(new Error('EDQUOT'), { code: 'EDQUOT' })],
    ['of Postgres', Object.assign(new Error('could not extend file'), { code: '53100' })],
    ['behind a store that gave up', new StoreUnavailable('away', { cause: Object.assign(new Error('x'), { code: '53100' }) })],
  ])('%s is reported as disk_full, without a path', (_what, error) => {
    expect(failureOf(error, 'r1')).toMatchObject(DISK_FULL);
    expect(failureOf(error, 'r1').message).not.toContain('/data');
  });

  it('that keeps a dependency down is reported for outages only', () => {
    const full = () => true;
    expect(failureOf(new StoreUnavailable('away'), 'r1', {}, full)).toMatchObject(DISK_FULL);
    expect(failureOf(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'r1', {}, full)).toMatchObject(DISK_FULL);
    const gone = (syscall: string) => Object.assign(new Error('x'), { code: 'ENOENT', syscall });
    expect(failureOf(gone('connect'), 'r1', {}, full)).toMatchObject(DISK_FULL);
    expect(failureOf(gone('open'), 'r1', {}, full)).toMatchObject({ status: 500 });
    expect(failureOf(new TypeError('a bug'), 'r1', {}, full)).toMatchObject({ status: 500 });
    expect(failureOf(new StoreUnavailable('away'), 'r1', {}, () => false)).toMatchObject({ status: 503, code: 'unavailable' });
  });
});

it('the message of an Unavailable error is sent to the client', () => {
  const away = new Unavailable('The model does not answer.', { cause: new Error('secret-host:443') });
  expect(failureOf(away, 'r1')).toMatchObject({ status: 503, message: 'The model does not answer.', retryAfterSeconds: 2 });
});

it.each([undefined, null, 'text', { statusCode: 200 }, { statusCode: 'x' }])(
  'a thrown %p is answered 500 with the request id',
  (thrown) => {
    const { status, message } = failureOf(thrown, 'r1');
    expect(status).toBe(500);
    expect(message).toContain('r1');
  },
);
