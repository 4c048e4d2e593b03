import { expect, it } from '@jest/globals';
import postgres from 'postgres';
import { isConnectionError, isPassing } from './database.js';
import { NoAnswer } from './pool.js';

const ofServer = (code: string) => new postgres.PostgresError({ code, message: code } as unknown as string);
const ofClient = (code: string, syscall?: string) => Object.assign(new Error(code), { code, ...(syscall && { syscall }) });

it.each([
  ['an administrator ends the connection', ofServer('57P01')],
  ['the server has crashed', ofServer('57P02')],
  ['the server is starting', ofServer('57P03')],
  ['a statement takes too long', ofServer('57014')],
  ['there are too many connections', ofServer('53300')],
  ['the disk is full', ofServer('53100')],
  ['the server has become a replica', ofServer('25006')],
  ['the connection breaks', ofServer('08006')],
  ['nothing listens', ofClient('ECONNREFUSED')],
  ['the socket does not exist', ofClient('ENOENT', 'connect')],
  ['the queue of the socket is full', ofClient('EAGAIN', 'connect')],
  ['the connection is reset', ofClient('ECONNRESET')],
  ['the server closes the connection', ofClient('CONNECTION_CLOSED')],
  ['this process has too many files open', ofClient('EMFILE')],
  ['the server does not answer', new NoAnswer()],
])('an error is a connection error and may pass when %s', (_, error) => {
  expect([isConnectionError(error), isPassing(error)]).toEqual([true, true]);
});

it.each([
  ['a deadlock', ofServer('40P01')],
  ['a serialization failure', ofServer('40001')],
])('%s is not a connection error and may pass', (_, error) => {
  expect([isConnectionError(error), isPassing(error)]).toEqual([false, true]);
});

it.each([
  ['a constraint', ofServer('23505')],
  ['a mistake in the statement', ofServer('42601')],
  ['an error that only looks like the server', ofClient('57P01')],
  ['a file that does not exist', ofClient('ENOENT', 'open')],
  ['something else', new Error('no code')],
  ['nothing', undefined],
])('%s is final', (_, error) => {
  expect([isConnectionError(error), isPassing(error)]).toEqual([false, false]);
});
