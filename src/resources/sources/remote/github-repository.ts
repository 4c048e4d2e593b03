import { createHash } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.js';
import type { Timing } from '../../../kernel/timing.js';
import type { OutgoingResponse } from '../../../platform/outgoing/outgoing-http.port.js';
import type { GithubOrigin } from '../source/source.events.js';
import { PageNotFetched, refusedBy, type RemoteRequests } from './remote-requests.js';
import { type FileContent, type FileStore, type StoredFiles, StoreOutOfReach } from './file-store.js';
import type { StoredFile } from './stored-file.policy.js';
import { referencesIn } from './github-address.policy.js';

/** The addresses of GitHub's API and of the files of public repositories. */
export type GithubAddresses = Readonly<{ apiBaseUrl: string; rawBaseUrl: string }>;

const API_VERSION = '2022-11-28';
/** More than the API returns in one list. */
const TREE_BYTES_MAX = 8 * 1024 * 1024;
/** The number of splits of a place that are tried, so names with more slashes are not found. */
const REFERENCES_MAX = 5;
/** The longest wait for the end of a rate limit, and the number of waits. */
const WAIT_MS_MAX = 60_000;
const WAITS_MAX = 3;
const REGULAR_FILES = new Set(['100644', '100755']);

type TreeEntry = Readonly<{ path: string; mode: string; type: string; sha: string; size?: number }>;
type Tree = Readonly<{ tree: readonly TreeEntry[]; truncated: boolean }>;
type Place = Readonly<{ reference: string; path: string }>;

/**
 * The files of a branch, a tag or a commit, read by GitHub's REST API. Without a token the contents are read from the public file
 * host, which has no request limit. In both cases they are verified by the hash in the tree.
 */
export class GithubRepository implements FileStore {
  private reference = '';
  private waits = 0;
  private limited: StoreOutOfReach | undefined;

  constructor(
    private readonly parts: Readonly<{ requests: RemoteRequests; addresses: GithubAddresses; clock: Clock; timing: Timing }>,
    private readonly origin: GithubOrigin,
    private readonly token: string | undefined,
  ) {}

  async list(): Promise<StoredFiles> {
    const listed = await this.parts.requests.attempted(async () => {
      const { tree, place } = await this.tree();
      this.reference = place.reference;
      const files = tree.tree.filter((entry) => isFile(entry) && isInside(entry.path, place.path));
      return {
        files: files.map(({ path, size = 0, sha }) => ({ path, size, version: sha })),
        isCut: tree.truncated,
      };
    });
    if (listed instanceof PageNotFetched) throw new StoreOutOfReach(listed);
    return listed;
  }

  read(file: StoredFile): Promise<FileContent | PageNotFetched> {
    return this.parts.requests.attempted(async () => {
      const { status, body, truncated } = await this.ask(this.addressOf(file), 'application/vnd.github.raw+json');
      if (status >= 300) throw refusedBy(status);
      if (truncated || hashOf(body, file.version) !== file.version) {
        throw new PageNotFetched('It has changed while the repository was read.', true);
      }
      return { bytes: body, version: file.version };
    });
  }

  private addressOf({ path, version }: StoredFile): string {
    const { rawBaseUrl } = this.parts.addresses;
    if (this.token !== undefined) return this.api('git', 'blobs', version);
    return [rawBaseUrl.replace(/\/$/, ''), ...this.origin.repository.split('/'), ...this.reference.split('/'), ...path.split('/')]
      .map((step, index) => (index === 0 ? step : encodeURIComponent(step)))
      .join('/');
  }

  private async tree(): Promise<Readonly<{ tree: Tree; place: Place }>> {
    const { place } = this.origin;
    const places =
      place === null ? [{ reference: await this.defaultBranch(), path: '' }] : referencesIn(place).slice(0, REFERENCES_MAX);
    for (const each of places) {
      const answer = await this.ask(`${this.api('git', 'trees', each.reference)}?recursive=1`, undefined, TREE_BYTES_MAX);
      if (answer.status === 409) throw new PageNotFetched('The repository is empty.', false);
      if (answer.status !== 404 && answer.status !== 422) return { tree: treeIn(this.accepted(answer)), place: each };
    }
    throw new PageNotFetched(
      'The repository, or this branch of it, cannot be found. One that is private needs an access token.',
      false,
    );
  }

  private async defaultBranch(): Promise<string> {
    const answer = this.accepted(await this.ask(this.api()));
    const branch = (jsonIn(answer) as { default_branch?: unknown } | null)?.default_branch;
    if (typeof branch !== 'string' || branch === '') throw unexpected();
    return branch;
  }

  private accepted(answer: OutgoingResponse): OutgoingResponse {
    const { status } = answer;
    if (status === 401) throw new PageNotFetched('GitHub refuses the access token.', false);
    if (status === 403) throw new PageNotFetched('GitHub does not allow this repository to be read.', false);
    if (status === 404)
      throw new PageNotFetched('The repository cannot be found. One that is private needs an access token.', false);
    if (status >= 300) throw refusedBy(status);
    return answer;
  }

  /**
   * Sends a request, and waits for the end of a rate limit if it is near. @throws PageNotFetched; StoreOutOfReach if it is not
   * near
   */
  private async ask(url: string, accept = 'application/vnd.github+json', bytesMax?: number): Promise<OutgoingResponse> {
    const { requests, clock, timing } = this.parts;
    for (;;) {
      if (this.limited) throw this.limited;
      const answer = await requests.send(url, this.headers(url, accept), bytesMax);
      const waitMs = limitedForMs(answer, clock.now());
      if (waitMs === undefined) return answer;
      if (waitMs > WAIT_MS_MAX || this.waits >= WAITS_MAX) throw (this.limited ??= this.outOfReach(waitMs));
      this.waits++;
      await timing.pause(waitMs, requests.signal);
      requests.signal.throwIfAborted();
    }
  }

  private outOfReach(waitMs: number): StoreOutOfReach {
    const until = new Date(this.parts.clock.now().getTime() + waitMs).toISOString();
    const advice = this.token === undefined ? ' With an access token it is higher.' : '';
    return new StoreOutOfReach(new PageNotFetched(`GitHub's limit of requests is used up until ${until}.${advice}`, true));
  }

  /** The token is sent to the API only. */
  private headers(url: string, accept: string): Readonly<Record<string, string>> {
    const isApi = url.startsWith(this.api());
    if (!isApi) return { accept: '*/*' };
    return {
      accept,
      'x-github-api-version': API_VERSION,
      ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
    };
  }

  private api(...steps: readonly string[]): string {
    const base = this.parts.addresses.apiBaseUrl.replace(/\/$/, '');
    return [base, 'repos', ...[...this.origin.repository.split('/'), ...steps].map(encodeURIComponent)].join('/');
  }
}

const isFile = ({ type, mode }: TreeEntry): boolean => type === 'blob' && REGULAR_FILES.has(mode);

const isInside = (path: string, folder: string): boolean => folder === '' || path === folder || path.startsWith(`${folder}/`);

/** The hash by which git names the content of a file. */
function hashOf(bytes: Uint8Array, like: string): string {
  return createHash(like.length === 64 ? 'sha256' : 'sha1')
    .update(`blob ${bytes.byteLength}\0`)
    .update(bytes)
    .digest('hex');
}

/** The time until GitHub's rate limit ends. Undefined if the answer is not limited. */
function limitedForMs({ status, headers }: OutgoingResponse, now: Date): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = Number(headers['retry-after'] ?? NaN);
  if (Number.isFinite(after)) return Math.max(0, after) * 1000;
  const reset = Number(headers['x-ratelimit-reset'] ?? NaN);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) return Math.max(1_000, reset * 1000 - now.getTime());
  return status === 429 ? WAIT_MS_MAX : undefined;
}

function treeIn(answer: OutgoingResponse): Tree {
  const tree = jsonIn(answer) as { tree?: unknown; truncated?: unknown } | null;
  if (!Array.isArray(tree?.tree)) throw unexpected();
  return { tree: (tree.tree as unknown[]).filter(isEntry), truncated: tree.truncated === true };
}

const isEntry = (value: unknown): value is TreeEntry => {
  const { path, mode, type, sha, size = 0 } = (value ?? {}) as Partial<Record<keyof TreeEntry, unknown>>;
  const texts = [path, mode, type, sha].every((text) => typeof text === 'string');
  return texts && /^[\da-f]{40,64}$/.test(sha as string) && typeof size === 'number' && size >= 0;
};

function jsonIn({ body, truncated }: OutgoingResponse): unknown {
  try {
    if (!truncated) return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // Invalid JSON is reported like an answer that is too long.
  }
  throw unexpected();
}

const unexpected = () => new PageNotFetched('GitHub sent an unexpected answer.', true);
