import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../../kernel/clock.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { CredentialUses } from '../../../platform/credentials/credential-uses.port.js';
import type { DeviceCaller } from '../../identity/caller.js';
import { DeviceDirectory } from '../../identity/device-directory.port.js';
import { type Device, device } from './device.decider.js';
import { type DeviceId, deviceStream } from './device.events.js';
import { deviceIdIn, isTokenOf, tokenIdOf } from './device-token.policy.js';

const NOTED_EVERY_MS = 5_000;
const NOTED_MAX = 10_000;
const FOLDED_MAX = 1_000;

/** The devices, folded from the log at each request, so that every process refuses a revoked device at once. */
@Injectable()
export class StoredDevices extends DeviceDirectory {
  private readonly logger = new Logger(StoredDevices.name);
  private readonly noted = new LRUCache<string, number>({ max: NOTED_MAX });
  /** The states of streams that were folded before. A request reads only the events after them, which are few or none. */
  private readonly folded = new LRUCache<string, Folded<Device>>({ max: FOLDED_MAX });

  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly uses: CredentialUses,
  ) {
    super();
  }

  async holderOf(token: string, requestId: string): Promise<DeviceCaller | undefined> {
    const deviceId = deviceIdIn(token);
    const found = deviceId === undefined ? undefined : await this.byId(deviceId);
    if (!deviceId || found?.status !== 'active' || !isTokenOf(found.paired!.tokenSha256, token)) return undefined;
    const cause = {
      actor: `device:${deviceId}`,
      credential: 'device',
      correlationId: requestId,
      causationId: requestId,
    } as const;
    return { kind: 'device', deviceId, ownerId: found.ownerId, tokenId: tokenIdOf(deviceId, found.paired!.tokenSha256), cause };
  }

  async isCurrent(deviceId: DeviceId, tokenId: string): Promise<boolean> {
    const { status, paired } = await this.byId(deviceId);
    return status === 'active' && tokenIdOf(deviceId, paired!.tokenSha256) === tokenId;
  }

  noteUse(tokenId: string, address: string): void {
    const now = this.clock.now();
    if (now.getTime() - (this.noted.get(tokenId) ?? -Infinity) < NOTED_EVERY_MS) return;
    this.noted.set(tokenId, now.getTime());
    this.uses.note(tokenId, now, address).catch((error: unknown) => this.logger.warn(error));
  }

  /** The current state of a device. */
  async byId(deviceId: DeviceId): Promise<Device> {
    return (await this.known(deviceId)).state;
  }

  /** The current state of a device, and the position of its newest event. */
  async known(deviceId: DeviceId): Promise<Folded<Device>> {
    const stream = deviceStream(deviceId);
    const known = await this.streams.fold(stream, device, this.folded.get(stream));
    this.folded.set(stream, known);
    return known;
  }

  /** The time at which each of these devices last sent a request. */
  async lastSeen(devices: readonly Device[]): Promise<ReadonlyMap<DeviceId, Date>> {
    const ids = new Map(devices.flatMap(({ id, paired }) => (paired ? [[tokenIdOf(id, paired.tokenSha256), id] as const] : [])));
    const uses = await this.uses.of([...ids.keys()]);
    return new Map([...uses].map(([tokenId, { usedAt }]) => [ids.get(tokenId)!, usedAt]));
  }
}
