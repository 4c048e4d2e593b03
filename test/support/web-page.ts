import type { Locator, Page, Response } from 'playwright-core';
import type { Chromium } from './chromium.js';
import { holdAnswer } from './held-to-reference.js';
import type { PageCall, PageReply } from './page-call.js';

/** A request that the page made itself. */
export type Sent = Readonly<{ path: string; key: string | undefined; body: Readonly<Record<string, unknown>> }>;

type Caller = Readonly<{ call(call: PageCall): Promise<PageReply> }>;

/** The test page in a browser: a test clicks like a user, and reads what is shown and what the page sent. */
export class WebPage {
  /**
   * The problems that the browser reports (broken scripts, refused or blocked responses), and responses that differ from the
   * reference.
   */
  readonly problems: string[] = [];
  private readonly posted: Sent[] = [];
  private readonly held: Promise<void>[] = [];

  private constructor(
    readonly page: Page,
    private readonly url: string,
    apiUrl: string,
  ) {
    page.on('pageerror', ({ message }) => this.problems.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(`${message.text()} ${message.location().url}`);
    });
    page.on('request', (request) => {
      if (request.method() !== 'POST') return;
      const body = request.headers()['content-type'] === 'application/json' ? (request.postDataJSON() as Sent['body']) : {};
      this.posted.push({ path: new URL(request.url()).pathname, key: request.headers()['idempotency-key'], body });
    });
    page.on('response', (response) => {
      if (response.url().startsWith(apiUrl)) this.held.push(this.hold(response));
    });
  }

  /** Opens the page for an API on another origin, and waits until it has started or was refused. */
  static async open(browser: Chromium, pageUrl: string, apiUrl: string): Promise<WebPage> {
    const opened = new WebPage(await browser.newPage(), `${pageUrl}/?api=${encodeURIComponent(apiUrl)}`, apiUrl);
    await opened.page.goto(opened.url);
    await opened.started();
    return opened;
  }

  async started(): Promise<void> {
    await this.page.locator('body:not([data-state=starting])').waitFor();
  }

  /** The problems since the last call, once all responses are checked against the reference. */
  async allProblems(): Promise<readonly string[]> {
    await Promise.all(this.held.splice(0));
    return this.problems.splice(0);
  }

  /** Makes the page call the API directly, without a click. */
  call(call: PageCall): Promise<PageReply> {
    return this.page.evaluate((given) => (globalThis as unknown as { api: Caller }).api.call(given), call);
  }

  private async hold(response: Response): Promise<void> {
    const [type] = response.headers()['content-type']?.split(';', 1) ?? [];
    const answered = {
      ...{ method: response.request().method(), url: response.url(), status: response.status(), type },
      // The page may have been left by then.
      text: () => response.text().catch(() => undefined),
    };
    await holdAnswer(answered).catch((error: unknown) => void this.problems.push(String(error)));
  }

  /** The token that the page was given and that the browser stores. */
  token(): Promise<string> {
    return this.page.evaluate('localStorage.getItem("authToken")');
  }

  async ask(question: string): Promise<void> {
    await this.page.fill('#question', question);
    await this.page.click('#send');
  }

  query(index: number): Locator {
    return this.page.locator(`[data-query="${index}"]`);
  }

  /** Waits until a question is in a state. Returns the shown answer. */
  async answer(index: number, state: 'idle' | 'failed' = 'idle'): Promise<string> {
    await this.page.locator(`[data-query="${index}"][data-state=${state}]`).waitFor();
    return this.query(index).locator('[data-response]').innerText();
  }

  /** Waits until the shown answer contains a text. */
  async shows(index: number, text: string): Promise<void> {
    await this.query(index).locator('[data-response]', { hasText: text }).waitFor();
  }

  /** The requests that were posted to a path, in order. */
  sent(path: string): readonly Sent[] {
    return this.posted.filter((each) => each.path === path);
  }

  /** Loads the page again, like a user's reload. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.started();
  }

  /** Drops the page's state and its problems, and opens the address without a conversation. */
  async begin(): Promise<void> {
    await this.page.goto('about:blank');
    this.problems.length = 0;
    await this.page.goto(this.url);
    await this.started();
  }
}
