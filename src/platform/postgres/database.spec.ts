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
  ['nobody listens', ofClient('ECONNREFUSED')],
  ['there is no socket to connect to', ofClient('ENOENT', 'connect')],
  ['too many wait to be connected', ofClient('EAGAIN', 'connect')],
  ['the line is cut', ofClient('ECONNRESET')],
  ['the server closes the connection', ofClient('CONNECTION_CLOSED')],
  ['this process has too many files open', ofClient('EMFILE')],
  ['the server does not answer', new NoAnswer()],
])('says nothing about the statement when %s', (_, error) => {
  expect([isConnectionError(error), isPassing(error)]).toEqual([true, true]);
});

it.each([
  ['a deadlock', ofServer('40P01')],
  ['a serialization failure', ofServer('40001')],
])('may pass the next time after %s', (_, error) => {
  expect([isConnectionError(error), isPassing(error)]).toEqual([false, true]);
});

it.each([
  ['a constraint', ofServer('23505')],
  ['a mistake in the statement', ofServer('42601')],
  ['an error that only looks like the server', ofClient('57P01')],
  ['a file that is not there', ofClient('ENOENT', 'open')],
  ['something else', new Error('no code')],
  ['nothing', undefined],
])('is final after %s', (_, error) => {
  expect([isConnectionError(error), isPassing(error)]).toEqual([false, false]);
});
