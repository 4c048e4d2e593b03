import { AwsV4Signer } from 'aws4fetch';
import type { Clock } from '../../../kernel/clock.js';
import type { OutgoingResponse } from '../../../platform/outgoing/outgoing-http.port.js';
import { textOf } from '../../../platform/outgoing/response-text.policy.js';
import type { S3Origin } from '../source/source.events.js';
import { PageNotFetched, refusedBy, type RemoteRequests } from './remote-requests.js';
import { type FileContent, type FileStore, type StoredFiles, StoreOutOfReach } from './file-store.js';
import type { StoredFile } from './stored-file.policy.js';
import { errorCodeIn, listingIn, versionIn } from './s3-listing.policy.js';
import { s3EndpointOf } from './s3-request.policy.js';

export type S3Credentials = Readonly<{ accessKeyId: string; secretAccessKey: string }>;

/** The number of list requests. Each returns at most a thousand keys. */
const LISTINGS_MAX = 100;
const LISTING_BYTES_MAX = 4 * 1024 * 1024;
/** The number of keys after which listing stops, far more than files are read. */
const FILES_MAX = 50_000;

const BY_CODE: Readonly<Record<string, string>> = {
  AccessDenied: 'These credentials do not allow the bucket to be read.',
  AllAccessDisabled: 'Access to the bucket is disabled.',
  AuthorizationHeaderMalformed: 'The bucket is in another region.',
  InvalidAccessKeyId: 'The store does not know this access key.',
  InvalidObjectState: 'It is archived, and has to be restored first.',
  NoSuchBucket: 'There is no such bucket.',
  PermanentRedirect: 'The bucket is in another region.',
  RequestTimeTooSkewed: 'The clock of this service differs too much from that of the store.',
  SignatureDoesNotMatch: 'The store refuses the secret access key.',
};

/** The objects of a bucket under a prefix, by ListObjectsV2 and GetObject, each request signed (AWS Signature Version 4). */
export class S3Bucket implements FileStore {
  constructor(
    private readonly parts: Readonly<{ requests: RemoteRequests; clock: Clock }>,
    private readonly origin: S3Origin,
    private readonly credentials: S3Credentials,
  ) {}

  async list(): Promise<StoredFiles> {
    const listed = await this.parts.requests.attempted(async () => {
      const files: StoredFile[] = [];
      let next: string | undefined;
      for (let part = 0; part < LISTINGS_MAX; part++) {
        const listing = await this.part(next);
        files.push(...listing.files);
        if (listing.next === undefined) return { files, isCut: false };
        if (listing.next === next) break;
        next = listing.next;
        if (files.length >= FILES_MAX) break;
      }
      return { files, isCut: true };
    });
    if (listed instanceof PageNotFetched) throw new StoreOutOfReach(listed);
    return listed;
  }

  read({ path, version }: StoredFile): Promise<FileContent | PageNotFetched> {
    return this.parts.requests.attempted(async () => {
      const answer = await this.ask(path.split('/').map(encodeURIComponent).join('/'));
      if (answer.truncated) throw new PageNotFetched('It has become too large.', false);
      return { bytes: answer.body, version: versionIn(answer.headers['etag'] ?? '') || version };
    });
  }

  private async part(next: string | undefined) {
    const query = new URLSearchParams({ 'list-type': '2', 'max-keys': '1000', 'encoding-type': 'url' });
    if (this.origin.prefix !== '') query.set('prefix', this.origin.prefix);
    if (next !== undefined) query.set('continuation-token', next);
    // The signature is computed with a blank as %20.
    const answer = await this.ask(`?${query.toString().replaceAll('+', '%20')}`, LISTING_BYTES_MAX);
    const listing = answer.truncated ? undefined : await listingIn(textOf(answer));
    if (!listing) throw new PageNotFetched('The store did not answer with a list of files.', true);
    return listing;
  }

  private async ask(what: string, bytesMax?: number): Promise<OutgoingResponse> {
    const { accessKeyId, secretAccessKey } = this.credentials;
    const { bucket, region } = this.origin;
    const url = `${s3EndpointOf(this.origin)}/${encodeURIComponent(bucket)}${what.startsWith('?') ? what : `/${what}`}`;
    const datetime = this.parts.clock
      .now()
      .toISOString()
      .replace(/[:-]|\.\d{3}/g, '');
    const signer = new AwsV4Signer({ url, accessKeyId, secretAccessKey, service: 's3', region, datetime });
    const signed = await signer.sign();
    const headers = Object.fromEntries(signed.headers.entries());
    const answer = await this.parts.requests.send(signed.url.href, headers, bytesMax);
    if (answer.status >= 300) throw this.refusal(answer);
    return answer;
  }

  /** Reports only the error code, because the store's message may contain parts of the credentials. */
  private refusal(answer: OutgoingResponse): PageNotFetched {
    const region = answer.headers['x-amz-bucket-region'];
    if (region !== undefined && /^[a-z\d-]{1,40}$/.test(region) && region !== this.origin.region) {
      return new PageNotFetched(`The bucket is in the region ${region}.`, false);
    }
    const known = BY_CODE[errorCodeIn(textOf(answer)) ?? ''];
    return known === undefined ? refusedBy(answer.status) : new PageNotFetched(known, false);
  }
}
