const KEY_FORM = /^[\w-]+(\/[\w-]+)*$/;

/** @throws {Error} When it is not a relative path of plain names, and so might lead out of where files lie. */
export function requireFileKey(key: string): void {
  if (!KEY_FORM.test(key)) throw new Error(`not the key of a file: ${JSON.stringify(key)}`);
}
