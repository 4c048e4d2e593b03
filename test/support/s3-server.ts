import { createHash, createHmac } from 'node:crypto';
import { type Answering, LocalServer, type ReceivedRequest } from './local-server.js';

type Answer = Parameters<Answering>[1];

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const etagOf = (object: string) => `"${sha256(object).slice(0, 32)}"`;

/** A store with one bucket, `docs`, that behaves like S3 and accepts only requests signed with its keys. */
export class S3Server {
  readonly accessKeyId = 'AKIATESTTESTTEST';
  readonly secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYSECRETKEY';
  readonly region = 'eu-test-1';
  readonly objects = new Map<string, string>();
  /** The number of keys per page of a listing. */
  keysAtOnce = 2;
  instead: (request: ReceivedRequest, response: Answer) => boolean = () => false;

  private constructor(readonly server: LocalServer) {}

  static async started(): Promise<S3Server> {
    const store = new S3Server(await LocalServer.started());
    store.server.answer = (request, response) => store.answer(request, response);
    return store;
  }

  /** The fields as in a client's form. */
  get data() {
    const { accessKeyId, secretAccessKey, region, server } = this;
    return {
      aws_access_key_id: accessKeyId,
      aws_secret_access_key: secretAccessKey,
      bucket: 'docs',
      region,
      endpoint_url: server.url,
    };
  }

  asked(): readonly string[] {
    return this.server.requests.splice(0).map(({ path }) => path);
  }

  private answer(request: ReceivedRequest, response: Answer): void {
    if (this.instead(request, response)) return;
    const url = new URL(request.path, this.server.url);
    if (!this.isSigned(request, url)) {
      // Stores echo parts of the request. None of this may appear in a response of the service.
      const about = `<AWSAccessKeyId>${this.accessKeyId}</AWSAccessKeyId><StringToSign>${escaped(request.headers.authorization ?? '')}</StringToSign>`;
      return void response.writeHead(403).end(`<Error><Code>SignatureDoesNotMatch</Code>${about}</Error>`);
    }
    if (!/^\/docs(\/|$)/.test(url.pathname)) return void response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    if (url.searchParams.get('list-type') === '2') return void response.end(this.list(url.searchParams));
    const object = this.objects.get(decodeURIComponent(url.pathname.slice('/docs/'.length)));
    if (object === undefined) return void response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    response.setHeader('etag', etagOf(object)).end(object);
  }

  private list(query: URLSearchParams): string {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '')).sort();
    const start = Number(query.get('continuation-token') ?? 0);
    const part = keys.slice(start, start + this.keysAtOnce);
    const isTruncated = start + part.length < keys.length;
    const contents = part.map((key) => {
      const object = this.objects.get(key)!;
      return `<Contents><Key>${escaped(encoded(key))}</Key><ETag>${etagOf(object).replaceAll('"', '&quot;')}</ETag><Size>${Buffer.byteLength(object)}</Size></Contents>`;
    });
    const next = isTruncated ? `<NextContinuationToken>${start + part.length}</NextContinuationToken>` : '';
    return `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>docs</Name><EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
  }

  /** Checks a signature of AWS Signature Version 4, independently of the service's implementation. */
  private isSigned({ method, headers }: ReceivedRequest, url: URL): boolean {
    const [, scope = '', names = '', signature] =
      /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([\da-f]{64})$/.exec(
        headers.authorization ?? '',
      ) ?? [];
    const [keyId, day = '', region = '', service = '', end] = scope.split('/');
    const time = String(headers['x-amz-date'] ?? '');
    if (
      keyId !== this.accessKeyId ||
      region !== this.region ||
      service !== 's3' ||
      end !== 'aws4_request' ||
      !time.startsWith(day)
    )
      return false;
    const query = [...url.searchParams]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&');
    const path = url.pathname
      .split('/')
      .map((step) => encoded(decodeURIComponent(step)))
      .join('/');
    const signed = names
      .split(';')
      .map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`)
      .join('');
    const canonical = [method, path, query, signed, names, headers['x-amz-content-sha256']].join('\n');
    const text = ['AWS4-HMAC-SHA256', time, `${day}/${region}/${service}/${end}`, sha256(canonical)].join('\n');
    const key = [day, region, service, end].reduce<Buffer | string>(
      (before, part) => hmac(before, part),
      `AWS4${this.secretAccessKey}`,
    );
    return hmac(key, text).toString('hex') === signature;
  }
}
