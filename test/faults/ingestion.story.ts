import { expect } from '@jest/globals';
import type { Backing, MakeBacking } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import type { LocalServer } from '../support/local-server.js';
import { ServiceProcess } from '../support/process.js';

/** The time from a killed service's restart within which an ingestion must continue or end with a reason. */
const TAKEN_UP_MS_MAX = 60_000;
const ENDS_MS_MAX = 120_000;

const PARAGRAPHS = 6_000;
const paragraph = (index: number) =>
  `Paragraph ${index} says that item number${index} costs ${index * 7} and is kept in hall ${index % 97}, beside many other things that are kept there.`;

type Status = Readonly<{ status: string; result: unknown }>;
type Uploaded = Readonly<{ task_id: string; source_id: string }>;
type ShownChunk = Readonly<{ text: string }>;

/** A service that ingests files of many paragraphs, and is killed during that. */
export class IngestionStory {
  private constructor(
    readonly backing: Backing,
    readonly service: ServiceProcess,
    private readonly client: Client,
  ) {}

  static async begin(
    makeBacking: MakeBacking,
    dataDir: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<IngestionStory> {
    const backing = await makeBacking();
    const environment = { ...backing.environment, DATA_DIR: dataDir, SEED_DEMO: 'false', LOG_LEVEL: 'warn', ...settings };
    const service = await ServiceProcess.start({ environment, standbys: 1 });
    return new IngestionStory(backing, service, new Client(service.url));
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.backing.close();
  }

  async upload(name: string): Promise<Uploaded> {
    const form = new FormData();
    form.append('name', name);
    for (const half of [0, 1]) {
      const lines = Array.from({ length: PARAGRAPHS / 2 }, (_, index) => paragraph(index * 2 + half));
      form.append('file', new Blob([lines.join('\n\n')]), `${half}.txt`);
    }
    const response = await fetch(`${this.service.url}/api/upload`, { method: 'POST', body: form });
    expect(response.status).toBe(200);
    return (await response.json()) as Uploaded;
  }

  async addPage(url: string): Promise<Uploaded> {
    const asked = { source: 'url', name: 'Site', data: JSON.stringify({ url }) };
    return (await (await this.client.post('/api/remote', asked)).json()) as Uploaded;
  }

  async sync({ source_id }: Uploaded): Promise<Uploaded> {
    const synced = (await (await this.client.post('/api/sync_source', { source_id })).json()) as { task_id: string };
    return { source_id, task_id: synced.task_id };
  }

  async eventTypes(stream: string): Promise<readonly string[]> {
    const types: string[] = [];
    for await (const page of this.backing.store.read(stream)) types.push(...page.map(({ type }) => type));
    return types;
  }

  async expectTakenUp({ task_id }: Uploaded, startedBefore: number): Promise<void> {
    await eventually(async () => {
      const types = await this.eventTypes(`task-${task_id}`);
      return types.includes('TaskSucceeded') || types.filter((type) => type === 'TaskStarted').length > startedBefore;
    }, TAKEN_UP_MS_MAX);
  }

  async expectSuccess({ task_id }: Uploaded): Promise<void> {
    const status = () => this.client.json<Status>(`/api/task_status?task_id=${task_id}`);
    await eventually(async () => (await status()).status === 'SUCCESS', ENDS_MS_MAX);
  }

  /** Expects every paragraph exactly once, and exactly one completion of the source. */
  async expectWhole({ source_id }: Uploaded): Promise<void> {
    const found = (await this.chunksOf(source_id)).flatMap(({ text }) => text.split('\n\n'));
    expect(found).toHaveLength(PARAGRAPHS);
    expect(new Set(found).size).toBe(PARAGRAPHS);
    expect((await this.eventTypes(`source-${source_id}`)).filter((type) => type === 'SourceIngestCompleted')).toHaveLength(1);
  }

  async chunksOf(sourceId: string): Promise<readonly ShownChunk[]> {
    return (await this.pagesOf(sourceId)).flat();
  }

  /** The chunks, page by page. Each page is read at a different moment. */
  async pagesOf(sourceId: string): Promise<readonly (readonly ShownChunk[])[]> {
    const pages: (readonly ShownChunk[])[] = [];
    for (;;) {
      const path = `/api/get_chunks?id=${sourceId}&per_page=100&page=${pages.length + 1}`;
      const { chunks } = await this.client.json<{ chunks: readonly ShownChunk[] }>(path);
      if (chunks.length === 0) return pages;
      pages.push(chunks);
    }
  }
}

/** Kills the service some time after an upload. The restarted service continues in time, and nothing is lost or duplicated. */
export async function killedAfter(story: IngestionStory, milliseconds: number): Promise<void> {
  const uploaded = await story.upload(`Killed after ${milliseconds}`);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const startedBefore = (await story.eventTypes(`task-${uploaded.task_id}`)).filter((type) => type === 'TaskStarted').length;
  await story.service.kill();
  await story.service.start();
  await story.expectTakenUp(uploaded, startedBefore);
  await story.expectSuccess(uploaded);
  await story.expectWhole(uploaded);
}

/** A page of PARAGRAPHS paragraphs, each of which states the version of the page. */
const pageOf = (version: string): string =>
  Array.from({ length: PARAGRAPHS }, (_, index) => `In the ${version} version ${paragraph(index)}`).join('\n\n');

/**
 * Kills the service some time after the start of a sync. Searches find the old pages until all new pages are ready, and never a
 * mixture.
 */
export async function killedDuringSync(story: IngestionStory, site: LocalServer, milliseconds: number): Promise<void> {
  const serve = (version: string) =>
    (site.answer = (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(pageOf(version)));
  serve('old');
  const added = await story.addPage(`${site.url}/${milliseconds}`);
  await story.expectSuccess(added);
  serve('new');
  const synced = await story.sync(added);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const startedBefore = (await story.eventTypes(`task-${synced.task_id}`)).filter((type) => type === 'TaskStarted').length;
  await story.service.kill();
  await story.service.start();
  const versionsIn = (chunks: readonly ShownChunk[]) => {
    const found = chunks.flatMap(({ text }) => text.split('\n\n'));
    return new Map(
      ['old', 'new'].map((version) => [version, found.filter((text) => text.includes(`the ${version} version`)).length]),
    );
  };
  const during = (await story.pagesOf(added.source_id)).map(versionsIn);
  const shown = during.map((page) => [...page].flatMap(([version, count]) => (count > 0 ? [version] : [])).join(' and '));
  // The new version may appear between reads of two pages. From then on nothing is of the old one.
  expect([['old'], ['old', 'new'], ['new']]).toContainEqual(shown.filter((version, index) => version !== shown[index - 1]));
  const paragraphs = during.reduce((sum, page) => sum + page.get('old')! + page.get('new')!, 0);
  if (new Set(shown).size === 1) expect(paragraphs).toBe(PARAGRAPHS);
  await story.expectTakenUp(synced, startedBefore);
  await story.expectSuccess(synced);
  expect(versionsIn(await story.chunksOf(added.source_id))).toEqual(
    new Map([
      ['old', 0],
      ['new', PARAGRAPHS],
    ]),
  );
}
