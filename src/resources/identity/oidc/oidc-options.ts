/** Where its routes begin. */
export const OIDC_PATH = '/api/auth/oidc/';

/** How users sign in at a provider. */
export type OidcSettings = Readonly<{
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  scopes: string;
  userIdClaim: string;
  /** Where the web client is; browsers are sent nowhere else but there and to the provider. */
  frontendUrl: string;
  /** Where the provider sends browsers back to; undefined: the callback at the address that the request came to. */
  redirectUri: string | undefined;
  sessionLifetimeMs: number;
  providerName: string | undefined;
  allowedGroups: readonly string[];
  groupsClaim: string;
  adminGroups: readonly string[];
}>;

/** Undefined settings: nobody signs in at a provider. */
export class OidcOptions {
  constructor(
    readonly settings: OidcSettings | undefined,
    readonly publicApiBaseUrl: string | undefined,
  ) {}
}
