import { createHash } from 'node:crypto';
import { answerJson, type Answering, LocalServer, type ReceivedRequest } from './local-server.js';

type Answer = Parameters<Answering>[1];

/** One repository, `ann/handbook`, as GitHub's REST API and its host of raw files serve it. */
export class GithubServer {
  /** File contents by path. */
  readonly files = new Map<string, string>();
  readonly links = new Set<string>();
  branch = 'main';
  /** If set, the repository is private. */
  token: string | undefined;
  isTruncated = false;
  /** Handles a request in place of the server if it returns true. */
  instead: (request: ReceivedRequest, response: Answer) => boolean = () => false;

  private constructor(readonly server: LocalServer) {}

  static async started(): Promise<GithubServer> {
    const github = new GithubServer(await LocalServer.started());
    github.server.answer = (request, response) => github.answer(request, response);
    return github;
  }

  get apiBaseUrl(): string {
    return `${this.server.url}/api/v3`;
  }

  get rawBaseUrl(): string {
    return `${this.server.url}/raw`;
  }

  get repositoryUrl(): string {
    return `${this.server.url}/ann/handbook`;
  }

  /** The requested paths since the last call. */
  asked(): readonly string[] {
    return this.server.requests.splice(0).map(({ path }) => path);
  }

  private answer(request: ReceivedRequest, response: Answer): void {
    if (this.instead(request, response)) return;
    const path = decodeURIComponent(request.path);
    const isAllowed = this.token === undefined || request.headers.authorization === `Bearer ${this.token}`;
    const notFound = () => answerJson(response, { message: 'Not Found' }, 404);
    const raw = `/raw/ann/handbook/${this.branch}/`;
    if (path.startsWith(raw)) {
      const text = this.token === undefined ? this.files.get(path.slice(raw.length)) : undefined;
      return text === undefined ? notFound() : void response.end(text);
    }
    if (!isAllowed) return request.headers.authorization ? answerJson(response, { message: 'Bad credentials' }, 401) : notFound();
    const api = '/api/v3/repos/ann/handbook';
    if (path === api) return answerJson(response, { default_branch: this.branch });
    if (path === `${api}/git/trees/${this.branch}?recursive=1`) return answerJson(response, this.tree());
    const blob = [...this.files.values()].find((text) => path === `${api}/git/blobs/${gitHash(text)}`);
    return blob === undefined ? notFound() : void response.end(blob);
  }

  private tree() {
    const tree = [...this.files].map(([path, text]) => ({
      path,
      mode: this.links.has(path) ? '120000' : '100644',
      type: 'blob',
      sha: gitHash(text),
      size: Buffer.byteLength(text),
    }));
    return {
      sha: gitHash('tree'),
      tree: [{ path: 'docs', mode: '040000', type: 'tree', sha: gitHash('docs') }, ...tree],
      truncated: this.isTruncated,
    };
  }
}

const gitHash = (text: string): string =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex');
