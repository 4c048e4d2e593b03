import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { DeviceQueries, INVOCATIONS_SHOWN_MAX } from '../../../projections/devices/devices.queries.js';
import { Commands } from '../../kernel/commands.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { answerPosition } from '../../platform/http/positions.js';
import { reached } from '../identity/access.policy.js';
import type { SignedInUser } from '../identity/caller.js';
import { UserIfSignedIn } from '../identity/identity.http.js';
import { COMMAND_CHARACTERS_MAX, normalForm } from './device/command.policy.js';
import { AddDevicePattern, ChangeDevice, RemoveDevicePattern, RevokeDevice } from './device/device.commands.js';
import { type Device, deviceNotFound } from './device/device.decider.js';
import { type DeviceChanges, isDeviceId } from './device/device.events.js';
import { approvalModeIn, descriptionIn, type Fields, fieldsOf, nameIn } from './device-fields.http.js';
import { auditEntry, deviceRecord } from './device-record.http.js';
import { StoredDevices } from './device/stored-devices.js';
import { inPath } from '../../kernel/access.js';

const NOT_THERE = ApiResponse({ status: 404, description: 'The user has no such device (`not_found`).' });

/** The devices that a user has paired, their patterns and their audit lists. */
@ApiTags('Devices')
@Controller('api/devices')
export class DevicesController {
  constructor(
    private readonly commands: Commands,
    private readonly devices: StoredDevices,
    private readonly queries: DeviceQueries,
    private readonly freshness: Freshness,
    private readonly lastWrites: LastWrites,
  ) {}

  @ApiOperation({ summary: 'The devices of the user, including revoked ones' })
  @Access({ for: 'user', action: 'list', of: 'devices', userIsAskedLater: true })
  @Get()
  async list(@UserIfSignedIn() user: SignedInUser | undefined) {
    const ids = await this.queries.ownedBy(signedIn(user).userId);
    const devices = await Promise.all(ids.map((id) => this.devices.byId(id)));
    const seen = await this.devices.lastSeen(devices);
    return { devices: devices.map((each) => deviceRecord(each, seen.get(each.id))) };
  }

  @ApiOperation({ summary: 'A device of the user' })
  @NOT_THERE
  @Access({ for: 'user', action: 'read', of: 'devices', at: inPath('id'), userIsAskedLater: true })
  @Get(':id')
  async one(@UserIfSignedIn() user: SignedInUser | undefined, @Param('id') id: string) {
    return this.record(await this.reached(user, id));
  }

  @ApiOperation({ summary: 'Changes the name, the description or the approval mode of a device' })
  @ApiResponse({ status: 400, description: '`invalid_name`, `invalid_description`, `invalid_approval_mode`, `no_fields`.' })
  @NOT_THERE
  @DocumentedBody(
    {
      schema: {
        type: 'object',
        properties: { name: { type: 'string' }, description: { type: 'string' }, approval_mode: { enum: ['ask', 'full'] } },
      },
    },
    { name: 'Build server', approval_mode: 'ask' },
  )
  @Access({ for: 'user', action: 'change', of: 'devices', at: inPath('id'), userIsAskedLater: true })
  @Patch(':id')
  async change(
    @UserIfSignedIn() user: SignedInUser | undefined,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: unknown,
  ) {
    const { userId, cause } = signedIn(user);
    const device = await this.reached(user, id);
    const changes = changesIn(fieldsOf(body));
    const { state, position } = await this.commands.execute(new ChangeDevice(device.id, userId, changes, cause));
    answerPosition(reply, position);
    return this.record(state);
  }

  @ApiOperation({ summary: 'Revokes a device: its token becomes invalid, and its tool and its patterns are deleted' })
  @NOT_THERE
  @Access({ for: 'user', action: 'delete', of: 'devices', at: inPath('id'), userIsAskedLater: true })
  @Delete(':id')
  async revoke(
    @UserIfSignedIn() user: SignedInUser | undefined,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { userId, cause } = signedIn(user);
    const device = await this.reached(user, id);
    const { position } = await this.commands.execute(new RevokeDevice(device.id, userId, cause));
    answerPosition(reply, position);
    return { success: true };
  }

  @ApiOperation({ summary: 'The normal forms of commands that run without an approval' })
  @NOT_THERE
  @Access({ for: 'user', action: 'read', of: 'devices', at: inPath('id'), userIsAskedLater: true })
  @Get(':id/auto-approve')
  async patterns(@UserIfSignedIn() user: SignedInUser | undefined, @Param('id') id: string) {
    return { patterns: (await this.reached(user, id)).patterns };
  }

  @ApiOperation({ summary: 'Allows commands with the normal form of this one to run without an approval' })
  @ApiResponse({ status: 400, description: '`missing_command`, `invalid_command`.' })
  @NOT_THERE
  @ApiResponse({ status: 409, description: 'The device has the maximum number of patterns (`too_many_patterns`).' })
  @DocumentedBody(
    { schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] } },
    { command: 'git status' },
  )
  @Access({ for: 'user', action: 'change', of: 'devices', at: inPath('id'), userIsAskedLater: true })
  @Post(':id/auto-approve')
  @HttpCode(200)
  async addPattern(@UserIfSignedIn() user: SignedInUser | undefined, @Param('id') id: string, @Body() body: unknown) {
    const { userId, cause } = signedIn(user);
    const device = await this.reached(user, id);
    const { command, pattern: alias } = fieldsOf(body);
    const text = commandIn(command || alias);
    const pattern = normalForm(text);
    if (pattern === undefined) throw invalidCommand();
    await this.commands.execute(new AddDevicePattern(device.id, userId, pattern, text, cause));
    return { pattern };
  }

  @ApiOperation({ summary: 'Removes a normal form, so that its commands need an approval again' })
  @ApiResponse({ status: 400, description: '`missing_pattern`' })
  @NOT_THERE
  @DocumentedBody({ schema: { type: 'object', properties: { pattern: { type: 'string' } } } }, { pattern: 'git status' })
  @Access({ for: 'user', action: 'change', of: 'devices', at: inPath('id'), userIsAskedLater: true })
  @Delete(':id/auto-approve')
  async removePattern(@UserIfSignedIn() user: SignedInUser | undefined, @Param('id') id: string, @Body() body: unknown) {
    const { userId, cause } = signedIn(user);
    const device = await this.reached(user, id);
    const { pattern } = fieldsOf(body);
    if (typeof pattern !== 'string' || pattern === '') throw new Rejection('device-missing-pattern', 'pattern is missing');
    const { events } = await this.commands.execute(new RemoveDevicePattern(device.id, userId, pattern, cause));
    return { success: events.length > 0 };
  }

  @ApiOperation({ summary: 'The newest commands of a device, who approved them and how they ended' })
  @NOT_THERE
  @Access({ for: 'user', action: 'read', of: 'devices', at: inPath('id'), userIsAskedLater: true })
  @Get(':id/audit')
  async audit(@UserIfSignedIn() user: SignedInUser | undefined, @Param('id') id: string) {
    const { ownerId, id: deviceId } = await this.reached(user, id);
    await this.freshness.reached(['devices'], this.lastWrites.of(signedIn(user).userId));
    const entries = await this.queries.auditOf(deviceId, INVOCATIONS_SHOWN_MAX);
    return { entries: entries.map((each) => auditEntry(ownerId, each)) };
  }

  private async reached(user: SignedInUser | undefined, id: string): Promise<Device> {
    const asking = signedIn(user);
    const device = isDeviceId(id) ? await this.devices.byId(id) : undefined;
    return reached(asking, device?.paired ? device : undefined, deviceNotFound);
  }

  private async record(device: Device) {
    return deviceRecord(device, (await this.devices.lastSeen([device])).get(device.id));
  }
}

/** @throws Rejection device-unauthenticated */
function signedIn(user: SignedInUser | undefined): SignedInUser {
  if (!user) throw new Rejection('device-unauthenticated', 'Unauthorized');
  return user;
}

const invalidCommand = () =>
  new Rejection('device-invalid-command', `command must be a text of at most ${COMMAND_CHARACTERS_MAX} characters`);

/** @throws Rejection device-missing-command, device-invalid-command */
function commandIn(given: unknown): string {
  if (given === undefined || given === null || given === '') throw new Rejection('device-missing-command', 'command is missing');
  if (typeof given !== 'string' || given.length > COMMAND_CHARACTERS_MAX || given.includes('\0')) throw invalidCommand();
  return given;
}

/** @throws Rejection with the code of the field that is invalid */
function changesIn(fields: Fields): DeviceChanges {
  const changes: DeviceChanges = {
    ...('name' in fields && { name: nameIn(fields['name']) }),
    ...('description' in fields && { description: descriptionIn(fields['description']) }),
    ...('approval_mode' in fields && { approvalMode: approvalModeIn(fields['approval_mode']) }),
  };
  if (Object.keys(changes).length === 0) throw new Rejection('device-no-fields', 'There is nothing to change');
  return changes;
}
