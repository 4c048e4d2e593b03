import { Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody, OptionalQuery } from '../../platform/http/documented.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';

const KEY = {
  schema: { type: 'object', properties: { enabled: { type: 'boolean' }, public_key: { type: 'string', nullable: true } } },
};
const SUBSCRIPTION = {
  type: 'object',
  properties: { endpoint: { type: 'string' }, keys: { type: 'object', additionalProperties: { type: 'string' } } },
};
const EXAMPLE = { endpoint: 'https://push.example/1', keys: { p256dh: 'key', auth: 'secret' } };

/** Tells pages that this service does not send web push, so that they use only the events of open tabs. */
@ApiTags('Notifications')
@Controller('api/push')
export class PushController {
  @Access({ for: 'user', action: 'describe', of: 'web push' })
  @Get('public_key')
  @ApiOperation({ summary: 'Reports that this service does not send web push' })
  @ApiOkResponse(KEY)
  publicKey(@CurrentUser() _: SignedInUser) {
    return { enabled: false, public_key: null };
  }

  @Access({ for: 'user', action: 'create', of: 'web push' })
  @Post('subscriptions')
  @ApiOperation({ summary: 'Refused: there is no web push' })
  @DocumentedBody({ schema: SUBSCRIPTION }, EXAMPLE)
  @ApiServiceUnavailableResponse({ description: '`push_not_configured`' })
  subscribe(@CurrentUser() _: SignedInUser): never {
    throw notConfigured();
  }

  @Access({ for: 'user', action: 'delete', of: 'web push' })
  @Delete('subscriptions')
  @OptionalQuery('endpoint')
  @ApiOperation({ summary: 'Refused: there is no web push' })
  @ApiServiceUnavailableResponse({ description: '`push_not_configured`' })
  unsubscribe(@CurrentUser() _: SignedInUser): never {
    throw notConfigured();
  }
}

const notConfigured = () => new Rejection('push-not-configured', 'Web Push is not configured on this server');
