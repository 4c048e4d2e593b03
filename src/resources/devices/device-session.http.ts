import { Body, Controller, Get, Headers, HttpCode, Param, Post, Res, UseGuards } from '@nestjs/common';
import { ApiConsumes, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Commands } from '../../kernel/commands.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody, OptionalHeader, type Streamed } from '../../platform/http/documented.js';
import { SseStreams } from '../../platform/http/sse.js';
import type { DeviceCaller } from '../identity/caller.js';
import { CurrentDevice } from '../identity/identity.http.js';
import { DeviceSignature } from './device-signature.http.js';
import { bytesIn, fieldsOf, machineFieldIn } from './device-fields.http.js';
import { DeviceOutputs } from './invocations/device-outputs.js';
import { deviceRecord } from './device-record.http.js';
import { DeviceSessions, type SessionEvent, TICKET_SECONDS } from './invocations/device-sessions.js';
import { AcknowledgeInvocation } from './invocations/device-invocation.commands.js';
import { invocationNotFound } from './invocations/device-invocation.decider.js';
import { type AckDecision, isInvocationId } from './invocations/device-invocation.events.js';
import { linesIn, unpacked } from './invocations/output.policy.js';
import { StoredDevices } from './device/stored-devices.js';

const DECISIONS: readonly unknown[] = ['accepted', 'denied', 'auto_approved'] satisfies AckDecision[];
const LINES = 'application/x-ndjson';

const NOT_ITS_OWN = ApiResponse({
  status: 404,
  description: 'The device has not received such a command (`invocation_not_found`).',
});

/** The routes that devices call with their tokens: they poll, receive commands in a session and send the output. */
@ApiTags('Device sessions')
@UseGuards(DeviceSignature)
@Controller('api/devices')
export class DeviceSessionController {
  constructor(
    private readonly commands: Commands,
    private readonly devices: StoredDevices,
    private readonly sessions: DeviceSessions,
    private readonly outputs: DeviceOutputs,
    private readonly streams: SseStreams,
  ) {}

  @ApiOperation({ summary: 'Returns a ticket for a session if a command waits' })
  @ApiResponse({ status: 200, description: 'The ticket and the address of its session.' })
  @ApiResponse({ status: 202, description: 'No command waits; the body is empty.' })
  @Access({ for: 'device', action: 'read', of: 'device sessions' })
  @Get('poll')
  async poll(@CurrentDevice() { deviceId }: DeviceCaller, @Res({ passthrough: true }) reply: FastifyReply) {
    const ticket = await this.sessions.ticketFor(deviceId);
    if (ticket === undefined) return void reply.status(202);
    return { session_ticket: ticket, session_url: `/api/devices/sessions/${ticket}/events`, expires_in: TICKET_SECONDS };
  }

  @ApiOperation({ summary: 'The device itself' })
  @Access({ for: 'device', action: 'read', of: 'device sessions' })
  @Get('me')
  async me(@CurrentDevice() { deviceId }: DeviceCaller) {
    const device = await this.devices.byId(deviceId);
    return deviceRecord(device, (await this.devices.lastSeen([device])).get(deviceId));
  }

  @ApiOperation({ summary: 'The commands of a session (Server-Sent Events), each once' })
  @ApiResponse({
    status: 410,
    description: 'The ticket was used, has expired or is another device’s (`session_ticket_invalid`).',
  })
  @Access({ for: 'device', action: 'read', of: 'device sessions' })
  @Get('sessions/:ticket/events')
  async events(
    @CurrentDevice() device: DeviceCaller,
    @Param('ticket') ticket: string,
    @Res() reply: FastifyReply,
  ): Promise<Streamed<SessionEvent>> {
    await this.sessions.enter(device.deviceId, ticket);
    await this.sessions.serve(device, this.streams.start(reply));
  }

  @DocumentedBody(
    {
      schema: {
        type: 'object',
        required: ['decision'],
        properties: { decision: { enum: ['accepted', 'denied', 'auto_approved'] }, reason: { type: 'string' } },
      },
    },
    { decision: 'accepted' },
  )
  @ApiOperation({ summary: 'Accepts or denies a command. The device may run it only after the response.' })
  @ApiResponse({ status: 400, description: '`invalid_decision`' })
  @NOT_ITS_OWN
  @ApiResponse({
    status: 409,
    description: 'The command was acknowledged before (`already_acknowledged`) or has ended (`invocation_ended`).',
  })
  @Access({ for: 'device', action: 'change', of: 'device sessions' })
  @Post('sessions/:ticket/invocations/:id/ack')
  @HttpCode(200)
  async acknowledge(
    @CurrentDevice() { deviceId, cause }: DeviceCaller,
    @Param('ticket') _: string,
    @Param('id') id: string,
    @Body() body: unknown,
  ) {
    const { decision, reason } = fieldsOf(body);
    if (!DECISIONS.includes(decision))
      throw new Rejection('device-invalid-decision', 'decision must be one of accepted, denied, auto_approved');
    if (!isInvocationId(id)) throw invocationNotFound();
    const said = machineFieldIn(reason) || null;
    await this.commands.execute(new AcknowledgeInvocation(id, deviceId, decision as AckDecision, said, cause));
    return { success: true };
  }

  @ApiOperation({ summary: 'Receives output of a command, one JSON object per line, and its end' })
  @ApiResponse({ status: 400, description: '`invalid_gzip`' })
  @NOT_ITS_OWN
  @ApiResponse({ status: 409, description: 'The command has ended (`invocation_ended`).' })
  @ApiResponse({
    status: 413,
    description: 'The unpacked request is too large, or the command has too many parts of output (`output_too_large`).',
  })
  @ApiConsumes(LINES)
  @OptionalHeader('Content-Encoding')
  @DocumentedBody(
    { schema: { type: 'string' } },
    '{"stream":"stdout","chunk":"ok"}\n{"stream":"control","exit_code":0,"duration_ms":12,"error":null}\n',
  )
  @Access({ for: 'device', action: 'change', of: 'device sessions' })
  @Post('sessions/:ticket/invocations/:id/output')
  @HttpCode(200)
  async output(
    @CurrentDevice() device: DeviceCaller,
    @Param('ticket') _: string,
    @Param('id') id: string,
    @Headers('content-encoding') encoding: string | undefined,
    @Body() body: unknown,
  ) {
    if (!isInvocationId(id)) throw invocationNotFound();
    const lines = linesIn(await unpacked(bytesIn(body) ?? Buffer.alloc(0), encoding));
    await this.outputs.receive(device, id, lines);
    return { success: true, received: lines.received };
  }
}
