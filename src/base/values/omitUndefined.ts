/** Removes fields with the value undefined, so that a patch does not overwrite existing values with them. */
export function omitUndefined<Patch extends object>(
  patch: Patch,
): { [Field in keyof Patch]?: Exclude<Patch[Field], undefined> } {
  const defined: Partial<Record<keyof Patch, unknown>> = {};
  for (const field of Object.keys(patch) as (keyof Patch)[]) {
    if (patch[field] !== undefined) defined[field] = patch[field];
  }
  return defined as { [Field in keyof Patch]?: Exclude<Patch[Field], undefined> };
}
