import { describe, expect, it } from '@jest/globals';
import {
  CHAT_ANSWER_PARTS,
  CHAT_PARTS,
  contentOf,
  INPUT_PARTS,
  OUTPUT_PARTS,
  type PartReaders,
  RESULT_PARTS,
} from './parts.policy.js';

const ID = '6f9619ff-8b86-4011-b42d-00c04fc964ff';
const dataUrl = (mimeType: string) => `data:${mimeType};base64,aGk=`;
const bytes = Buffer.from('hi');
const image = (url: unknown) => ({ type: 'image_url', image_url: { url } });
const file = (fields: object) => ({ type: 'file', file: fields });

const attachedIn = (part: object, readers: PartReaders) => contentOf([part], 'c', readers).attached;
const refusal = (param: string, why: string) =>
  expect.objectContaining({ code: 'invalid-request', message: `${param} ${why}`, details: { param } });

describe('content', () => {
  it.each([
    [null, ''],
    [undefined, ''],
    ['A', 'A'],
    [[], ''],
    [
      [
        { type: 'text', text: 'A' },
        { type: 'text', text: 'B' },
      ],
      'A\nB',
    ],
  ])('%j has the text %j', (content, text) => expect(contentOf(content, 'c', CHAT_PARTS)).toEqual({ text, attached: [] }));

  it('may mix texts with files', () =>
    expect(contentOf([image(dataUrl('image/png')), { type: 'text', text: 'A' }, file({ file_id: ID })], 'c', CHAT_PARTS)).toEqual(
      {
        text: 'A',
        attached: [
          { place: 'c[0]', bytes, filename: 'attached.png' },
          { place: 'c[2].file', attachmentId: ID, filename: '' },
        ],
      },
    ));

  it.each([
    [7, 'c', 'must be a string or an array of parts.'],
    [['A'], 'c[0]', 'must be an object.'],
    [[{ type: 'audio' }], 'c[0].type', 'audio is not supported: parts are text, image_url, file.'],
    [[{}], 'c[0].type', 'undefined is not supported: parts are text, image_url, file.'],
    [[{ type: 'toString' }], 'c[0].type', 'toString is not supported: parts are text, image_url, file.'],
    [[{ type: 'text', text: 7 }], 'c[0].text', 'must be a string.'],
    [[{ type: 'image_url', image_url: 'A' }], 'c[0].image_url', 'must be an object.'],
    [[{ type: 'file', file: 'A' }], 'c[0].file', 'must be an object.'],
  ])('%j is refused', (content, param, why) => expect(() => contentOf(content, 'c', CHAT_PARTS)).toThrow(refusal(param, why)));
});

describe('a file in the request', () => {
  it.each([
    ['image/png', 'png'],
    ['image/jpeg', 'jpg'],
    ['image/jpg', 'jpg'],
    ['image/gif', 'gif'],
    ['image/webp', 'webp'],
    ['application/pdf', 'pdf'],
    ['application/vnd.api+json', 'txt'],
    ['x'.repeat(100), 'txt'],
  ])('of the type %s is named attached.%s', (mimeType, extension) =>
    expect(attachedIn(image(dataUrl(mimeType)), CHAT_PARTS)).toEqual([
      { place: 'c[0]', bytes, filename: `attached.${extension}` },
    ]),
  );

  it.each([
    7,
    undefined,
    'https://example.com/a,b.png',
    'data:image/png;base64',
    'data:image/png,hi',
    'data:;base64,aGk=',
    'data:image/png;base64,',
    dataUrl('x'.repeat(101)),
    ` ${dataUrl('image/png')}`,
  ])('is refused if its URL is %j', (url) =>
    expect(() => attachedIn(image(url), CHAT_PARTS)).toThrow(
      refusal('c[0].image_url.url', 'must be a data URL in base64: nothing is fetched from other addresses.'),
    ),
  );

  it('keeps the name that the caller gives it', () => {
    const named = (filename: unknown) =>
      attachedIn(file({ file_data: dataUrl('application/pdf'), filename }), CHAT_PARTS)[0]!.filename;
    expect([named('plan.pdf'), named(''), named(null)]).toEqual(['plan.pdf', 'attached.pdf', 'attached.pdf']);
    expect(() => named(7)).toThrow(refusal('c[0].file.filename', 'must be a string.'));
  });
});

describe('a file that was uploaded before', () => {
  it('takes precedence over bytes', () =>
    expect(attachedIn(file({ file_id: ID, file_data: dataUrl('image/png') }), CHAT_PARTS)).toEqual([
      { place: 'c[0].file', attachmentId: ID, filename: '' },
    ]));
  it('is refused if its id is none', () =>
    expect(() => attachedIn(file({ file_id: 'A' }), CHAT_PARTS)).toThrow(
      refusal('c[0].file.file_id', 'is the id of no attachment.'),
    ));
  it('is not fetched from a URL', () =>
    expect(() => attachedIn(file({ file_url: 'https://example.com' }), CHAT_PARTS)).toThrow(
      refusal('c[0].file.file_url', 'is not supported: send file_data or file_id.'),
    ));
});

describe('the input of a response', () => {
  const url = dataUrl('image/png');
  it.each([
    [
      { type: 'input_image', image_url: url },
      { place: 'c[0]', bytes, filename: 'attached.png' },
    ],
    [
      { type: 'input_image', image_url: url, file_id: ID },
      { place: 'c[0]', attachmentId: ID, filename: '' },
    ],
    [
      { type: 'input_file', file_data: url, filename: 'a.png' },
      { place: 'c[0]', bytes, filename: 'a.png' },
    ],
    [
      { type: 'input_file', file_id: ID },
      { place: 'c[0]', attachmentId: ID, filename: '' },
    ],
  ])('accepts the part %j', (part, attached) => expect(attachedIn(part, INPUT_PARTS)).toEqual([attached]));

  it.each([
    [{ type: 'input_image', image_url: 'A' }, 'c[0].image_url'],
    [{ type: 'input_image', file_id: 'A' }, 'c[0].file_id'],
    [{ type: 'input_file', file_data: 'A' }, 'c[0].file_data'],
  ])('refuses the part %j', (part, param) =>
    expect(() => attachedIn(part, INPUT_PARTS)).toThrow(expect.objectContaining({ details: { param } })),
  );
});

it.each<[string, PartReaders, object]>([
  ['an input', INPUT_PARTS, { type: 'input_text', text: 'A' }],
  ['an answer in messages', CHAT_ANSWER_PARTS, { type: 'text', text: 'A' }],
  ['a refusal in messages', CHAT_ANSWER_PARTS, { type: 'refusal', refusal: 'A' }],
  ['an answer in items', OUTPUT_PARTS, { type: 'output_text', text: 'A' }],
  ['a refusal in items', OUTPUT_PARTS, { type: 'refusal', refusal: 'A' }],
  ['an answer in items, as an input', OUTPUT_PARTS, { type: 'input_text', text: 'A' }],
  ['a result in messages', RESULT_PARTS, { type: 'text', text: 'A' }],
  ['a result in items', RESULT_PARTS, { type: 'input_text', text: 'A' }],
])('%s has text', (_, readers, part) => expect(contentOf([part], 'c', readers).text).toBe('A'));
