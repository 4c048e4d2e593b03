import { Injectable } from '@nestjs/common';
import { KeyValue } from '../../kernel/messaging/key-value.js';

/**
 * How long a reservation lasts if it is not released: longer than a question takes to reach the log and the read model. The
 * reservations of a crashed process last this long.
 */
export const PLACE_MS = 120_000;

const placesOf = (agentId: string): string => `usage.${agentId}.`;
const placeOf = (agentId: string, turnId: string): string => `${placesOf(agentId)}${turnId}`;

/**
 * Reservations of admitted requests to limited agents that the read model may not have yet. Each is an expiring key that all
 * processes see. The store numbers its writes, so all processes agree on the order.
 */
@Injectable()
export class RequestPlaces {
  constructor(private readonly keyValue: KeyValue) {}

  /** False if the turn already has a reservation, for example from another process. @throws KeyValueUnavailable */
  take(agentId: string, turnId: string): Promise<boolean> {
    return this.keyValue.create(placeOf(agentId, turnId), '', { ttlMs: PLACE_MS });
  }

  /** @throws KeyValueUnavailable */
  async release(agentId: string, turnIds: readonly string[]): Promise<void> {
    await Promise.all(turnIds.map((turnId) => this.keyValue.delete(placeOf(agentId, turnId))));
  }

  /** The reservations in order. @throws KeyValueUnavailable */
  async taken(agentId: string): Promise<readonly string[]> {
    const prefix = placesOf(agentId);
    const turnIds = (await this.keyValue.keys(prefix)).map((key) => key.slice(prefix.length));
    const revisions = await Promise.all(turnIds.map(async (id) => (await this.keyValue.get(placeOf(agentId, id)))?.revision));
    const places = turnIds.flatMap((turnId, at) => (revisions[at] === undefined ? [] : [{ turnId, revision: revisions[at] }]));
    return places.sort((one, other) => one.revision - other.revision).map(({ turnId }) => turnId);
  }
}
