import { Injectable } from '@nestjs/common';
import { DeviceQueries } from '../../../projections/devices/devices.queries.js';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../kernel/rejection.js';
import { ChangeTool, CreateTool, DeleteTool } from '../tools/toolbox/tool.commands.js';
import { deviceCodec } from './device/device.codec.js';
import { device } from './device/device.decider.js';
import { type DeviceChanged, type DevicePaired, type DeviceRevoked, deviceStream } from './device/device.events.js';
import { GiveUpInvocation } from './invocations/device-invocation.commands.js';

type Followed = DevicePaired | DeviceChanged | DeviceRevoked;

/**
 * Maintains the tool by which models reach a device. It creates the tool under the id in `DevicePaired`, renames it on
 * `DeviceChanged` and deletes it on `DeviceRevoked`. Then it also waits until the read model has all earlier commands of the device,
 * and ends the open ones. Each event may be delivered twice.
 */
@Injectable()
export class DeviceTools implements Reaction<Followed> {
  readonly name = 'device-tools';
  readonly categories = ['device'];
  readonly codec: Codec<Followed> = deviceCodec;
  readonly on = {
    DevicePaired: (event: Recorded<DevicePaired>) => this.paired(event),
    DeviceChanged: (event: Recorded<DeviceChanged>) => this.changed(event),
    DeviceRevoked: (event: Recorded<DeviceRevoked>) => this.revoked(event),
  };

  constructor(
    private readonly commands: Commands,
    private readonly streams: Streams,
    private readonly devices: DeviceQueries,
    private readonly freshness: Freshness,
  ) {}

  private async paired(event: Recorded<DevicePaired>): Promise<void> {
    const { deviceId, ownerId, toolId, name, description } = event.data;
    const wish = { displayName: displayName(name), description, config: { device_id: deviceId } };
    const cause = causedBy(event, `system:${this.name}`);
    await unlessRefused(this.commands.execute(new CreateTool(ownerId, 'remote_device', wish, cause, toolId)));
  }

  private async changed(event: Recorded<DeviceChanged>): Promise<void> {
    const { deviceId } = event.data;
    const { state } = await this.streams.fold(deviceStream(deviceId), device);
    const { ownerId, paired, name, description } = state;
    if (!paired) return;
    const wish = { displayName: displayName(name), description, config: { device_id: deviceId } };
    const cause = causedBy(event, `system:${this.name}`);
    await unlessRefused(this.commands.execute(new ChangeTool(paired.toolId, ownerId, wish, cause)));
  }

  private async revoked(event: Recorded<DeviceRevoked>): Promise<void> {
    const { deviceId, ownerId, toolId } = event.data;
    const cause = causedBy(event, `system:${this.name}`);
    await unlessRefused(this.commands.execute(new DeleteTool(toolId, ownerId, cause)));
    await requireReached(this.freshness, ['devices'], event.position);
    for (const id of await this.devices.openOf(deviceId)) {
      await this.commands.execute(new GiveUpInvocation(id, 'device_revoked', cause));
    }
  }
}

const displayName = (name: string): string => `Remote device — ${name}`;

/** A rejection means that the device was revoked meanwhile or that its owner has deleted the tool, so no change is needed. */
async function unlessRefused(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof Rejection)) throw error;
  });
}
