import type { Locator, Page, Response } from 'playwright-core';
import type { Chromium } from './chromium.js';
import { holdAnswer } from './held-to-reference.js';
import type { PageCall, PageReply } from './page-call.js';

/** A request that the page made of its own accord. */
export type Sent = Readonly<{ path: string; key: string | undefined; body: Readonly<Record<string, unknown>> }>;

type Caller = Readonly<{ call(call: PageCall): Promise<PageReply> }>;

/** The test page in a browser, as a user has it: what is clicked, what is shown, and what it sent for that. */
export class WebPage {
  /** What the browser complains of: scripts that break, answers that are refused or kept from the page; and answers unlike the reference. */
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

  /** Opens the page for an API on another origin, and waits until it has started, or was refused. */
  static async open(browser: Chromium, pageUrl: string, apiUrl: string): Promise<WebPage> {
    const opened = new WebPage(await browser.newPage(), `${pageUrl}/?api=${encodeURIComponent(apiUrl)}`, apiUrl);
    await opened.page.goto(opened.url);
    await opened.started();
    return opened;
  }

  async started(): Promise<void> {
    await this.page.locator('body:not([data-state=starting])').waitFor();
  }

  /** What there was to complain of since it was last asked, once all answers are held to the reference. */
  async allProblems(): Promise<readonly string[]> {
    await Promise.all(this.held.splice(0));
    return this.problems.splice(0);
  }

  /** Has the page ask the service; what a user would click for that is no matter here. */
  call(call: PageCall): Promise<PageReply> {
    return this.page.evaluate((given) => (globalThis as unknown as { api: Caller }).api.call(given), call);
  }

  private async hold(response: Response): Promise<void> {
    const [type] = response.headers()['content-type']?.split(';', 1) ?? [];
    const answered = {
      ...{ method: response.request().method(), url: response.url(), status: response.status(), type },
      // It may have been left behind by then.
      text: () => response.text().catch(() => undefined),
    };
    await holdAnswer(answered).catch((error: unknown) => void this.problems.push(String(error)));
  }

  /** The token that the page was given; it is kept by the browser. */
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

  /** Waits until a question is in a state, and gives what is shown as its answer. */
  async answer(index: number, state: 'idle' | 'failed' = 'idle'): Promise<string> {
    await this.page.locator(`[data-query="${index}"][data-state=${state}]`).waitFor();
    return this.query(index).locator('[data-response]').innerText();
  }

  /** Waits until so much of an answer is shown as text. */
  async shows(index: number, text: string): Promise<void> {
    await this.query(index).locator('[data-response]', { hasText: text }).waitFor();
  }

  /** What was posted to a path, in the order in which it was. */
  sent(path: string): readonly Sent[] {
    return this.posted.filter((each) => each.path === path);
  }

  /** The same page again, from its address, as when a user reloads it. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.started();
  }

  /** Leaves everything behind, complaints too, and begins at the address that the page has for no conversation. */
  async begin(): Promise<void> {
    await this.page.goto('about:blank');
    this.problems.length = 0;
    await this.page.goto(this.url);
    await this.started();
  }
}
