import { Injectable } from '@nestjs/common';
import { Reaching } from '../../../resources/identity/reaching.js';
import type { TurnSettings } from '../../conversation/conversation.events.js';

/** Checks whether users may still use agents of other owners. */
@Injectable()
export class SharedUse {
  constructor(private readonly reaching: Reaching) {}

  /** Whether a user asked another owner's agent by a grant that has since ended. */
  async hasEnded(userId: string, { agentId, agentKeyId, configurationOwnerId }: TurnSettings): Promise<boolean> {
    if (agentId === null || agentKeyId !== null || configurationOwnerId === userId) return false;
    return !(await this.reaching.isUsable(userId, { id: agentId, ownerId: configurationOwnerId }, 'agents'));
  }
}
