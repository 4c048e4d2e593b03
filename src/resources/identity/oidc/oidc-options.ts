/** The prefix of the routes. */
export const OIDC_PATH = '/api/auth/oidc/';

/** The settings for sign-in at a provider. */
export type OidcSettings = Readonly<{
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  scopes: string;
  userIdClaim: string;
  /** The URL of the web client. Browsers are redirected only there and to the provider. */
  frontendUrl: string;
  /** The URL to which the provider sends browsers back. Undefined for the callback at this service's own base URL. */
  redirectUri: string | undefined;
  sessionLifetimeMs: number;
  providerName: string | undefined;
  allowedGroups: readonly string[];
  groupsClaim: string;
  adminGroups: readonly string[];
}>;

/** `settings` is undefined if sign-in at a provider is not configured. */
export class OidcOptions {
  constructor(
    readonly settings: OidcSettings | undefined,
    readonly publicApiBaseUrl: string | undefined,
  ) {}
}
