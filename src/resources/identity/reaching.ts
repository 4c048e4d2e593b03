import { Injectable } from '@nestjs/common';
import { KeptAgentQueries } from '../../../projections/agents/kept-agents.queries.js';
import { TeamQueries } from '../../../projections/teams/teams.queries.js';
import type { Family, ResourceAction } from '../../kernel/access.js';
import type { Rejection } from '../../kernel/rejection.js';
import { may, reached } from './access.policy.js';
import type { SignedInUser } from './caller.js';
import { BY_LINK, type Grant, grantAllows } from './grants.policy.js';

type Thing = Readonly<{ id: string; ownerId: string }>;

/** What users reach: what is theirs, and what their teams let them use or change. */
@Injectable()
export class Reaching {
  constructor(
    private readonly teams: TeamQueries,
    private readonly kept: KeptAgentQueries,
  ) {}

  /**
   * The thing, where it is there and the user may do this with it; undefined: what owners alone may do.
   * @throws Rejection `notFound` where the user does not know it, not-allowed where a grant shows it and does not allow this
   */
  async reached<T extends Thing>(
    user: SignedInUser,
    thing: T | undefined,
    family: Family,
    needs: ResourceAction | undefined,
    notFound: () => Rejection,
  ): Promise<T> {
    const grant = await this.grantOf(user.userId, thing, family);
    return reached(user, thing, notFound, family, { grant, needs });
  }

  /** Whether the user may do this with the thing. */
  async may(user: SignedInUser, thing: Thing | undefined, family: Family, needs: ResourceAction): Promise<boolean> {
    const grant = await this.grantOf(user.userId, thing, family);
    return may(user, { does: 'reach', thing, family, grant, needs });
  }

  /** What a user holds of a thing that belongs to another; undefined where it is the user's own, or nothing is held. */
  async grantOf(userId: string, thing: Thing | undefined, family: Family): Promise<Grant | undefined> {
    if (!thing || thing.ownerId === userId) return undefined;
    return (await this.grants(userId, family, [thing.id])).get(thing.id);
  }

  /** What a user holds of some things, by their ids; nothing of those that are the user's own. */
  grantsOf(userId: string, things: readonly Thing[], family: Family): Promise<ReadonlyMap<string, Grant>> {
    const others = things.filter(({ ownerId }) => ownerId !== userId).map(({ id }) => id);
    return this.grants(userId, family, others);
  }

  isOwn(user: SignedInUser, thing: Thing): boolean {
    return thing.ownerId === user.userId;
  }

  /** What a user's teams hold of things of others in a family, by their ids. */
  held(userId: string, family: Family): Promise<ReadonlyMap<string, Grant>> {
    return this.teams.heldBy(userId, family);
  }

  /** Those of some ids of others' things that a user may use by a grant. */
  async usable(userId: string, family: Family, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const held = await this.grants(userId, family, ids);
    return new Set([...held].filter(([, grant]) => grantAllows(family, grant, 'use')).map(([id]) => id));
  }

  /** By the user's teams and, of agents, by their links. */
  private async grants(userId: string, family: Family, ids: readonly string[]): Promise<ReadonlyMap<string, Grant>> {
    const held = await this.teams.heldBy(userId, family, ids);
    if (family !== 'agents') return held;
    const without = ids.filter((id) => !held.has(id));
    const kept = await this.kept.keptAmong(userId, without);
    return new Map([...held, ...kept.map((id) => [id, BY_LINK] as const)]);
  }

  /** Those of some things that are a user's to use: the user's own, or by a grant. */
  async usableAmong<T extends Thing>(userId: string, things: readonly T[], family: Family): Promise<readonly T[]> {
    const others = things.filter(({ ownerId }) => ownerId !== userId).map(({ id }) => id);
    const granted = others.length === 0 ? new Set<string>() : await this.usable(userId, family, others);
    return things.filter(({ id, ownerId }) => ownerId === userId || granted.has(id));
  }

  /** Whether a thing is a user's to use: the user's own, or by a grant. */
  async isUsable(userId: string, thing: Thing | undefined, family: Family): Promise<boolean> {
    if (!thing) return false;
    return thing.ownerId === userId || (await this.usable(userId, family, [thing.id])).has(thing.id);
  }
}
