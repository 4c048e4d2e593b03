import { Injectable } from '@nestjs/common';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import { type AskingLink, AskingLinks } from '../../../resources/identity/links/asking-links.port.js';

/** Finds links that allow questions in the read model of conversations. */
@Injectable()
export class StoredAskingLinks extends AskingLinks {
  constructor(private readonly conversations: ConversationQueries) {
    super();
  }

  byHash(hash: string): Promise<AskingLink | undefined> {
    return this.conversations.askingShareByHash(hash);
  }

  isCurrent(linkId: string): Promise<boolean> {
    return this.conversations.isShareOpen(linkId);
  }
}
