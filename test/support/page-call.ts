/** A part of a form: a text, or a file. */
export type FormPart = string | Readonly<{ filename: string; type: string; base64: string }>;

/** A request from a page of the web client. `body` is sent as JSON, `form` as a form. */
export type PageCall = Readonly<{ method: string; path: string; body?: unknown; form?: Readonly<Record<string, FormPart>> }>;

/** A response, as far as a page of another origin may read it. */
export type PageReply = Readonly<{ status: number; disposition: string | null; text: string }>;
