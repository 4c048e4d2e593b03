import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser'];
const MISSING = 'These tests need Chromium on the PATH: apt-get install chromium.';

/** Flags that keep the browser from connecting to anything but the pages of tests. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The timeout for what never happens. Even a slow machine is done long before. */
const PATIENCE_MS = 60_000;

/** A real Chromium with a new profile. */
export class Chromium {
  private constructor(
    private readonly context: BrowserContext,
    private readonly profile: string,
  ) {}

  static async start(): Promise<Chromium> {
    const executablePath = await installed();
    const profile = await mkdtemp(join(tmpdir(), 'verbatim-chromium-'));
    const context = await chromium.launchPersistentContext(profile, { executablePath, args: FLAGS, chromiumSandbox: false });
    context.setDefaultTimeout(PATIENCE_MS);
    return new Chromium(context, profile);
  }

  newPage(): Promise<Page> {
    return this.context.newPage();
  }

  async close(): Promise<void> {
    await this.context.close();
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The path of the installed browser. Debian puts it on the PATH. */
async function installed(): Promise<string> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  const places = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  for (const place of places) {
    const isThere = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  throw new Error(MISSING);
}
