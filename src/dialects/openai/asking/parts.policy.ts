import { isId } from '../../../kernel/ids.js';
import { isAbsent, refused } from './refusals.policy.js';
import { isJsonObject, type JsonObject } from '../../../resources/json-object.policy.js';

/** A picture or file of a message: its bytes, or the id of an earlier upload. */
export type AttachedPart = Readonly<{ place: string; filename: string } & ({ bytes: Buffer } | { attachmentId: string })>;

/** The text and the files of a message. */
export type Content = Readonly<{ text: string; attached: readonly AttachedPart[] }>;

type Part = Readonly<{ text: string } | { attached: AttachedPart }>;
type PartReader = (part: JsonObject, place: string) => Part;

export type PartReaders = Readonly<Record<string, PartReader>>;

/** @throws Rejection invalid-request, which names the part that is not accepted */
export function contentOf(content: unknown, place: string, readers: PartReaders): Content {
  if (isAbsent(content)) return { text: '', attached: [] };
  if (typeof content === 'string') return { text: content, attached: [] };
  if (!Array.isArray(content)) throw refused(place, 'must be a string or an array of parts.');
  const parts = content.map((part: unknown, index) => partOf(part, `${place}[${index}]`, readers));
  return {
    text: parts.flatMap((part) => ('text' in part ? part.text : [])).join('\n'),
    attached: parts.flatMap((part) => ('attached' in part ? part.attached : [])),
  };
}

function partOf(part: unknown, place: string, readers: PartReaders): Part {
  if (!isJsonObject(part)) throw refused(place, 'must be an object.');
  const type = String(part['type']);
  if (!Object.hasOwn(readers, type))
    throw refused(`${place}.type`, `${type} is not supported: parts are ${Object.keys(readers).join(', ')}.`);
  return readers[type]!(part, place);
}

const textIn =
  (field: string): PartReader =>
  (part, place) => {
    if (typeof part[field] !== 'string') throw refused(`${place}.${field}`, 'must be a string.');
    return { text: part[field] };
  };

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/jpg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
};

/**
 * The bytes of a data URL. Pictures and files must be in the request, because the service does not fetch other URLs for a caller.
 */
function bytesOf(url: unknown, place: string): Readonly<{ bytes: Buffer; filename: string }> {
  const comma = typeof url === 'string' ? url.indexOf(',') : -1;
  const kind = comma < 0 ? '' : (url as string).slice(0, comma);
  const [, mimeType] = /^data:([\w.+/-]{1,100});base64$/.exec(kind) ?? [];
  const bytes = Buffer.from(mimeType === undefined ? '' : (url as string).slice(comma + 1), 'base64');
  if (bytes.length === 0) throw refused(place, 'must be a data URL in base64: nothing is fetched from other addresses.');
  return { bytes, filename: `attached.${EXTENSIONS[mimeType!] ?? 'txt'}` };
}

/** An earlier upload. `at`: the place of its id in the request. */
export function uploaded(id: unknown, place: string, at = place): AttachedPart {
  if (!isId(id)) throw refused(at, 'is the id of no attachment.');
  return { place, attachmentId: id, filename: '' };
}

function fileIn(file: JsonObject, place: string): Part {
  const { file_id: id, file_data: data, filename } = file;
  if (!isAbsent(file['file_url'])) throw refused(`${place}.file_url`, 'is not supported: send file_data or file_id.');
  if (!isAbsent(filename) && typeof filename !== 'string') throw refused(`${place}.filename`, 'must be a string.');
  if (!isAbsent(id)) return { attached: uploaded(id, place, `${place}.file_id`) };
  const read = bytesOf(data, `${place}.file_data`);
  return { attached: { place, ...read, ...(filename && { filename }) } };
}

export const CHAT_PARTS: PartReaders = {
  text: textIn('text'),
  image_url: ({ image_url: image }, place) => {
    if (!isJsonObject(image)) throw refused(`${place}.image_url`, 'must be an object.');
    return { attached: { place, ...bytesOf(image['url'], `${place}.image_url.url`) } };
  },
  file: ({ file }, place) => {
    if (!isJsonObject(file)) throw refused(`${place}.file`, 'must be an object.');
    return fileIn(file, `${place}.file`);
  },
};

/** Messages of the assistant have only text, also if it refused to answer. */
export const CHAT_ANSWER_PARTS: PartReaders = { text: textIn('text'), refusal: textIn('refusal') };

export const INPUT_PARTS: PartReaders = {
  input_text: textIn('text'),
  input_image: ({ image_url: url, file_id: id }, place) => ({
    attached: isAbsent(id) ? { place, ...bytesOf(url, `${place}.image_url`) } : uploaded(id, place, `${place}.file_id`),
  }),
  input_file: fileIn,
};

export const OUTPUT_PARTS: PartReaders = { output_text: textIn('text'), refusal: textIn('refusal'), input_text: textIn('text') };

/** The result of a call has only text. A function of the caller that finds a picture must describe it. */
export const RESULT_PARTS: PartReaders = { text: textIn('text'), input_text: textIn('text') };
