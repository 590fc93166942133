const KEY_FORM = /^[\w-]+(\/[\w-]+)*$/;

/** @throws {Error} When the key is not a relative path of plain names, which could leave the folder. */
export function requireFileKey(key: string): void {
  if (!KEY_FORM.test(key)) throw new Error(`invalid file key: ${JSON.stringify(key)}`);
}
