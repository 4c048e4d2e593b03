import { randomBytes } from 'node:crypto';
import { CommandHandler } from '@nestjs/cqrs';
import { DeviceQueries } from '../../../../projections/devices/devices.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Fingerprints } from '../../../kernel/event-sourcing/fingerprints.js';
import { type Outcome, Streams } from '../../../kernel/event-sourcing/streams.js';
import { newId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { CREDENTIAL_ENDED } from '../../identity/caller.js';
import {
  addPattern,
  cancelPairing,
  changeDevice,
  type Device,
  device,
  pair,
  pairingNotFound,
  removePattern,
  requestPairing,
  revoke,
} from './device.decider.js';
import {
  type ApprovalMode,
  type DeviceChanges,
  type DeviceEvent,
  type DeviceId,
  deviceStream,
  type Machine,
  type MachineKey,
} from './device.events.js';
import { newDeviceToken, tokenIdOf, tokenSha256 } from './device-token.policy.js';
import { DevicesOptions } from './devices-options.js';
import { digestOfCommand } from './command.policy.js';
import { deviceIdOf, newDeviceCode, userCodeOf } from './pairing-code.policy.js';

/** Attempts to make a code that is not in use, and a name that is not taken. */
const TRIES_MAX = 5;
const NAME_SUFFIX_BYTES = 2;

export type PairingWish = Readonly<{ name: string | null; description: string | null; approvalMode: ApprovalMode }>;

/** A user requests a code for pairing a device. */
export class RequestPairing extends Command<Readonly<{ deviceCode: string; userCode: string; deviceId: DeviceId }>> {
  constructor(
    readonly ownerId: string,
    readonly wish: PairingWish,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RequestPairing)
class RequestPairingHandler implements Handler<RequestPairing> {
  constructor(
    private readonly streams: Streams,
    private readonly fingerprints: Fingerprints,
    private readonly clock: Clock,
    private readonly options: DevicesOptions,
  ) {}

  async execute({ ownerId, wish, cause }: RequestPairing) {
    for (let tries = 1; ; tries++) {
      const deviceCode = newDeviceCode();
      const userCode = userCodeOf(deviceCode, this.fingerprints);
      const deviceId = deviceIdOf(userCode, this.fingerprints);
      const now = this.clock.now();
      const expiresAt = new Date(now.getTime() + this.options.settings.pairingMs).toISOString();
      const request = { deviceId, ownerId, ...wish, requestedAt: now.toISOString(), expiresAt };
      try {
        await this.streams.transact(deviceStream(deviceId), device, requestPairing(request, now), cause);
        return { deviceCode, userCode, deviceId };
      } catch (error) {
        if (tries === TRIES_MAX || !(error instanceof Rejection) || error.code !== 'device-code-taken') throw error;
      }
    }
  }
}

/** A user cancels a pairing that no device has redeemed. */
export class CancelPairing extends Command {
  constructor(
    readonly deviceId: DeviceId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CancelPairing)
class CancelPairingHandler implements Handler<CancelPairing> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ deviceId, ownerId, cause }: CancelPairing): Promise<void> {
    await this.streams.transact(deviceStream(deviceId), device, cancelPairing(ownerId, this.clock.now()), cause);
  }
}

export type Paired = Readonly<{ name: string; token: string; position: bigint | undefined }>;

/** A device redeems a code. Of two concurrent redemptions one gets a token. */
export class RedeemPairing extends Command<Paired> {
  constructor(
    readonly deviceId: DeviceId,
    readonly machine: Machine,
    readonly machineKey: MachineKey,
    readonly requestId: string,
  ) {
    super();
  }
}

@CommandHandler(RedeemPairing)
class RedeemPairingHandler implements Handler<RedeemPairing> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly devices: DeviceQueries,
  ) {}

  async execute({ deviceId, machine, machineKey, requestId }: RedeemPairing): Promise<Paired> {
    const known = await this.streams.fold(deviceStream(deviceId), device);
    if (known.state.status === 'none') throw pairingNotFound();
    const { ownerId, requested } = known.state;
    const name = await this.freeName(ownerId, requested?.name ?? machine.hostname);
    const token = newDeviceToken(deviceId);
    const redemption = { name, machine, machineKey, tokenSha256: tokenSha256(token), toolId: newId() };
    const cause = {
      actor: `device:${deviceId}`,
      credential: 'device',
      correlationId: requestId,
      causationId: requestId,
    } as const;
    const { position } = await this.streams.transact(
      deviceStream(deviceId),
      device,
      pair(redemption, this.clock.now()),
      cause,
      known,
    );
    return { name, token, position };
  }

  /** The name with four random hexadecimal digits, which make it unique among the user's devices. */
  private async freeName(ownerId: string, wanted: string): Promise<string> {
    for (let tries = 1; ; tries++) {
      const name = `${wanted}-${randomBytes(NAME_SUFFIX_BYTES).toString('hex')}`;
      if (tries === TRIES_MAX || !(await this.devices.hasName(ownerId, name))) return name;
    }
  }
}

/** A command of the owner of a device. */
abstract class DeviceCommand<Result = Outcome<Device, DeviceEvent>> extends Command<Result> {
  constructor(
    readonly deviceId: DeviceId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

/** A user changes the name, the description or the approval mode of a device. */
export class ChangeDevice extends DeviceCommand {
  constructor(
    deviceId: DeviceId,
    ownerId: string,
    readonly changes: DeviceChanges,
    cause: Cause,
  ) {
    super(deviceId, ownerId, cause);
  }
}

@CommandHandler(ChangeDevice)
class ChangeDeviceHandler implements Handler<ChangeDevice> {
  constructor(private readonly streams: Streams) {}

  execute({ deviceId, ownerId, changes, cause }: ChangeDevice) {
    return this.streams.transact(deviceStream(deviceId), device, changeDevice(ownerId, changes), cause);
  }
}

/** A user allows commands of one normal form to run without an approval. */
export class AddDevicePattern extends DeviceCommand {
  constructor(
    deviceId: DeviceId,
    ownerId: string,
    readonly pattern: string,
    readonly command: string,
    cause: Cause,
  ) {
    super(deviceId, ownerId, cause);
  }
}

@CommandHandler(AddDevicePattern)
class AddDevicePatternHandler implements Handler<AddDevicePattern> {
  constructor(private readonly streams: Streams) {}

  execute({ deviceId, ownerId, pattern, command, cause }: AddDevicePattern) {
    const decision = addPattern(ownerId, pattern, digestOfCommand(command));
    return this.streams.transact(deviceStream(deviceId), device, decision, cause);
  }
}

export class RemoveDevicePattern extends DeviceCommand {
  constructor(
    deviceId: DeviceId,
    ownerId: string,
    readonly pattern: string,
    cause: Cause,
  ) {
    super(deviceId, ownerId, cause);
  }
}

@CommandHandler(RemoveDevicePattern)
class RemoveDevicePatternHandler implements Handler<RemoveDevicePattern> {
  constructor(private readonly streams: Streams) {}

  execute({ deviceId, ownerId, pattern, cause }: RemoveDevicePattern) {
    return this.streams.transact(deviceStream(deviceId), device, removePattern(ownerId, pattern), cause);
  }
}

/** A user revokes a device. Its open responses end. */
export class RevokeDevice extends DeviceCommand {}

@CommandHandler(RevokeDevice)
class RevokeDeviceHandler implements Handler<RevokeDevice> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly signals: Signals,
  ) {}

  async execute({ deviceId, ownerId, cause }: RevokeDevice) {
    const revoked = await this.streams.transact(deviceStream(deviceId), device, revoke(ownerId, this.clock.now()), cause);
    this.signals.publish(CREDENTIAL_ENDED, tokenIdOf(deviceId, revoked.state.paired!.tokenSha256));
    return revoked;
  }
}

export const deviceHandlers = [
  AddDevicePatternHandler,
  CancelPairingHandler,
  ChangeDeviceHandler,
  RedeemPairingHandler,
  RemoveDevicePatternHandler,
  RequestPairingHandler,
  RevokeDeviceHandler,
];
