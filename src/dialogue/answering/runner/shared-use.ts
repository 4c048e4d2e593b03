import { Injectable } from '@nestjs/common';
import { Reaching } from '../../../resources/identity/reaching.js';
import type { TurnSettings } from '../../conversation/conversation.events.js';

/** Whether users may still be answered by agents of others. */
@Injectable()
export class SharedUse {
  constructor(private readonly reaching: Reaching) {}

  /** Whether a user asked another's agent by a grant, and that grant has ended. */
  async hasEnded(userId: string, { agentId, agentKeyId, configurationOwnerId }: TurnSettings): Promise<boolean> {
    if (agentId === null || agentKeyId !== null || configurationOwnerId === userId) return false;
    return !(await this.reaching.isUsable(userId, { id: agentId, ownerId: configurationOwnerId }, 'agents'));
  }
}
