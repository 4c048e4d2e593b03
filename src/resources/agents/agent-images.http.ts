import { Readable } from 'node:stream';
import { Controller, Get, Param, Res, StreamableFile } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { fileTypeFromBuffer } from 'file-type';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { Blobs } from '../../kernel/blobs.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { pictureSizeOf } from '../documents/picture-size.policy.js';
import { PICTURE_PIXELS_MAX } from '../documents/readable-files.policy.js';
import type { AgentImage } from './agent.events.js';
import { Access } from '../../platform/http/access.js';

const MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const CAPABILITY_CHARACTERS = 32;
const YEAR_SECONDS = 31_536_000;

/**
 * The address of an agent's picture, empty without one. It cannot be guessed: browsers send no credentials with a picture, so knowing
 * the address has to suffice. It is absolute, because a page of another origin puts it into its HTML as it is.
 */
export const imageUrl = (baseUrl: string, agentId: string, image: AgentImage | null): string =>
  image ? `${baseUrl}/api/images/${agentId}/${capabilityOf(image)}` : '';

const capabilityOf = ({ sha256 }: AgentImage) => sha256.slice(0, CAPABILITY_CHARACTERS);

const refused = (why: string) => new Rejection('image-not-accepted', `Image upload failed: ${why}`);

/** Stores an uploaded picture. Its type is detected from its bytes, not from its name. @throws Rejection image-not-accepted */
export async function keepImage(blobs: Blobs, bytes: Buffer): Promise<AgentImage> {
  const mediaType = (await fileTypeFromBuffer(bytes))?.mime;
  if (!mediaType || !MEDIA_TYPES.includes(mediaType)) throw refused('the file is not a PNG, JPEG, GIF or WebP picture.');
  const pixels = pictureSizeOf(mediaType, bytes);
  if (!pixels) throw refused('the picture is damaged.');
  if (pixels.width * pixels.height > PICTURE_PIXELS_MAX) throw refused(`it has more than ${PICTURE_PIXELS_MAX} pixels.`);
  const { sha256, size } = await blobs.put(Readable.from([bytes]));
  return { sha256, size, mediaType };
}

@Controller('api/images')
export class AgentImagesController {
  constructor(
    private readonly agents: AgentQueries,
    private readonly blobs: Blobs,
  ) {}

  @ApiOperation({ summary: 'Returns the picture of an agent, at the address in its record' })
  @Access({ for: 'capability', action: 'describe', of: 'agents', scopes: 'any-token' })
  @Get(':agentId/:capability')
  async image(
    @Param('agentId') agentId: string,
    @Param('capability') capability: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const image = isId(agentId) ? (await this.agents.byId(agentId))?.configuration.image : undefined;
    if (!image || capabilityOf(image) !== capability) throw new Rejection('not-found', 'Not found');
    void reply.header('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`).header('X-Content-Type-Options', 'nosniff');
    return new StreamableFile(await this.blobs.get(image.sha256), { type: image.mediaType, length: image.size });
  }
}
