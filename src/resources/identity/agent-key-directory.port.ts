/** What a key gives access to, and what its owner says of its use. `keyId` names the key in the log without giving it away. */
export type AgentKeyHolder = Readonly<{
  agentId: string;
  ownerId: string;
  keyId: string;
  /** The agent is a draft: its key stands, but is of no use. */
  isDraft: boolean;
  /** The origins of the pages that may use the key; null: all. */
  origins: readonly string[] | null;
}>;

/** Finds the agent that a key belongs to. Revoked keys, and keys of deleted agents, belong to none. */
export abstract class AgentKeyDirectory {
  /** @param hash as `agentKeyHash` gives it */
  abstract byHash(hash: string): Promise<AgentKeyHolder | undefined>;
  /** Whether a key is still that of its agent, and of use. */
  abstract isCurrent(agentId: string, keyId: string): Promise<boolean>;
}
