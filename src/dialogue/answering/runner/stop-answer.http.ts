import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Commands } from '../../../kernel/commands.js';
import { MessageAccess } from '../../journal/message-access.js';
import type { Identity } from '../../../resources/identity/identity.js';
import { RequestCause, RequestIdentity } from '../../../resources/identity/identity.http.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { StopAnswer } from './stop-answer.commands.js';
import { Access } from '../../../platform/http/access.js';

@ApiTags('Messages')
@Controller('api/messages/:messageId')
export class StopAnswerController {
  constructor(
    private readonly access: MessageAccess,
    private readonly commands: Commands,
  ) {}

  /** Requests that a running answer stops. The text written so far is kept. */
  @ApiOperation({ summary: 'Stop a running answer' })
  @Access({ for: 'caller', action: 'change', of: 'messages' })
  @Post('cancel')
  @HttpCode(202)
  async cancel(@Param('messageId') messageId: string, @RequestIdentity() identity: Identity, @RequestCause() cause: Cause) {
    const { conversationId } = await this.access.readable(messageId, identity);
    await this.commands.execute(new StopAnswer(conversationId, messageId, cause));
    return { success: true };
  }
}
