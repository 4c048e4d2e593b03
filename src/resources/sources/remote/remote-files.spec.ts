import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { GithubServer } from '../../../../test/support/github-server.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { LocalServer, redirect } from '../../../../test/support/local-server.js';
import { MemoryCredentialVault } from '../../../../test/support/memory-credential-vault.js';
import { S3Server } from '../../../../test/support/s3-server.js';
import type { Timing } from '../../../kernel/timing.js';
import { GuardedHttp } from '../../../platform/outgoing/guarded-http.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { GithubOrigin, S3Origin, SourceFile, StoreOrigin } from '../source/source.events.js';
import type { GatheredPages } from './gathering.js';
import { RemoteFiles } from './remote-files.js';
import type { RemoteLimits } from './remote-limits.js';
import { isNothingFetched } from './remote-pages.js';
import { s3RequestIn } from './s3-request.policy.js';

const LIMITS: RemoteLimits = {
  filesMax: 50,
  pagesMax: 1,
  pageBytesMax: 1_000,
  bytesMax: 10_000,
  depthMax: 0,
  pageMs: 30_000,
  totalMs: 60_000,
};
const NOW = new Date('2026-11-23T12:00:00Z');
const TOKEN = 'ghp_verysecrettoken';

let github: GithubServer;
let s3: S3Server;
let stranger: LocalServer;
let web: GuardedHttp;
let pauses: number[];
const vault = new MemoryCredentialVault();
const signal = new AbortController().signal;

beforeAll(async () => {
  [github, s3, stranger] = await Promise.all([GithubServer.started(), S3Server.started(), LocalServer.started()]);
  web = new GuardedHttp({ privateHosts: [github.server.host, s3.server.host, stranger.host] });
});
afterAll(() => Promise.all([web.close(), github.server.close(), s3.server.close(), stranger.close()]));
beforeEach(() => {
  pauses = [];
  for (const store of [github.files, github.links, s3.objects]) store.clear();
  Object.assign(github, { branch: 'main', token: undefined, isTruncated: false, instead: () => false });
  Object.assign(s3, { keysAtOnce: 2, instead: () => false });
  github.asked();
  s3.asked();
  stranger.requests.length = 0;
});

const withoutWaiting: Timing = Object.assign(Object.create(systemTiming) as Timing, {
  pause: (ms: number) => {
    pauses.push(ms);
    return Promise.resolve();
  },
});

const gather = (origin: StoreOrigin, earlier: readonly SourceFile[] = [], limits: Partial<RemoteLimits> = {}) =>
  new RemoteFiles({
    http: web,
    blobs: new InMemoryBlobs(),
    vault,
    limits: { ...LIMITS, ...limits },
    github: { apiBaseUrl: github.apiBaseUrl, rawBaseUrl: github.rawBaseUrl },
    clock: { now: () => NOW },
    timing: withoutWaiting,
  }).gather(origin, 'ann', earlier, signal, () => Promise.resolve());

const repository = (more: Partial<GithubOrigin> = {}): GithubOrigin => ({
  kind: 'github',
  urls: [github.repositoryUrl],
  repository: 'ann/handbook',
  place: null,
  credentialsId: null,
  ...more,
});
const privateRepository = async (token = TOKEN) => repository({ credentialsId: await vault.keep('ann', { accessToken: token }) });

async function bucket(data: object = {}): Promise<S3Origin> {
  const request = s3RequestIn({ ...s3.data, ...data });
  if ('refused' in request || request.origin.kind !== 's3') throw new Error('Refused.');
  return { ...request.origin, credentialsId: await vault.keep('ann', request.secrets) };
}

const names = ({ files }: GatheredPages) => files.map(({ filename }) => filename);
const told = ({ missed }: GatheredPages) => missed.map(({ url, reason, mayPass }) => [url, reason, mayPass]);

describe('a repository', () => {
  it('is read without a token from the public file host, as its readable files', async () => {
    github.files.set('README.md', '# Hi').set('src/main.py', 'print(1)').set('docs/logo.png', 'x').set('docs/a b#1.md', 'A');
    github.files.set('link.md', 'README.md');
    github.links.add('link.md');
    const gathered = await gather(repository());
    expect([names(gathered), told(gathered), gathered.isCut]).toEqual([['README.md', 'docs/a b#1.md', 'src/main.py'], [], false]);
    const api = '/api/v3/repos/ann/handbook';
    expect(github.asked()).toEqual([
      api,
      `${api}/git/trees/main?recursive=1`,
      '/raw/ann/handbook/main/README.md',
      '/raw/ann/handbook/main/docs/a%20b%231.md',
      '/raw/ann/handbook/main/src/main.py',
    ]);
  });

  it('that is private is read with a token, by the API only', async () => {
    github.token = TOKEN;
    github.files.set('README.md', '# Hi');
    expect(names(await gather(await privateRepository()))).toEqual(['README.md']);
    expect(github.asked().some((path) => path.startsWith('/raw/'))).toBe(false);
    expect(told(await gather(repository()))).toEqual([
      [github.repositoryUrl, 'The repository cannot be found. One that is private needs an access token.', false],
    ]);
    expect(told(await gather(await privateRepository('wrong')))).toEqual([
      [github.repositoryUrl, 'GitHub refuses the access token.', false],
    ]);
  });

  it('is read at a place whose branch name may contain slashes', async () => {
    github.branch = 'feature/x';
    github.files.set('docs/a.md', 'A').set('docs-old/b.md', 'B').set('c.md', 'C');
    expect(names(await gather(repository({ place: 'feature/x/docs' })))).toEqual(['docs/a.md']);
    expect(told(await gather(repository({ place: 'gone' })))[0]?.[1]).toContain('or this branch of it, cannot be found');
  });

  it('reads only changed files at the next sync and drops removed files', async () => {
    github.files.set('a.md', 'A').set('b.md', 'B').set('c.md', 'C');
    const before = await gather(repository());
    github.asked();
    github.files.set('b.md', 'B2').delete('c.md');
    const now = await gather(repository(), before.files);
    expect(github.asked().filter((path) => path.startsWith('/raw/'))).toEqual(['/raw/ann/handbook/main/b.md']);
    expect([names(now), now.files[0]]).toEqual([['a.md', 'b.md'], before.files[0]]);
    expect(now.files[1]!.sha256).not.toBe(before.files[1]!.sha256);
  });

  it('keeps a temporarily unavailable file as it was', async () => {
    github.files.set('a.md', 'A').set('b.md', 'B');
    const before = await gather(repository());
    github.files.set('a.md', 'A2').set('b.md', 'B2');
    github.instead = ({ path }, response) => path.endsWith('/b.md') && (response.writeHead(503).end(), true);
    const now = await gather(repository(), before.files);
    expect(now.files[1]).toEqual(before.files[1]);
    expect(told(now)).toEqual([['b.md', 'It answered with HTTP status 503. What was read of it before is kept.', true]]);
  });

  it('keeps a listed file that can no longer be read', async () => {
    github.files.set('a.md', 'A').set('b.md', 'B');
    const before = await gather(repository());
    github.files.set('b.md', 'B2');
    github.instead = ({ path }, response) => path.endsWith('/b.md') && (response.writeHead(403).end(), true);
    const now = await gather(repository(), before.files);
    expect([names(now), told(now)]).toEqual([
      ['a.md', 'b.md'],
      [['b.md', 'It answered with HTTP status 403. What was read of it before is kept.', false]],
    ]);
  });

  it('refuses a file whose hash differs from the tree’s', async () => {
    github.files.set('a.md', 'A').set('b.md', 'B');
    github.instead = ({ path }, response) =>
      path.endsWith('/raw/ann/handbook/main/b.md') && (response.end('pushed meanwhile'), true);
    const gathered = await gather(repository());
    expect([names(gathered), told(gathered)]).toEqual([
      ['a.md'],
      [['b.md', 'It has changed while the repository was read.', true]],
    ]);
  });

  it('is read after a wait if the rate limit ends soon', async () => {
    github.files.set('a.md', 'A');
    let refusals = 2;
    github.instead = (_, response) => {
      if (refusals-- <= 0) return false;
      const reset = String(NOW.getTime() / 1000 + 7);
      const headers = refusals === 1 ? { 'retry-after': '3' } : { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
      response.writeHead(refusals === 1 ? 429 : 403, headers).end('{}');
      return true;
    };
    expect(names(await gather(repository()))).toEqual(['a.md']);
    expect(pauses).toEqual([3_000, 7_000]);
  });

  it('is not read at all if the rate limit lasts long, and the reason names its end', async () => {
    github.token = TOKEN;
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) github.files.set(`${name}.md`, name);
    github.instead = ({ path }, response) => {
      if (!path.includes('/git/blobs/')) return false;
      response.writeHead(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW.getTime() / 1000 + 1_800) }).end();
      return true;
    };
    const gathered = await gather(await privateRepository());
    const reason = "GitHub's limit of requests is used up until 2026-11-23T12:30:00.000Z.";
    expect([gathered.files, told(gathered), isNothingFetched(gathered)]).toEqual([
      [],
      [[github.repositoryUrl, reason, true]],
      true,
    ]);
    expect(pauses).toEqual([]);
    expect(github.asked().filter((path) => path.includes('/git/blobs/')).length).toBeLessThan(7);
  });

  it('that has moved is read with the token on the same server only', async () => {
    github.token = TOKEN;
    github.files.set('a.md', 'A');
    github.instead = ({ path }, response) => {
      if (path === '/api/v3/repos/ann/handbook') redirect(response, '/api/v3/repositories/7', 301);
      else if (path === '/api/v3/repositories/7') response.end('{"default_branch": "main"}');
      else if (path.includes('/git/blobs/')) redirect(response, `${stranger.url}/blob`);
      else return false;
      return true;
    };
    stranger.answer = (_, response) => response.end('A');
    expect(names(await gather(await privateRepository()))).toEqual(['a.md']);
    expect(stranger.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(github.server.requests.find(({ path }) => path.endsWith('/7'))?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it('is not read from an internal address by a redirect', async () => {
    github.files.set('a.md', 'A');
    github.instead = ({ path }, response) =>
      path.startsWith('/raw/') && (redirect(response, 'http://127.0.0.1:1/latest/meta-data'), true);
    expect(told(await gather(repository()))).toEqual([
      ['a.md', '127.0.0.1 may not be reached from here: it is not a public address.', false],
    ]);
  });

  it('is missed with the reason if the connection breaks', async () => {
    github.files.set('a.md', 'A');
    github.instead = ({ path }, response) => {
      if (!path.endsWith('/a.md')) return false;
      response.writeHead(200, { 'content-length': '9' }).write('A', () => response.destroy());
      return true;
    };
    expect(told(await gather(repository()))).toEqual([['a.md', '127.0.0.1 broke the connection off.', true]]);
  });

  it('is missed with the reason if it takes too long', async () => {
    github.files.set('a.md', 'A');
    github.instead = ({ path }) => path.startsWith('/raw/');
    expect(told(await gather(repository(), [], { totalMs: 300 }))[0]?.slice(1)).toEqual([
      'There was no time left to fetch it.',
      true,
    ]);
  });

  it('is missed with the reason if the answer is unexpected', async () => {
    github.instead = (_, response) => (response.end('<html>'), true);
    expect(told(await gather(repository()))[0]?.[1]).toBe('GitHub sent an unexpected answer.');
    github.instead = ({ path }, response) =>
      path.includes('/git/trees/') && (response.end('{"tree": [{"path": 7}, null, {}]}'), true);
    expect(told(await gather(repository()))[0]?.[1]).toBe('It holds no file that can be read.');
  });

  it('is read within the limits', async () => {
    for (const name of ['a', 'b', 'c']) github.files.set(`${name}.md`, name.repeat(100));
    github.files.set('big.md', 'x'.repeat(1_001));
    const few = await gather(repository(), [], { filesMax: 2 });
    expect([names(few), told(few), few.isCut]).toEqual([
      ['a.md', 'b.md'],
      [['big.md', 'It is larger than 1000 bytes.', false]],
      true,
    ]);
    const small = await gather(repository(), [], { bytesMax: 250 });
    expect([names(small), small.isCut]).toEqual([['a.md', 'b.md'], true]);
    github.isTruncated = true;
    expect((await gather(repository())).isCut).toBe(true);
  });
});

describe('a bucket', () => {
  it('is listed in parts, with signed requests', async () => {
    for (const key of ['a.md', 'docs/ü b+c(1)*!.md', 'docs/d.txt', "docs/e'~.csv", 'docs/f.png', 'z.md'])
      s3.objects.set(key, key);
    const gathered = await gather(await bucket());
    expect([names(gathered), told(gathered)]).toEqual([['a.md', 'docs/d.txt', "docs/e'~.csv", 'docs/ü b+c(1)*!.md', 'z.md'], []]);
    expect(s3.asked().filter((path) => path.includes('list-type=2'))).toHaveLength(3);
    expect(names(await gather(await bucket({ prefix: 'docs/ü b' })))).toEqual(['docs/ü b+c(1)*!.md']);
  });

  it('reads only changed files at the next sync and drops removed files', async () => {
    s3.objects.set('a.md', 'A').set('b.md', 'B').set('c.md', 'C');
    const origin = await bucket();
    const before = await gather(origin);
    s3.asked();
    s3.objects.set('b.md', 'B2').delete('c.md');
    const now = await gather(origin, before.files);
    expect(s3.asked().filter((path) => !path.includes('list-type'))).toEqual(['/docs/b.md']);
    expect(names(now)).toEqual(['a.md', 'b.md']);
  });

  it.each([
    [{ aws_secret_access_key: 'wrong' }, 'The store refuses the secret access key.'],
    [{ bucket: 'other' }, 'There is no such bucket.'],
  ])('reports the reason for %j without parts of the request', async (data, reason) => {
    expect(told(await gather(await bucket(data)))[0]?.slice(1)).toEqual([reason, false]);
  });

  it('reads a file again that changed between the list and its content, also once it is as it was listed', async () => {
    s3.objects.set('a.md', 'before');
    s3.instead = ({ path }) => path === '/docs/a.md' && s3.objects.set('a.md', 'meanwhile').size === 0;
    const origin = await bucket();
    const first = await gather(origin);
    s3.instead = () => false;
    s3.objects.set('a.md', 'before');
    s3.asked();
    await gather(origin, first.files);
    expect(s3.asked().filter((path) => path === '/docs/a.md')).toHaveLength(1);
  });

  it('reports in which region it is', async () => {
    s3.instead = (_, response) => (response.writeHead(301, { 'x-amz-bucket-region': 'eu-west-3' }).end(), true);
    expect(told(await gather(await bucket()))[0]?.[1]).toBe('The bucket is in the region eu-west-3.');
  });

  it('whose list never ends is read only up to a limit', async () => {
    s3.instead = ({ path }, response) => {
      if (!path.includes('list-type')) return false;
      const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>';
      response.end(
        `<ListBucketResult>${more}<Contents><Key>a.md</Key><ETag>1</ETag><Size>1</Size></Contents></ListBucketResult>`,
      );
      return true;
    };
    s3.objects.set('a.md', 'A');
    expect((await gather(await bucket())).isCut).toBe(true);
    expect(s3.asked().filter((path) => path.includes('list-type'))).toHaveLength(2);
  });
});

it('deleted credentials fail the ingestion with a reason', async () => {
  await expect(gather(repository({ credentialsId: 'gone' }))).rejects.toMatchObject({ code: 'pages-not-fetched' });
});
