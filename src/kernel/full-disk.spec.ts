import { expect, it } from '@jest/globals';
import { BlobsUnavailable } from './blobs.js';
import { StoreUnavailable } from './event-sourcing/event-store.js';
import { isDiskFull } from './full-disk.js';

const failure = (code: string, message = code) => Object.assign(new Error(message), { code });

it.each<[string, unknown, boolean]>([
  ['a file on a full disk', failure('ENOSPC'), true],
  ['a file beyond its quota', failure('EDQUOT'), true],
  ['a full disk of Postgres', failure('53100'), true],
  ['a file error of Postgres that names it', failure('58030', 'could not extend file: No space left on device'), true],
  ['a quota of Postgres', failure('XX000', 'could not write to file "base/1/2": Disk quota exceeded'), true],
  ['a store that is away because of it', new StoreUnavailable('away', { cause: failure('53100') }), true],
  ['blobs that are away because of it', new BlobsUnavailable('away', { cause: failure('ENOSPC') }), true],
  ['another file error of Postgres', failure('58030', 'could not read block 7'), false],
  ['a bug of Postgres', failure('XX000', 'cache lookup failed'), false],
  ['a file that grew beyond a limit of its process', failure('EFBIG'), false],
  ['a text of a user that names it', new Error('No space left on device'), false],
  ['too many connections', failure('53300'), false],
  ['a store that is away', new StoreUnavailable('away'), false],
  ['no error', 'ENOSPC', false],
  ['nothing', undefined, false],
])('tells a full disk from everything else: %s', (_what, error, expected) => {
  expect(isDiskFull(error)).toBe(expected);
});
