/** What a key gives access to. `keyId` names the key in the log without giving it away. */
export type AgentKeyHolder = Readonly<{ agentId: string; ownerId: string; keyId: string }>;

/** Finds the agent that a key belongs to. Revoked keys, and keys of drafts and deleted agents, belong to none. */
export abstract class AgentKeyDirectory {
  /** @param hash as `agentKeyHash` gives it */
  abstract byHash(hash: string): Promise<AgentKeyHolder | undefined>;
}
