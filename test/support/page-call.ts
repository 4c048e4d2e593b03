/** A part of a form: a text, or a file. */
export type FormPart = string | Readonly<{ filename: string; type: string; base64: string }>;

/** A request of a page of the web client; a body goes as JSON, a form as a form. */
export type PageCall = Readonly<{ method: string; path: string; body?: unknown; form?: Readonly<Record<string, FormPart>> }>;

/** What a page got, as far as it may see it from another origin. */
export type PageReply = Readonly<{ status: number; disposition: string | null; text: string }>;
