import { describeIssue, fieldName, listOf, typeName } from './validationMessages.js';
/** Enough to mend a form in one go, little enough to read; also bounds the answer to a hostile body. */
export const MAX_ERROR_DETAILS = 20;
/**
 * Writes a path into a JSON document as a pointer: `['nodes', 3, 'a/b']` is `/nodes/3/a~1b`, the whole document ``.
 *
 * @see RFC 6901 section 3
 */
export function jsonPointer(path) {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
/**
 * Tells in plain words what a zod schema had against a value: which field, and what would be right.
 *
 * Of a union, only the branch that the value comes nearest to is reported. Each unknown field is a detail of its own
 * and its path is the field itself. A message that the schema's author wrote is kept, with the field's name in place
 * of `{field}`.
 *
 * @param error - A ZodError, or anything else that carries zod's issues.
 * @returns At most {@link MAX_ERROR_DETAILS} details, in zod's order; at least one when there was an issue.
 */
export function zodDetails(error) {
  const details = [];
  for (const issue of error.issues) {
    if (details.length >= MAX_ERROR_DETAILS) break;
    details.push(...detailsOf(issue, []));
  }
  return details.slice(0, MAX_ERROR_DETAILS);
}
function detailsOf(issue, base) {
  const path = [...base, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: jsonPointer([...path, key]),
      message: `${fieldName([...path, key])} is not a known field`,
    }));
  }
  if (issue.code === 'invalid_union') return unionDetails(issue, path);
  if (issue.code === 'invalid_element') return issue.issues.flatMap((inner) => detailsOf(inner, path));
  return [{ path: jsonPointer(path), message: describeIssue(issue, path) }];
}
function unionDetails(issue, path) {
  const branches = branchesOf(issue);
  const nearest = nearestBranch(branches);
  if (nearest) return nearest.flatMap((inner) => detailsOf(inner, path));
  const expected = branches.flat().flatMap(expectedOf);
  const message = expected.length
    ? `${fieldName(path)} must be ${listOf([...new Set(expected)])}`
    : describeIssue(issue, path);
  return [{ path: jsonPointer(path), message }];
}
/** The union's branches, with those of a union that is itself a branch in its place. */
function branchesOf(issue) {
  return issue.errors.flatMap((branch) => {
    const [only, ...others] = branch;
    const isUnion = only?.code === 'invalid_union' && only.path.length === 0 && others.length === 0;
    return isUnion && only.errors.length > 0 ? branchesOf(only) : [branch];
  });
}
/**
 * The branch whose author the value most likely had in mind: one of the right type, then with the fewest wrong
 * literals (a wrong `event: "dtmf"` says that another branch was meant, and so does a field that must not be there), then with the fewest issues.
 */
function nearestBranch(branches) {
  const candidates = branches.filter((issues) => issues.length > 0 && !issues.some(isAboutTheValueItself));
  const score = (issues) =>
    issues.filter(isWrongLiteral).length * (MAX_ERROR_DETAILS + 1) +
    Math.min(issues.length, MAX_ERROR_DETAILS);
  return candidates.toSorted((a, b) => score(a) - score(b))[0];
}
function isAboutTheValueItself(issue) {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}
function isWrongLiteral(issue) {
  if (issue.code === 'invalid_union') return issue.discriminator !== undefined;
  if (issue.code === 'invalid_type') return issue.expected === 'never';
  return issue.code === 'invalid_value' && issue.values.length === 1;
}
function expectedOf(issue) {
  if (issue.code === 'invalid_type') return [typeName(issue.expected)];
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value));
  return [];
}
