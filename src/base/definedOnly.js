/** The fields of a patch that say something: one that is there but undefined would wipe out what stands. */
export function definedOnly(patch) {
  const defined = {};
  for (const field of Object.keys(patch)) {
    if (patch[field] !== undefined) defined[field] = patch[field];
  }
  return defined;
}
