/** Decodes a part of a connection string. @throws Error whose message never quotes the text, because it may be a password */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('has a % that begins no escape; write %25 for the character itself.');
  }
}
