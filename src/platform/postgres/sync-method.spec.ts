import { expect, it } from '@jest/globals';
import { syncMethodFor } from './sync-method.js';

const EXT4 = 0xef53;
const OVERLAY = 0x794c_7630;

const linux = (release: string, type = EXT4) => ({ platform: 'linux', release, typeOf: () => type }) as const;

it.each(['5.8.0', '5.15.0-91-generic', '6.1.102', '10.0.0-rc1'])('writes a whole file system at once on Linux %s', (release) => {
  expect(syncMethodFor('/data', linux(release))).toBe('syncfs');
});

it.each(['4.19.0', '5.7.19', 'unknown'])('writes file by file on Linux %s, which may not report a failed write', (release) => {
  expect(syncMethodFor('/data', linux(release))).toBe('fsync');
});

it('writes file by file on a file system that it does not know', () => {
  expect(syncMethodFor('/data', linux('6.1.0', OVERLAY))).toBe('fsync');
});

it('writes file by file where Postgres has no other method', () => {
  expect(syncMethodFor('/data', { ...linux('23.5.0'), platform: 'darwin' })).toBe('fsync');
});

it('writes file by file if the file system is unknown', () => {
  const typeOf = () => {
    throw new Error('ENOSYS');
  };
  expect(syncMethodFor('/data', { ...linux('6.1.0'), typeOf })).toBe('fsync');
});
