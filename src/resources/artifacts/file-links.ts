import { Injectable } from '@nestjs/common';
import { Clock } from '../../kernel/clock.js';
import { SealBroken, Seals } from '../../platform/credentials/seals.port.js';

/** Clients follow a link at once. A link that leaks later has expired. */
const LINK_MS = 300_000;
const PLACE = ['artifact-file'];

type Linked = Readonly<{ artifactId: string; version: number }>;

/** Links to the file of a version, valid for five minutes. They need no credential, because a browser that navigates sends none. */
@Injectable()
export class FileLinks {
  constructor(
    private readonly seals: Seals,
    private readonly clock: Clock,
  ) {}

  capabilityOf({ artifactId, version }: Linked): string {
    const until = this.clock.now().getTime() + LINK_MS;
    return this.seals.seal(JSON.stringify([artifactId, version, until]), PLACE).toString('base64url');
  }

  /** Undefined if the service did not make the link or the link has expired. */
  linkedBy(capability: string): Linked | undefined {
    try {
      const text = this.seals.open(Buffer.from(capability, 'base64url'), PLACE);
      const [artifactId, version, until] = JSON.parse(text) as [string, number, number];
      return this.clock.now().getTime() < until ? { artifactId, version } : undefined;
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  }
}
