import { WEB_CLIENT_CONFIG } from '../../support/web-client-form.js';
import type { Api } from './api.js';

export type Upload = {
  name: string;
  sent: number;
  status: string;
  sourceId?: string;
  warnings?: readonly string[];
  /** The last user event about it. */
  event?: string;
  error?: string;
};

const TASK_POLL_MS = 1_000;

/** Uploads as the web client sends them, each followed to the end of its task. */
export class Uploads {
  readonly all: Upload[] = [];

  constructor(
    private readonly api: Api,
    private readonly changed: () => void,
    private readonly added: () => void,
  ) {}

  async upload(name: string, files: Iterable<File>): Promise<void> {
    const upload: Upload = { name, sent: 0, status: 'uploading' };
    this.all.push(upload);
    const form = new FormData();
    for (const file of files) form.append('file', file);
    form.append('name', name);
    form.append('user', 'local');
    form.append('config', JSON.stringify(WEB_CLIENT_CONFIG));
    try {
      const answer = await this.api.send('/api/upload', form, crypto.randomUUID(), (percent) => {
        upload.sent = percent;
        this.changed();
      });
      const { task_id, source_id, warnings } = answer as { task_id: string; source_id: string; warnings: string[] };
      Object.assign(upload, { status: 'training', sourceId: source_id, warnings });
      this.changed();
      await this.follow(upload, task_id);
    } catch (error) {
      upload.error = String(error);
    }
    this.changed();
  }

  /** Assigns an event about a source to the upload that created it. */
  note(sourceId: string, event: string): void {
    for (const upload of this.all) if (upload.sourceId === sourceId) upload.event = event;
    this.changed();
  }

  /** Polls the task. A response other than 200 counts as not finished. */
  private async follow(upload: Upload, taskId: string): Promise<void> {
    while (upload.status !== 'SUCCESS' && upload.status !== 'FAILURE') {
      const response = await this.api.get(`/api/task_status?task_id=${taskId}`).catch(() => undefined);
      if (response?.status === 200) upload.status = ((await response.json()) as { status: string }).status;
      this.changed();
      if (upload.status !== 'SUCCESS' && upload.status !== 'FAILURE') {
        await new Promise((resolve) => setTimeout(resolve, TASK_POLL_MS));
      }
    }
    this.added();
  }
}
