import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, type StreamableFile, Res } from '@nestjs/common';
import { ApiOperation, ApiProduces, ApiProperty, ApiQuery, ApiTags } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ArtifactQueries } from '../../../projections/artifacts/artifacts.queries.js';
import { Blobs } from '../../kernel/blobs.js';
import { Commands } from '../../kernel/commands.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import type { Caller } from '../identity/caller.js';
import type { Identity } from '../identity/identity.js';
import { KnownCaller, RequestIdentity } from '../identity/identity.http.js';
import { fileNotFound, sendFile } from './artifact-file.http.js';
import { artifactRecord, versionRecord } from './artifact-record.http.js';
import { DeleteArtifact, RestoreArtifact } from './artifact.commands.js';
import { versionNotFound } from './artifact.decider.js';
import { ArtifactsInReach } from './artifacts-in-reach.js';
import { ArtifactsOptions } from './artifacts-options.js';
import { FileLinks } from './file-links.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';

/** This type tells a link to the file from a file that is itself JSON. */
const LINK_TYPE = 'application/vnd.docsgpt.artifact-url+json';

export class RestoredVersion {
  @ApiProperty({ required: true, type: 'integer', minimum: 1 })
  @IsOptional()
  version?: unknown;
}

const BY_LINK = ApiQuery({
  name: 'share_token',
  required: false,
  description: 'The identifier of a link to a conversation. Shows the artifacts that its turns had made when it was shared.',
});

const OF_CONVERSATION = ApiQuery({
  name: 'conversation_id',
  required: false,
  description: 'The conversation of the artifact. Required with an agent’s key.',
});

/** The routes of the files that runs make. */
@ApiTags('Artifacts')
@Controller('api')
export class ArtifactsController {
  constructor(
    private readonly commands: Commands,
    private readonly artifacts: ArtifactQueries,
    private readonly inReach: ArtifactsInReach,
    private readonly blobs: Blobs,
    private readonly links: FileLinks,
    private readonly options: ArtifactsOptions,
  ) {}

  @Access({ for: 'caller', action: 'list', of: 'artifacts', shownByLinks: 'too' })
  @Get('artifacts')
  @ApiOperation({
    summary: 'Lists the artifacts of a conversation, of a workflow run, those that a link shows, or all of the caller’s',
  })
  @OF_CONVERSATION
  @BY_LINK
  @ApiQuery({ name: 'workflow_run_id', required: false })
  async list(
    @RequestIdentity() identity: Identity,
    @Query('conversation_id') conversationId?: string,
    @Query('workflow_run_id') workflowRunId?: string,
    @Query('share_token') shareToken?: string,
  ) {
    if (conversationId && !isId(conversationId)) throw new Rejection('invalid-request', 'Invalid conversation_id');
    if (workflowRunId && !isId(workflowRunId)) throw new Rejection('invalid-request', 'Invalid workflow_run_id');
    const listed = await this.inReach.listed(await identity.caller(), { conversationId, workflowRunId, shareToken });
    return { success: true, artifacts: listed.map(artifactRecord) };
  }

  @Access({ for: 'caller', action: 'read', of: 'artifacts', shownByLinks: 'too' })
  @Get('artifacts/:id')
  @ApiOperation({ summary: 'Describes an artifact and its versions' })
  @OF_CONVERSATION
  @BY_LINK
  async one(
    @RequestIdentity() identity: Identity,
    @Param('id') id: string,
    @Query('conversation_id') conversationId?: string,
    @Query('share_token') shareToken?: string,
  ) {
    const { artifact, until } = await this.inReach.read(await identity.caller(), id, { conversationId, shareToken });
    const versions = await this.artifacts.versionsOf(id, until);
    const spec = versions.find(({ version }) => version === artifact.currentVersion)?.spec ?? null;
    return { success: true, artifact: { ...artifactRecord(artifact), versions: versions.map(versionRecord), spec } };
  }

  @Access({ for: 'caller', action: 'read', of: 'artifacts', shownByLinks: 'too' })
  @Get('artifacts/:id/versions/:version')
  @ApiOperation({ summary: 'Describes one version of an artifact' })
  @OF_CONVERSATION
  @BY_LINK
  async version(
    @RequestIdentity() identity: Identity,
    @Param('id') id: string,
    @Param('version') version: string,
    @Query('conversation_id') conversationId?: string,
    @Query('share_token') shareToken?: string,
  ) {
    const { until } = await this.inReach.read(await identity.caller(), id, { conversationId, shareToken });
    const number = versionIn(version);
    const found = number === undefined ? undefined : await this.artifacts.version(id, number, until);
    if (!found) throw versionNotFound();
    return { success: true, version: { ...versionRecord(found), spec: found.spec } };
  }

  @Access({ for: 'caller', action: 'read', of: 'artifacts', shownByLinks: 'too' })
  @Get('artifacts/:id/download')
  @ApiOperation({ summary: 'Sends the file of a version, or a link to it that needs no credential for five minutes' })
  @ApiProduces('application/octet-stream', LINK_TYPE)
  @OF_CONVERSATION
  @BY_LINK
  @ApiQuery({ name: 'version', required: false, description: 'The newest by default.' })
  @ApiQuery({ name: 'disposition', required: false, enum: ['url'] })
  async download(
    @RequestIdentity() identity: Identity,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('id') id: string,
    @Query('disposition') disposition?: string,
    @Query('version') version?: string,
    @Query('conversation_id') conversationId?: string,
    @Query('share_token') shareToken?: string,
  ): Promise<StreamableFile | string> {
    const { artifact, until } = await this.inReach.read(await identity.caller(), id, { conversationId, shareToken });
    const number = version === undefined ? artifact.currentVersion : versionIn(version);
    if (number === undefined) throw new Rejection('invalid-request', 'Invalid version');
    const found = await this.artifacts.version(id, number, until);
    if (!found) throw versionNotFound();
    if (disposition !== 'url' && !request.headers.accept?.includes('application/json')) return sendFile(reply, this.blobs, found);
    const base = (this.options.baseUrl ?? `${request.protocol}://${request.host}`).replace(/\/$/, '');
    const url = `${base}/api/artifact_files/${this.links.capabilityOf({ artifactId: id, version: number })}`;
    void reply.header('Content-Type', LINK_TYPE).header('Cache-Control', 'no-store');
    return JSON.stringify({ success: true, url });
  }

  @Access({ for: 'capability', action: 'read', of: 'artifacts', scopes: 'any-token' })
  @Get('artifact_files/:capability')
  @ApiOperation({ summary: 'Sends the file of a link' })
  @ApiProduces('application/octet-stream')
  async linked(
    @Param('capability') capability: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const linked = this.links.linkedBy(capability);
    const version = linked && (await this.artifacts.version(linked.artifactId, linked.version));
    if (!version) throw fileNotFound();
    return sendFile(reply, this.blobs, version);
  }

  @Access({ for: 'caller', action: 'change', of: 'artifacts' })
  @Post('artifacts/:id/restore')
  @HttpCode(200)
  @ApiOperation({ summary: 'Makes an earlier version the newest' })
  @OF_CONVERSATION
  @DocumentedBody({ type: RestoredVersion }, { version: 1 })
  async restore(
    @KnownCaller() caller: Caller,
    @Confirms('artifacts') confirm: Confirm,
    @Param('id') id: string,
    @Body() body: RestoredVersion,
    @Query('conversation_id') conversationId?: string,
  ) {
    const { ownerId } = await this.inReach.changed(caller, id, { conversationId });
    if (body.version === undefined || body.version === null) throw new Rejection('invalid-request', 'Missing version');
    const version = versionIn(body.version);
    if (version === undefined) throw new Rejection('invalid-request', 'Invalid version');
    const restored = await this.commands.execute(new RestoreArtifact(id, ownerId, version, caller.cause));
    await confirm(restored.position);
    const found = await this.artifacts.version(id, restored.version);
    return { success: true, version: found ? { ...versionRecord(found), spec: found.spec } : { version: restored.version } };
  }

  @Access({ for: 'caller', action: 'delete', of: 'artifacts' })
  @Delete('artifacts/:id')
  @ApiOperation({ summary: 'Deletes an artifact with all its versions' })
  @OF_CONVERSATION
  async delete(
    @KnownCaller() caller: Caller,
    @Confirms('artifacts') confirm: Confirm,
    @Param('id') id: string,
    @Query('conversation_id') conversationId?: string,
  ) {
    const { ownerId } = await this.inReach.changed(caller, id, { conversationId });
    await confirm(await this.commands.execute(new DeleteArtifact(id, ownerId, caller.cause)));
    return { success: true };
  }
}

function versionIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
