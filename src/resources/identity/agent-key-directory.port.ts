/** The agent of a key, and the owner's restrictions. `keyId` identifies the key in the log without revealing it. */
export type AgentKeyHolder = Readonly<{
  agentId: string;
  ownerId: string;
  keyId: string;
  /** Whether the agent is a draft. Its key is kept but cannot be used. */
  isDraft: boolean;
  /** The origins of the pages that may use the key. Null for all. */
  origins: readonly string[] | null;
}>;

/** Looks up the agent of a key. Revoked keys and keys of deleted agents are not found. */
export abstract class AgentKeyDirectory {
  /** @param hash the result of `agentKeyHash` */
  abstract byHash(hash: string): Promise<AgentKeyHolder | undefined>;
  /** Whether a key is still the current one of its agent, and the agent is published. */
  abstract isCurrent(agentId: string, keyId: string): Promise<boolean>;
}
