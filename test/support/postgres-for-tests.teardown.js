/** The counterpart of the setup. Without a server of our own there is nothing to stop. */
export default async function stopPostgresForTests() {
  await globalThis.dropTemplateDatabase?.();
  await globalThis.stopPostgresForTests?.();
}
