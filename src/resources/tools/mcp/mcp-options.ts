/**
 * The address at which browsers reach this service; null if it is not configured. They return to it from authorization servers.
 */
export class McpOptions {
  constructor(readonly publicBaseUrl: string | null) {}
}

export const CALLBACK_PATH = '/api/mcp_server/callback';
