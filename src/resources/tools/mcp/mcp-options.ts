/** How the service is reached from outside, where it was told; browsers come back to it from authorization servers. */
export class McpOptions {
  constructor(readonly publicBaseUrl: string | null) {}
}

export const CALLBACK_PATH = '/api/mcp_server/callback';
