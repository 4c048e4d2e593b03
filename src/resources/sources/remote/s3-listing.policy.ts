import { readTags } from '../../../platform/outgoing/read-tags.policy.js';
import type { StoredFile } from './stored-file.policy.js';

/** One part of a bucket's list, and the token that requests the next. */
export type S3Listing = Readonly<{ files: readonly StoredFile[]; next: string | undefined }>;

const FIELDS = ['Key', 'Size', 'ETag', 'NextContinuationToken', 'IsTruncated', 'EncodingType'];
const FIELD_CHARACTERS_MAX = 8_192;
const VERSION_CHARACTERS_MAX = 100;

/** Parses an answer of ListObjectsV2. Undefined if it is something else or incomplete. */
export async function listingIn(xml: string): Promise<S3Listing | undefined> {
  const files: StoredFile[] = [];
  const top = new Map<string, string>();
  let isListing = false;
  let object: Map<string, string> | undefined;
  let text: string | undefined;
  const isWhole = await readTags(
    xml,
    {
      onopentag: (name) => {
        if (name === 'ListBucketResult') isListing = true;
        else if (name === 'Contents') object = new Map();
        else if (FIELDS.includes(name)) text = '';
      },
      ontext: (piece) => {
        if (text !== undefined && text.length < FIELD_CHARACTERS_MAX) text += piece;
      },
      onclosetag: (name) => {
        if (name === 'Contents') {
          const file = object && fileOf(object, top.get('EncodingType') !== undefined);
          if (file) files.push(file);
          object = undefined;
        } else if (text !== undefined && FIELDS.includes(name)) {
          (object ?? top).set(name, text);
          text = undefined;
        }
      },
    },
    { xmlMode: true },
  );
  if (!isListing || !isWhole) return undefined;
  const next = top.get('IsTruncated') === 'true' ? top.get('NextContinuationToken') : undefined;
  return { files, next: next === '' ? undefined : next };
}

/** The code of an error, which contains no part of the request. */
export function errorCodeIn(xml: string): string | undefined {
  return /<Code>([A-Za-z]{1,60})<\/Code>/.exec(xml)?.[1];
}

/** The version that an ETag stands for. A proxy that compresses answers marks their ETags as weak. */
export const versionIn = (etag: string): string => etag.replace(/^(W\/)?"|"$/g, '').slice(0, VERSION_CHARACTERS_MAX);

/** Undefined for keys that are folders or that a URL cannot name. */
function fileOf(object: ReadonlyMap<string, string>, isEncoded: boolean): StoredFile | undefined {
  const key = keyOf(object.get('Key') ?? '', isEncoded);
  const size = Number(object.get('Size') ?? NaN);
  const version = versionIn(object.get('ETag') ?? '');
  const isNamed = key !== undefined && key !== '' && !key.endsWith('/') && !key.split('/').some((step) => /^\.{1,2}$/.test(step));
  return isNamed && Number.isSafeInteger(size) && size >= 0 && version !== '' ? { path: key, size, version } : undefined;
}

function keyOf(written: string, isEncoded: boolean): string | undefined {
  try {
    return isEncoded ? decodeURIComponent(written.replaceAll('+', ' ')) : written;
  } catch {
    return undefined;
  }
}
