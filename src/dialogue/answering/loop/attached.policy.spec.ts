import { describe, expect, it } from '@jest/globals';
import type { ReadyAttachment } from '../../../resources/attachments/attachment-shelf.port.js';
import type { ModelDescription } from '../../../resources/models/model/language-model.port.js';
import {
  ATTACHMENTS_SHARE,
  contentTokens,
  NATIVE_BYTES_MAX,
  PICTURE_TOKENS,
  PICTURES_MAX,
  servingsFor,
} from './attached.policy.js';
import { RESERVED_TOKENS } from './messages.policy.js';

const ready = (filename: string, mimeType: string, more: Partial<ReadyAttachment> = {}): ReadyAttachment => ({
  attachmentId: filename,
  filename,
  mimeType,
  blob: { sha256: filename, size: 1_000 },
  text: { text: '' },
  tokens: 0,
  isCut: false,
  pages: null,
  pictures: [],
  ...more,
});
const shown = (count: number, { size = 1_000, mimeType = 'image/png' } = {}) =>
  Array.from({ length: count }, (_, index) => ({ mimeType, blob: { sha256: `${index}`, size } }));
const words = (filename: string, tokens: number, more: Partial<ReadyAttachment> = {}) =>
  ready(filename, 'text/plain', { tokens, ...more });
const picture = (filename: string, mimeType = 'image/png', size = 1_000) =>
  ready(filename, mimeType, { pictures: shown(1, { size, mimeType }) });
const pdf = (pages: number, tokens: number, pictures = pages, more: Partial<ReadyAttachment> = {}) =>
  ready('a.pdf', 'application/pdf', { pages, tokens, pictures: shown(pictures), ...more });

/** A context window in which attachments have room for the given tokens. */
const windowOf = (tokens: number) => RESERVED_TOKENS + tokens / ATTACHMENTS_SHARE;
const served = (attachments: readonly ReadyAttachment[], types: readonly string[], tokens = 100_000) => {
  const { servings, ...rest } = servingsFor(attachments, { attachmentTypes: types } as ModelDescription, windowOf(tokens));
  const brief = servings.map(({ attachment, asFile, pictures, textTokens }) => {
    const how = asFile
      ? 'file'
      : [pictures && `${pictures} pictures`, textTokens && `${textTokens} tokens`].filter(Boolean).join(', ');
    return `${attachment.filename}: ${how}`;
  });
  return { servings: brief, ...rest };
};

describe('a text', () => {
  it('is given completely while there is room, then only its beginning, then not at all', () => {
    expect(served([words('a', 600), words('b', 600), words('c', 600)], [], 1_000)).toEqual({
      servings: ['a: 600 tokens', 'b: 400 tokens'],
      tokens: 1_000,
      notices: ['b was too long: only the beginning of it was read.', 'c was skipped: there was no room for it.'],
    });
  });

  it('has a notice if only its beginning is stored', () => {
    expect(served([words('a', 10, { isCut: true })], []).notices).toEqual(['a was too long: only the beginning of it was read.']);
  });

  it('is left out with a notice if the context window is too small', () => {
    expect(servingsFor([words('a', 10)], undefined, 0)).toMatchObject({ servings: [], tokens: 0, notices: [expect.any(String)] });
  });
});

it('the tokens of a message in parts are the sum of the tokens of its parts', () => {
  const file = { type: 'file', filename: 'a.pdf', dataUrl: 'data:…', tokens: 3_100 } as const;
  const parts = [{ type: 'text', text: 'x'.repeat(35) } as const, { type: 'image', dataUrl: 'data:…' } as const, file];
  expect(contentTokens(parts)).toBe(10 + PICTURE_TOKENS + 3_100);
  expect(contentTokens('x'.repeat(35))).toBe(10);
});

describe('a picture', () => {
  it('is shown to a model that accepts its type, also under the name image/jpg', () => {
    expect(served([picture('a'), picture('b', 'image/jpeg')], ['image/png', 'image/jpg'])).toEqual({
      servings: ['a: 1 pictures', 'b: 1 pictures'],
      tokens: 2 * PICTURE_TOKENS,
      notices: [],
    });
    expect(served([picture('a')], ['image/gif']).notices).toEqual(['a was skipped: the model takes no pictures of its kind.']);
  });

  it.each([
    ['tokens', [picture('a'), picture('b')], 2 * PICTURE_TOKENS - 1],
    ['bytes', [picture('a', 'image/png', NATIVE_BYTES_MAX), picture('b')], 100_000],
  ])('is skipped if there is no room for its %s', (_, pictures, tokens) => {
    expect(served(pictures, ['image/png'], tokens)).toMatchObject({
      servings: ['a: 1 pictures'],
      notices: ['b was skipped: there was no room for it.'],
    });
  });

  it('is skipped beyond the maximum number of pictures', () => {
    const all = Array.from({ length: PICTURES_MAX + 1 }, (_, index) => picture(`${index}`));
    const { servings, notices } = served(all, ['image/png'], 1_000_000);
    expect([servings.length, notices.length]).toEqual([PICTURES_MAX, 1]);
  });
});

describe('a PDF', () => {
  const both = ['image/png', 'application/pdf'];

  it('is given as a file to a model that accepts PDF, if its tokens and bytes fit', () => {
    expect(served([pdf(2, 100)], both)).toEqual({ servings: ['a.pdf: file'], tokens: 100 + 2 * PICTURE_TOKENS, notices: [] });
    expect(served([pdf(2, 100)], ['application/pdf'], 200).servings).toEqual(['a.pdf: 100 tokens']);
    const large = pdf(2, 100, 2, { blob: { sha256: 'x', size: NATIVE_BYTES_MAX + 1 } });
    expect(served([large], both).servings).toEqual(['a.pdf: 2 pictures']);
  });

  it('is shown as pictures of its pages to a model that accepts only pictures', () => {
    expect(served([pdf(2, 100)], ['image/png'])).toEqual({
      servings: ['a.pdf: 2 pictures'],
      tokens: 2 * PICTURE_TOKENS,
      notices: [],
    });
  });

  it('has its text given with priority if not all of its pages fit', () => {
    const room = 100 + PICTURE_TOKENS;
    expect(served([pdf(2, 100)], ['image/png'], room)).toEqual({
      servings: ['a.pdf: 1 pictures, 100 tokens'],
      tokens: room,
      notices: [],
    });
    expect(served([pdf(50, 100, 20)], ['image/png']).servings).toEqual(['a.pdf: 20 pictures, 100 tokens']);
  });

  it('without text is shown as pictures, as many as there are', () => {
    expect(served([pdf(50, 0, 20)], ['image/png'])).toMatchObject({
      servings: ['a.pdf: 20 pictures'],
      notices: ['a.pdf holds no text: the model was shown its first 20 of 50 pages.'],
    });
    expect(served([pdf(2, 0)], [])).toMatchObject({
      servings: [],
      notices: ['a.pdf was skipped: it holds no text, and the model was shown none of its pages.'],
    });
  });
});
