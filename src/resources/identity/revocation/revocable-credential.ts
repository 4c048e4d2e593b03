/** A credential that may end while an answer is read with it. */
export type RevocableCredential = Readonly<{
  /** Names it among all; the same token with another secret is another credential. */
  id: string;
  /** The subject of the signal that it may have ended. */
  subject: string;
  /** Whether it still lets its bearer in, as the stores say now. */
  isValid(): Promise<boolean>;
}>;

export const accessTokenSubject = (tokenId: string): string => `credential.access-token.${tokenId}`;
export const agentKeySubject = (keyId: string): string => `credential.agent-key.${keyId}`;
