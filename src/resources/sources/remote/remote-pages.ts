import type { Blobs } from '../../../kernel/blobs.js';
import type { Timing } from '../../../kernel/timing.js';
import type { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { PagesOrigin } from '../source/source.events.js';
import { type EarlierPages, type GatheredPages, Gathering, type GatheringProgress } from './gathering.js';
import { PageFetcher } from './page-fetcher.js';
import type { RemoteLimits } from './remote-limits.js';

/** Fetches the pages of a source and stores their bytes, within the limits of one ingestion. */
export class RemotePages {
  constructor(
    private readonly http: OutgoingHttp,
    private readonly blobs: Blobs,
    private readonly limits: RemoteLimits,
    private readonly timing: Timing,
  ) {}

  gather(origin: PagesOrigin, earlier: EarlierPages, signal: AbortSignal, progress: GatheringProgress): Promise<GatheredPages> {
    const { blobs, limits, timing } = this;
    const fetcher = new PageFetcher(this.http, limits, signal);
    return new Gathering({ fetcher, blobs, limits, timing, progress }, earlier).of(origin);
  }
}

/** Whether no file was fetched: each was missed and kept as it was before. A missed file of a store is named by its path. */
export const isNothingFetched = ({ files, missed }: GatheredPages): boolean =>
  files.every(({ filename, url = filename, requestedUrl = url }) => missed.some((page) => page.url === requestedUrl));
