import { Injectable } from '@nestjs/common';
import { type ArtifactRecord, ArtifactQueries } from '../../../projections/artifacts/artifacts.queries.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { isLinkToken, linkTokenHash } from '../../kernel/event-sourcing/link-tokens.js';
import { isId } from '../../kernel/ids.js';
import { isShown, may, requireAccess } from '../identity/access.policy.js';
import type { NamedConversation, ShownByLink, Who } from '../identity/acts.policy.js';
import { type Caller, ownerOf } from '../identity/caller.js';
import { artifactNotFound } from './artifact.decider.js';

/** The conversation, workflow run or link that a request names. */
export type NamedPlaces = Readonly<{
  conversationId?: string | undefined;
  workflowRunId?: string | undefined;
  /** The token of a link to a conversation. */
  shareToken?: string | undefined;
}>;

/** An artifact as a caller may read it. A link hides the versions made after `until`, the time of the link. */
export type ReadArtifact = Readonly<{ artifact: ArtifactRecord; until: Date | undefined }>;

type Shown = ShownByLink & Readonly<{ sharedAt: Date }>;

/** Finds the artifacts that a request may read: those of its caller and those that a link shows. */
@Injectable()
export class ArtifactsInReach {
  constructor(
    private readonly artifacts: ArtifactQueries,
    private readonly conversations: ConversationQueries,
  ) {}

  /** Lists what a link shows if the request names only the link, or may not list the conversation that it names. */
  async listed(who: Who, { conversationId, workflowRunId, shareToken }: NamedPlaces): Promise<readonly ArtifactRecord[]> {
    if (shareToken !== undefined && !conversationId && !workflowRunId)
      return this.listedByLink(who, await this.shown(shareToken));
    const named = workflowRunId && who?.kind === 'agent-key' ? undefined : await this.named(conversationId);
    const of = named ?? (workflowRunId ? 'workflow-run' : 'owner');
    if (shareToken !== undefined && named && !may(who, { does: 'list-artifacts', of }))
      return this.listedByLink(who, await this.shown(shareToken), named);
    requireAccess(who, { does: 'list-artifacts', of });
    return this.artifacts.ownedBy(ownerOf(who!), conversationId ? { conversationId } : workflowRunId ? { workflowRunId } : {});
  }

  private async listedByLink(who: Who, shown: Shown | null | undefined, named?: NamedConversation) {
    const of = named ?? { conversationId: shown?.conversationId ?? '', began: undefined };
    requireAccess(who, { does: 'list-artifacts', of, shown });
    const made = (await this.artifacts.ofConversation(of.conversationId)).filter((each) => isShown(shown!, each));
    const asShown = await Promise.all(made.map((each) => this.asShown(each, shown!)));
    return asShown.filter((each) => each !== undefined);
  }

  /** @throws Rejection artifact-not-found */
  async read(who: Who, id: string, { conversationId, shareToken }: NamedPlaces): Promise<ReadArtifact> {
    const artifact = await this.byId(id);
    const within = await this.named(conversationId);
    const own = { does: 'read-artifact', artifact, within } as const;
    if (shareToken === undefined || (who && may(who, own))) {
      requireAccess(who, own, artifactNotFound);
      return { artifact: artifact!, until: undefined };
    }
    const shown = await this.shown(shareToken);
    requireAccess(who, { ...own, shown }, artifactNotFound);
    const asShown = await this.asShown(artifact!, shown!);
    if (!asShown) throw artifactNotFound();
    return { artifact: asShown, until: shown!.sharedAt };
  }

  /** An artifact that the caller may change. @throws Rejection artifact-not-found, not-allowed */
  async changed(caller: Caller, id: string, { conversationId }: NamedPlaces): Promise<ArtifactRecord> {
    const artifact = await this.byId(id);
    const within = await this.named(conversationId);
    requireAccess(caller, { does: 'change-artifact', artifact, within }, artifactNotFound);
    return artifact!;
  }

  private async byId(id: string): Promise<ArtifactRecord | undefined> {
    return isId(id) ? this.artifacts.byId(id) : undefined;
  }

  private async named(conversationId: string | undefined): Promise<NamedConversation | undefined> {
    if (!conversationId) return undefined;
    return { conversationId, began: isId(conversationId) ? await this.conversations.beginningOf(conversationId) : undefined };
  }

  /** Null if the link has been revoked or never existed. Undefined if the request names no link. */
  private async shown(token: string | undefined): Promise<Shown | null | undefined> {
    if (token === undefined) return undefined;
    return (isLinkToken(token) && (await this.conversations.shownBy(linkTokenHash(token)))) || null;
  }

  /** The artifact as it was when the link was made, without its parents. Undefined if it did not exist then. */
  private async asShown(artifact: ArtifactRecord, { sharedAt }: Shown): Promise<ArtifactRecord | undefined> {
    const newest = (await this.artifacts.versionsOf(artifact.id, sharedAt)).at(-1);
    if (!newest) return undefined;
    const { version: currentVersion, createdAt: updatedAt } = newest;
    return { ...artifact, conversationId: null, workflowRunId: null, currentVersion, updatedAt };
  }
}
