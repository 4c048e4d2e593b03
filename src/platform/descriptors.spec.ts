import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { checkDescriptors, DESCRIPTORS_MIN, descriptorsMax, requireDescriptors } from './descriptors.js';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'verbatim-descriptors-'))));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['Max open files            1024                 4096                 files', 1024],
  ['Max open files            unlimited            unlimited            files', Infinity],
  ['something else', 1024],
])('the limit is read from the line "%s"', (line, max) => {
  const file = join(folder, 'limits');
  writeFileSync(
    file,
    `Limit                     Soft Limit           Hard Limit           Units\nMax cpu time  9 9 seconds\n${line}\n`,
  );
  expect(descriptorsMax(file)).toBe(max);
});

it('without information from the system, a usual limit is assumed and no descriptor counts as used', async () => {
  expect(descriptorsMax(join(folder, 'nowhere'))).toBe(1024);
  await checkDescriptors(1, join(folder, 'nowhere'));
});

it('a process with almost no free descriptors fails the check', async () => {
  rmSync(join(folder, 'limits'), { force: true });
  for (let number = 0; number < 61; number++) writeFileSync(join(folder, String(number)), '');
  await checkDescriptors(64, folder);
  writeFileSync(join(folder, 'one more'), '');
  await expect(checkDescriptors(64, folder)).rejects.toThrow('61 of 64 file descriptors are in use.');
});

it('a process with a low limit of descriptors is refused with the reason', () => {
  expect(() => requireDescriptors(DESCRIPTORS_MIN - 1)).toThrow(/^This process may open 255 files, and needs 256 at least/);
  requireDescriptors(DESCRIPTORS_MIN);
});
