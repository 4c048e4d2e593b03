import { withoutTrailing } from '../../../kernel/trailing.js';
import type { S3Origin } from '../source/source.events.js';

const REGION_DEFAULT = 'us-east-1';
const BUCKET = /^[a-z\d][\w.-]{1,253}$/i;
const REGION = /^[a-z\d][a-z\d-]{0,62}$/i;
const PREFIX_CHARACTERS_MAX = 1_024;
const ENDPOINT_CHARACTERS_MAX = 1_024;
const KEY = /^[\x21-\x7e]{1,500}$/;

/** The bucket and the keys to it, or the reason why the request is invalid. */
export type S3Request = Readonly<{ origin: S3Origin; secrets: Readonly<Record<string, string>> }> | Readonly<{ refused: string }>;

export const S3_KEY_FIELDS = ['aws_access_key_id', 'aws_secret_access_key'] as const;

/** Validates the fields of a client's form. */
export function s3RequestIn(data: Readonly<Record<string, unknown>>): S3Request {
  const missing = [...S3_KEY_FIELDS, 'bucket'].filter((field) => textIn(data[field]) === '');
  if (missing.length > 0) return { refused: `Missing required fields: ${missing.join(', ')} in data` };
  const [accessKeyId, secretAccessKey] = S3_KEY_FIELDS.map((field) => textIn(data[field]));
  if (![accessKeyId, secretAccessKey].every((key) => KEY.test(key!)))
    return { refused: 'The access key contains characters that no key has' };
  const bucket = textIn(data['bucket']);
  if (!BUCKET.test(bucket) || bucket.includes('..')) return { refused: 'bucket is not a valid bucket name' };
  const region = textIn(data['region']) || REGION_DEFAULT;
  if (!REGION.test(region)) return { refused: 'region is not a valid region name' };
  const prefix = typeof data['prefix'] === 'string' ? data['prefix'].replace(/^\/+/, '') : '';
  if (prefix.length > PREFIX_CHARACTERS_MAX) return { refused: `prefix has more than ${PREFIX_CHARACTERS_MAX} characters` };
  const endpointUrl = endpointIn(textIn(data['endpoint_url']), bucket);
  if (endpointUrl === undefined)
    return { refused: 'endpoint_url must be an http or https address without credentials, query or fragment' };
  const origin: S3Origin = {
    kind: 's3',
    urls: [`s3://${bucket}/${prefix}`],
    bucket,
    prefix,
    region: region.toLowerCase(),
    endpointUrl,
    credentialsId: null,
  };
  return { origin, secrets: { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey! } };
}

/** The base address of the store. The first segment of a path is the bucket. */
export const s3EndpointOf = ({ endpointUrl, region }: Pick<S3Origin, 'endpointUrl' | 'region'>): string =>
  endpointUrl ?? `https://s3.${region}.amazonaws.com`;

/** Null if no endpoint is given, undefined if it is invalid. */
function endpointIn(given: string, bucket: string): string | null | undefined {
  if (given === '') return null;
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `https://${given}`);
  const isPlain = url && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
  if (!isPlain || given.length > ENDPOINT_CHARACTERS_MAX) return undefined;
  // The provider's console shows the address of the bucket instead of its endpoint.
  if (/\.digitaloceanspaces\.com$/.test(url.host) && url.host.startsWith(`${bucket}.`))
    url.host = url.host.slice(bucket.length + 1);
  return withoutTrailing(url.href, '/');
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');
