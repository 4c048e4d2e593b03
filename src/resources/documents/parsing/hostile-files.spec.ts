import { expect, it } from '@jest/globals';
import { HOSTILE_FILES } from '../../../../test/support/hostile-files.js';
import { Rejection } from '../../../kernel/rejection.js';
import { PARSING_LIMITS } from '../limits.js';
import { parseDocument } from './parse-document.js';

const BYTES = 20_000;
const REFUSALS = ['document-unreadable', 'document-too-large'];

/** A benchmark measures how long each takes. */
it.each(HOSTILE_FILES.map((file) => [file.name, file] as const))(
  'a hostile file is read, or refused with its name: %s',
  async (_, { make }) => {
    const file = make(BYTES);
    const outcome = await parseDocument(file, PARSING_LIMITS).catch((error: unknown) => error);
    if (Array.isArray(outcome)) return;
    expect(outcome).toBeInstanceOf(Rejection);
    const { code, message } = outcome as Rejection;
    expect(REFUSALS).toContain(code);
    expect(message).toContain(file.filename);
  },
);
