import { expect, it } from '@jest/globals';
import { fileChangeIn } from './file-change-request.policy.js';

const asked = (fields: Readonly<Record<string, unknown>>) => () => fileChangeIn((name) => fields[name]);

it.each(['a\0b', 'a\uD83D'])('files are not added to a directory whose name cannot be stored: %j', (directory) => {
  expect(asked({ operation: 'add', parent_dir: directory })).toThrow(/parent_dir must not hold NUL/);
  // Files that were added to it before can be removed.
  expect(asked({ operation: 'remove_directory', directory_path: directory })()).toEqual({
    operation: 'remove_directory',
    directory,
  });
});
