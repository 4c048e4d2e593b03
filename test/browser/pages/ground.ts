import { Chromium } from '../../support/chromium.js';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import type { LocalServer } from '../../support/local-server.js';
import type { FormPart, PageCall } from '../../support/page-call.js';
import { pageServer } from '../../support/page-server.js';
import { WebPage } from '../../support/web-page.js';
import { openWorld, type World } from '../../support/world.js';

export type Json = Readonly<Record<string, unknown>>;

/** A file for a form. */
export const file = (filename: string, type: string, content: string | Uint8Array): FormPart => ({
  ...{ filename, type, base64: Buffer.from(content).toString('base64') },
});

/** A page of another origin in a real browser, signed in as a separate user. It sends the requests of the web client's pages. */
export class Ground {
  /** The methods for which the browser has sent a preflight. */
  readonly preflights = new Set<string>();

  private constructor(
    readonly world: World,
    readonly web: WebPage,
    /** The user of the page, for requests outside the browser. */
    readonly user: Client,
    private readonly browser: Chromium,
    private readonly site: LocalServer,
  ) {
    const server = world.service.service.app.getHttpServer();
    server.on('request', ({ method, headers }) => {
      if (method === 'OPTIONS') this.preflights.add(String(headers['access-control-request-method']));
    });
  }

  static async open(environment: Readonly<Record<string, string>>): Promise<Ground> {
    const browser = await Chromium.start();
    const site = await pageServer();
    const world = await openWorld({ ALLOWED_ORIGINS: site.url, ...environment });
    const web = await WebPage.open(browser, site.url, world.service.url);
    const user = new Client(world.service.url, { authorization: `Bearer ${await web.token()}` });
    return new Ground(world, web, user, browser, site);
  }

  get<T = Json>(path: string): Promise<T> {
    return this.json<T>({ method: 'GET', path });
  }

  post<T = Json>(path: string, body: unknown = {}): Promise<T> {
    return this.json<T>({ method: 'POST', path, body });
  }

  put<T = Json>(path: string, body: unknown): Promise<T> {
    return this.json<T>({ method: 'PUT', path, body });
  }

  patch<T = Json>(path: string, body: unknown): Promise<T> {
    return this.json<T>({ method: 'PATCH', path, body });
  }

  delete<T = Json>(path: string, body?: unknown): Promise<T> {
    return this.json<T>({ method: 'DELETE', path, ...(body !== undefined && { body }) });
  }

  /** Sends a form. */
  send<T = Json>(path: string, form: Readonly<Record<string, FormPart>>, method = 'POST'): Promise<T> {
    return this.json<T>({ method, path, form });
  }

  /** The text of the response. @throws if it is a refusal, which the browser also reports as a problem */
  async text(call: PageCall): Promise<string> {
    const { status, text } = await this.web.call(call);
    if (status >= 300) throw new Error(`${call.method} ${call.path}: ${status} ${text}`);
    return text;
  }

  /** Waits until a task has ended. Resolves with its result. */
  async ended(taskId: unknown): Promise<unknown> {
    let task: Json = {};
    await eventually(async () => {
      task = await this.get(`/api/task_status?task_id=${String(taskId)}`);
      return ['SUCCESS', 'FAILURE'].includes(String(task['status']));
    }, 180_000);
    if (task['status'] === 'FAILURE') throw new Error(`The task failed: ${JSON.stringify(task['result'])}`);
    return task['result'];
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.world.close();
    await this.site.close();
  }

  private async json<T>(call: PageCall): Promise<T> {
    return JSON.parse(await this.text(call)) as T;
  }
}
