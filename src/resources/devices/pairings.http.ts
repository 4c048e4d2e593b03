import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Commands } from '../../kernel/commands.js';
import { Fingerprints } from '../../kernel/event-sourcing/fingerprints.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import type { Folded } from '../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../kernel/rejection.js';
import { Clock } from '../../kernel/clock.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { reached } from '../identity/access.policy.js';
import type { SignedInUser } from '../identity/caller.js';
import { RedeemedCodes } from '../identity/client-limits.port.js';
import { UserIfSignedIn } from '../identity/identity.http.js';
import { CancelPairing, RedeemPairing, RequestPairing } from './device/device.commands.js';
import { type Device, pairingNotFound } from './device/device.decider.js';
import { approvalModeIn, descriptionIn, fieldsOf, machineFieldIn, nameIn } from './device-fields.http.js';
import { DevicesOptions } from './device/devices-options.js';
import { machineKeyIn } from './device/machine-key.policy.js';
import { deviceIdOf, isDeviceCode, shownUserCode, typedUserCode, userCodeOf } from './device/pairing-code.policy.js';
import { StoredDevices } from './device/stored-devices.js';

/** How often a page may poll the state of a pairing. */
const INTERVAL_SECONDS = 3;
const DESCRIPTION_CHARACTERS_MAX = 2_000;

/** Pairs a device with a user: the user requests a code and types it at the device, which redeems it. */
@ApiTags('Devices')
@Controller('api/devices/pairings')
export class PairingsController {
  constructor(
    private readonly commands: Commands,
    private readonly devices: StoredDevices,
    private readonly fingerprints: Fingerprints,
    private readonly codes: RedeemedCodes,
    private readonly freshness: Freshness,
    private readonly clock: Clock,
    private readonly options: DevicesOptions,
  ) {}

  @ApiOperation({ summary: 'Makes a code that one device can redeem within `expires_in` seconds' })
  @ApiResponse({ status: 400, description: 'A field is wrong: `invalid_name`, `invalid_description`, `invalid_approval_mode`.' })
  @DocumentedBody(
    {
      schema: {
        type: 'object',
        properties: { name: { type: 'string' }, description: { type: 'string' }, approval_mode: { enum: ['ask', 'full'] } },
      },
    },
    { name: 'Build server', approval_mode: 'ask' },
  )
  @Access({ for: 'user', action: 'create', of: 'devices', userIsAskedLater: true })
  @Post()
  @HttpCode(200)
  async request(@UserIfSignedIn() user: SignedInUser | undefined, @Body() body: unknown) {
    const { userId, cause } = signedIn(user);
    const { name, description, approval_mode: mode } = fieldsOf(body);
    const wish = {
      name: typeof name === 'string' && name.trim() === '' ? null : name === undefined || name === null ? null : nameIn(name),
      description: description === undefined || description === null ? null : beginningOf(description),
      approvalMode: mode === undefined || mode === null ? 'ask' : approvalModeIn(mode),
    } as const;
    const { deviceCode, userCode } = await this.commands.execute(new RequestPairing(userId, wish, cause));
    const { pairingMs, publicUrl } = this.options.settings;
    return {
      device_code: deviceCode,
      user_code: shownUserCode(userCode),
      verification_uri: publicUrl ?? '',
      expires_in: Math.floor(pairingMs / 1000),
      interval: INTERVAL_SECONDS,
    };
  }

  @ApiOperation({ summary: 'Redeems the code that a user typed, and returns the token of the device, which is shown once' })
  @DocumentedBody(
    {
      schema: {
        type: 'object',
        required: ['user_code', 'machine_pubkey'],
        properties: Object.fromEntries(
          ['user_code', 'machine_pubkey', 'hostname', 'os', 'arch', 'cli_version'].map((name) => [name, { type: 'string' }]),
        ),
      },
    },
    { user_code: 'ABCD-WXYZ', machine_pubkey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=', hostname: 'build-1' },
  )
  @ApiResponse({ status: 400, description: '`invalid_user_code`, `missing_machine_pubkey`, `invalid_machine_pubkey`.' })
  @ApiResponse({ status: 404, description: 'No pairing waits for this code (`pairing_not_found`).' })
  @ApiResponse({ status: 409, description: 'Another device has redeemed the code (`pairing_already_redeemed`).' })
  @ApiResponse({ status: 429, description: 'Too many codes were tried from this address.' })
  @Access({ for: 'capability', action: 'create', of: 'devices' })
  @Post('redeem')
  @HttpCode(200)
  async redeem(@Req() request: FastifyRequest, @Body() body: unknown) {
    const fields = fieldsOf(body);
    await this.codes.count(request);
    const userCode = typedUserCode(typeof fields['user_code'] === 'string' ? fields['user_code'] : '');
    if (userCode === undefined) throw new Rejection('device-invalid-user-code', 'user_code is not a code');
    // The key is checked before the code is used up.
    const { machine_pubkey: given } = fields;
    if (!given) throw new Rejection('device-missing-machine-pubkey', 'machine_pubkey is missing');
    const machineKey = typeof given === 'string' ? machineKeyIn(given) : undefined;
    if (!machineKey) throw new Rejection('device-invalid-machine-pubkey', 'machine_pubkey is not an Ed25519 key in base64');
    const deviceId = deviceIdOf(userCode, this.fingerprints);
    const machine = {
      hostname: machineFieldIn(fields['hostname'], 'unknown'),
      os: machineFieldIn(fields['os']),
      arch: machineFieldIn(fields['arch']),
      cliVersion: machineFieldIn(fields['cli_version']),
    };
    const { name, token, position } = await this.commands.execute(new RedeemPairing(deviceId, machine, machineKey, request.id));
    await this.freshness.reached(['devices'], position);
    return { device_id: deviceId, session_token: token, name };
  }

  @ApiOperation({ summary: 'Whether the code was redeemed, and by which device' })
  @ApiResponse({ status: 404, description: 'The code has expired, or it is not one of the user (`pairing_not_found`).' })
  @Access({ for: 'user', action: 'read', of: 'devices', userIsAskedLater: true })
  @Get(':device_code')
  async one(@UserIfSignedIn() user: SignedInUser | undefined, @Param('device_code') deviceCode: string) {
    const { state, position } = await this.reached(user, deviceCode);
    const { id, paired, name } = state;
    // A page that learns of a device must find it in the list, even if the process that redeemed the code crashed right after.
    if (paired) await this.freshness.reached(['devices'], position);
    return {
      device_code: deviceCode,
      user_code: shownUserCode(userCodeOf(deviceCode, this.fingerprints)),
      status: paired ? 'redeemed' : 'pending',
      device_id: paired ? id : null,
      device_name: paired ? name : null,
    };
  }

  @ApiOperation({ summary: 'Cancels a code that no device has redeemed' })
  @ApiResponse({
    status: 404,
    description: 'The code has expired or was redeemed, or it is not one of the user (`pairing_not_found`).',
  })
  @Access({ for: 'user', action: 'delete', of: 'devices', userIsAskedLater: true })
  @Delete(':device_code')
  async cancel(@UserIfSignedIn() user: SignedInUser | undefined, @Param('device_code') deviceCode: string) {
    const { userId, cause } = signedIn(user);
    const { state } = await this.reached(user, deviceCode);
    await this.commands.execute(new CancelPairing(state.id, userId, cause));
    return { success: true };
  }

  /** A pairing that was redeemed or can still be redeemed, of this user. @throws Rejection device-pairing-not-found */
  private async reached(user: SignedInUser | undefined, deviceCode: string): Promise<Folded<Device>> {
    const asking = signedIn(user);
    if (!isDeviceCode(deviceCode)) throw pairingNotFound();
    const known = await this.devices.known(deviceIdOf(userCodeOf(deviceCode, this.fingerprints), this.fingerprints));
    const { paired, status, requested } = known.state;
    const isThere = paired || (status === 'pairing' && this.clock.now() < new Date(requested!.expiresAt));
    reached(asking, isThere ? known.state : undefined, pairingNotFound);
    return known;
  }
}

/** @throws Rejection device-pairing-unauthenticated */
function signedIn(user: SignedInUser | undefined): SignedInUser {
  if (!user) throw new Rejection('device-pairing-unauthenticated', 'Authentication required');
  return user;
}

/** @throws Rejection device-invalid-description if it is not a text */
function beginningOf(description: unknown): string | null {
  const text = typeof description === 'string' ? description : descriptionIn(description);
  return text.toWellFormed().replaceAll('\0', '').trim().slice(0, DESCRIPTION_CHARACTERS_MAX).toWellFormed() || null;
}
