/** The fields of a patch that say something: one that is there but undefined would wipe out what stands. */
export function omitUndefined<Patch extends object>(
  patch: Patch,
): { [Field in keyof Patch]?: Exclude<Patch[Field], undefined> } {
  const defined: Partial<Record<keyof Patch, unknown>> = {};
  for (const field of Object.keys(patch) as (keyof Patch)[]) {
    if (patch[field] !== undefined) defined[field] = patch[field];
  }
  return defined as { [Field in keyof Patch]?: Exclude<Patch[Field], undefined> };
}
