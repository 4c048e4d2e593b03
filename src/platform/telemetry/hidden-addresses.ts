import { isIP } from 'node:net';

const ADDRESS = '<address>';
const NAME = '<name>';

/**
 * Removes the addresses of dependencies, and the names that Postgres quotes, from reasons of failures. Anyone may read the
 * conditions of a process.
 */
export class HiddenAddresses {
  private readonly hosts: ReadonlySet<string>;

  /** @param hosts the hosts of the dependencies; IP addresses are hidden in any case */
  constructor(hosts: readonly string[] = []) {
    this.hosts = new Set(hosts.map((host) => host.toLowerCase()));
  }

  in(reason: string): string {
    return reason
      .replaceAll(/\b(user|role|database|host) "[^"]*"/g, `$1 "${NAME}"`)
      .replaceAll(/[^\s"'(),;<>]+/g, (word) => this.shown(word));
  }

  /** The end of a sentence or clause is no part of an address. */
  private shown(word: string): string {
    let end = word.length;
    while (end > 0 && '.:'.includes(word[end - 1]!)) end--;
    return this.isAddress(word.slice(0, end)) ? ADDRESS + word.slice(end) : word;
  }

  private isAddress(word: string): boolean {
    const withoutPort = word.replace(/:\d+$/, '');
    return [word, withoutPort].some((each) => {
      const host = each.replaceAll(/^\[|\]$/g, '').toLowerCase();
      return isIP(host) !== 0 || this.hosts.has(host);
    });
  }
}
