import { Injectable } from '@nestjs/common';
import { ReadModels } from '../read-models.js';

export type UnsealedTurn = Readonly<{ turnId: string; conversationId: string; producer: string | null; since: Date }>;

@Injectable()
export class UnsealedTurnQueries {
  constructor(private readonly readModels: ReadModels) {}

  /** The oldest first, as many as one sweep takes. */
  async oldest(limit: number): Promise<readonly UnsealedTurn[]> {
    return this.readModels.sql<UnsealedTurn[]>`
      select turn_id as "turnId", conversation_id as "conversationId", producer, since
      from unsealed_turns.unsealed_turn order by since limit ${limit}`;
  }
}
