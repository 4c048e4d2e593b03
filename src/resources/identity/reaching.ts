import { Injectable } from '@nestjs/common';
import { KeptAgentQueries } from '../../../projections/agents/kept-agents.queries.js';
import { TeamQueries } from '../../../projections/teams/teams.queries.js';
import type { Family, ResourceAction } from '../../kernel/access.js';
import type { Rejection } from '../../kernel/rejection.js';
import { may, reached } from './access.policy.js';
import type { SignedInUser } from './caller.js';
import { BY_LINK, type Grant, grantAllows } from './grants.policy.js';

type Thing = Readonly<{ id: string; ownerId: string }>;

/** Checks which resources a user may access: the user's own, and those of others by teams or links. */
@Injectable()
export class Reaching {
  constructor(
    private readonly teams: TeamQueries,
    private readonly kept: KeptAgentQueries,
  ) {}

  /**
   * The resource, if it exists and the user may do `needs` with it. If `needs` is undefined, only the owner may.
   * @throws Rejection `notFound` if the user has no grant of it, not-allowed if the user's grant does not allow the action
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

  /** Whether the user may do `needs` with the resource. */
  async may(user: SignedInUser, thing: Thing | undefined, family: Family, needs: ResourceAction): Promise<boolean> {
    const grant = await this.grantOf(user.userId, thing, family);
    return may(user, { does: 'reach', thing, family, grant, needs });
  }

  /** The user's grant of another user's resource. Undefined without a grant, and for the user's own resources. */
  async grantOf(userId: string, thing: Thing | undefined, family: Family): Promise<Grant | undefined> {
    if (!thing || thing.ownerId === userId) return undefined;
    return (await this.grants(userId, family, [thing.id])).get(thing.id);
  }

  /** The user's grants of other users' resources, by the ids of the resources. */
  grantsOf(userId: string, things: readonly Thing[], family: Family): Promise<ReadonlyMap<string, Grant>> {
    const others = things.filter(({ ownerId }) => ownerId !== userId).map(({ id }) => id);
    return this.grants(userId, family, others);
  }

  isOwn(user: SignedInUser, thing: Thing): boolean {
    return thing.ownerId === user.userId;
  }

  /** All grants that a user has by teams in a family, by the ids of the resources. */
  held(userId: string, family: Family): Promise<ReadonlyMap<string, Grant>> {
    return this.teams.heldBy(userId, family);
  }

  /** Those of the ids that a user may use by a grant. */
  async usable(userId: string, family: Family, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const held = await this.grants(userId, family, ids);
    return new Set([...held].filter(([, grant]) => grantAllows(family, grant, 'use')).map(([id]) => id));
  }

  /** The grants by the user's teams and, for agents, by links. */
  private async grants(userId: string, family: Family, ids: readonly string[]): Promise<ReadonlyMap<string, Grant>> {
    const held = await this.teams.heldBy(userId, family, ids);
    if (family !== 'agents') return held;
    const without = ids.filter((id) => !held.has(id));
    const kept = await this.kept.keptAmong(userId, without);
    return new Map([...held, ...kept.map((id) => [id, BY_LINK] as const)]);
  }

  /** The resources that a user may use: the user's own, and those with a grant. */
  async usableAmong<T extends Thing>(userId: string, things: readonly T[], family: Family): Promise<readonly T[]> {
    const others = things.filter(({ ownerId }) => ownerId !== userId).map(({ id }) => id);
    const granted = others.length === 0 ? new Set<string>() : await this.usable(userId, family, others);
    return things.filter(({ id, ownerId }) => ownerId === userId || granted.has(id));
  }

  /** Whether a user may use a resource, as its owner or by a grant. */
  async isUsable(userId: string, thing: Thing | undefined, family: Family): Promise<boolean> {
    if (!thing) return false;
    return thing.ownerId === userId || (await this.usable(userId, family, [thing.id])).has(thing.id);
  }
}
