import type { PageFetcher } from './page-fetcher.js';
import { PageNotFetched } from './remote-requests.js';
import { robotsRules } from './robots.policy.js';

/** Reads the robots.txt of each site once. A site without one, or whose robots.txt cannot be fetched, forbids nothing. */
export class SitesRules {
  private readonly rules = new Map<string, (path: string) => boolean>();

  constructor(private readonly fetcher: PageFetcher) {}

  async allow(url: string): Promise<boolean> {
    const { origin, pathname, search } = new URL(url);
    return (await this.of(origin))(pathname + search);
  }

  private async of(origin: string): Promise<(path: string) => boolean> {
    let rules = this.rules.get(origin);
    if (!rules) {
      const text = await this.fetcher.text(`${origin}/robots.txt`);
      rules = robotsRules(text instanceof PageNotFetched ? '' : text);
      this.rules.set(origin, rules);
    }
    return rules;
  }
}
