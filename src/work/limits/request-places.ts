import { Injectable } from '@nestjs/common';
import { KeyValue } from '../../kernel/key-value.js';

/**
 * How long a place is kept that is not given back: longer than a question takes to be in the log and in the read model. A process
 * that dies in between leaves its places for this long.
 */
export const PLACE_MS = 120_000;

const placesOf = (agentId: string): string => `usage.${agentId}.`;
const placeOf = (agentId: string, turnId: string): string => `${placesOf(agentId)}${turnId}`;

/**
 * The requests to limited agents that some process has let pass and that the read model may not have yet. Each is a key that runs
 * out by itself, seen by all processes; the store numbers what is written, so that all of them agree on who came first.
 */
@Injectable()
export class RequestPlaces {
  constructor(private readonly keyValue: KeyValue) {}

  /** @throws KeyValueUnavailable */
  async take(agentId: string, turnId: string): Promise<void> {
    await this.keyValue.create(placeOf(agentId, turnId), '', { ttlMs: PLACE_MS });
  }

  /** @throws KeyValueUnavailable */
  async giveBack(agentId: string, turnIds: readonly string[]): Promise<void> {
    await Promise.all(turnIds.map((turnId) => this.keyValue.delete(placeOf(agentId, turnId))));
  }

  /** All that are taken, the first first. @throws KeyValueUnavailable */
  async taken(agentId: string): Promise<readonly string[]> {
    const prefix = placesOf(agentId);
    const turnIds = (await this.keyValue.keys(prefix)).map((key) => key.slice(prefix.length));
    const revisions = await Promise.all(turnIds.map(async (id) => (await this.keyValue.get(placeOf(agentId, id)))?.revision));
    const places = turnIds.flatMap((turnId, at) => (revisions[at] === undefined ? [] : [{ turnId, revision: revisions[at] }]));
    return places.sort((one, other) => one.revision - other.revision).map(({ turnId }) => turnId);
  }
}
