import type { PageFailure, SourceFile } from './source.events.js';

/** A page that was not fetched this time; `mayPass`: it may be there when it is asked for again. */
export type MissedPage = PageFailure & Readonly<{ mayPass: boolean }>;

type Pages = Readonly<{ files: readonly SourceFile[]; failures: readonly PageFailure[] }>;

/** A page that is away for a while is no page that is gone: what was read of it before stays, after the others. */
export function withKeptPages(
  fetched: readonly SourceFile[],
  missed: readonly MissedPage[],
  before: readonly SourceFile[] = [],
): Pages {
  const taken = new Set(fetched.flatMap(({ filename, url = '' }) => [filename, url]));
  const keptOf = ({ url, mayPass }: MissedPage) =>
    mayPass ? before.find((file) => file.url === url && !taken.has(file.filename) && !taken.has(url)) : undefined;
  const kept = new Map(missed.flatMap((page) => [[page.url, keptOf(page)] as const]));
  return {
    files: [...fetched, ...[...kept.values()].flatMap((file) => file ?? [])],
    failures: missed.map(({ url, reason }) => ({
      url,
      reason: kept.get(url) ? `${reason} What was read of it before is kept.` : reason,
    })),
  };
}
