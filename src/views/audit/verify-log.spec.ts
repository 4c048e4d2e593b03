import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const PROGRAM = join(import.meta.dirname, '../../../docs/examples/audit/verify-log.mjs');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verbatim-verify-log-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const lineOf = (position: number, stream: string, revision: number, data: unknown = {}) =>
  JSON.stringify({ position: String(position), stream, revision, type: 'PromptUpdated', data });
const hashOf = (line: string) => createHash('sha256').update(line).digest('hex');
const sealed = ['a', 'b'].map((stream, position) => lineOf(position, stream, 0));
const seal = lineOf(2, 'logSeals-log', 0, {
  number: 1,
  after: '-1',
  upTo: '1',
  events: sealed.map((line, index) => ['ab'[index], 0, hashOf(line)]),
});
const SEAL = `1:${hashOf(seal)}`;
const complete = [...sealed, seal];
const withNewer = [...complete, lineOf(3, 'c', 0), lineOf(4, 'c', 1)];

function ran(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function verified(lines: readonly string[], ...args: readonly string[]) {
  writeFileSync(join(folder, 'export.ndjson'), lines.map((line) => `${line}\n`).join(''));
  return ran('export.ndjson', ...args);
}

describe('verify-log.mjs', () => {
  it.each([[[]], [['--strict']], [[SEAL, '--strict']]])('ends with 0 if seals cover all events: %j', (args) => {
    expect(verified(complete, ...args)).toEqual({
      status: 0,
      stdout:
        '2 events in 1 seals, 0 of them purged; 0 events without a seal yet.\n' +
        `No changed, added or removed event was found up to position 1.\nNewest seal: ${SEAL}\n`,
      stderr: '',
    });
  });

  it.each([
    [0, []],
    [3, ['--strict']],
  ])('says how many of the newest events have no seal, and ends with %i with the options %j', (status, args) => {
    expect(verified(withNewer, ...args)).toEqual({
      status,
      stdout:
        '2 events in 1 seals, 0 of them purged; 2 events without a seal yet.\n' +
        'No changed, added or removed event was found up to position 1.\n' +
        `The events without a seal are not checked. Export the log again after the next seal.\nNewest seal: ${SEAL}\n`,
      stderr: '',
    });
  });

  it.each([[[]], [['--strict']]])('ends with 1 for a changed event, also if others have no seal: %j', (args) => {
    const { status, stdout } = verified(withNewer.with(1, lineOf(1, 'b', 0, { forged: true })), ...args);
    expect(stdout).toMatch(/^b@0 is not what seal 1 was made of\.\n.*\nProblems: 1\.\n/);
    expect(status).toBe(1);
  });

  it.each([
    ['a missing file', 'none.ndjson', /^The export cannot be read: ENOENT: [^\n]+'none\.ndjson'\n$/],
    ['a folder', '.', /^The export cannot be read: EISDIR: [^\n]+\n$/],
  ])('names %s on one line, and ends with 2', (_, path, message) => {
    expect(ran(path)).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(message) });
  });

  it.each([[[]], [['export.ndjson', 'seal']], [['export.ndjson', SEAL, 'more']], [['export.ndjson', '--strickt']]])(
    'prints its usage with the exit codes, and ends with 2, for the arguments %j',
    (args) => {
      expect(ran(...args)).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/Usage: [^]+Exit codes:/) });
    },
  );

  it('prints its usage if asked', () => {
    expect(ran('--help')).toEqual({ status: 0, stdout: expect.stringMatching(/^Usage: [^]+Exit codes:/), stderr: '' });
  });
});
