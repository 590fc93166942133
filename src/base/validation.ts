import { z } from 'zod';
import type { ErrorDetail } from './errors.ts';
import { describeIssue, fieldName, listOf, typeName } from './validationMessages.ts';

type Issue = z.core.$ZodIssue;
type UnionIssue = Extract<Issue, { code: 'invalid_union' }>;

/** A duration in a response: clocks and percentiles give fractions, clients expect whole numbers. */
export const milliseconds = z.number().overwrite(Math.round).meta({ type: 'integer' });

/** Enough to fix a form at once, and bounds the response to a hostile body. */
export const MAX_ERROR_DETAILS = 20;

/**
 * Formats a path into a JSON document as a pointer: `['nodes', 3, 'a/b']` is `/nodes/3/a~1b`, the whole document ``.
 *
 * @see RFC 6901 section 3
 */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * Describes in plain words what a zod schema rejected: which field, and what would be right.
 *
 * Of a union, only the closest branch is reported. Each unknown field is a detail of its own with the field as its
 * path. A custom message of the schema is kept; `{field}` in it is replaced by the field's name.
 *
 * @param error - A ZodError, or another carrier of zod's issues.
 * @returns At most {@link MAX_ERROR_DETAILS} details, in zod's order; at least one when there was an issue.
 */
export function zodDetails(error: { readonly issues: readonly Issue[] }): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const issue of error.issues) {
    if (details.length >= MAX_ERROR_DETAILS) break;
    details.push(...detailsOf(issue, []));
  }
  return details.slice(0, MAX_ERROR_DETAILS);
}

function detailsOf(issue: Issue, base: readonly PropertyKey[]): ErrorDetail[] {
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

function unionDetails(issue: UnionIssue, path: readonly PropertyKey[]): ErrorDetail[] {
  const branches = branchesOf(issue);
  const nearest = nearestBranch(branches);
  if (nearest) return nearest.flatMap((inner) => detailsOf(inner, path));
  const expected = branches.flat().flatMap(expectedOf);
  const message = expected.length
    ? `${fieldName(path)} must be ${listOf([...new Set(expected)])}`
    : describeIssue(issue, path);
  return [{ path: jsonPointer(path), message }];
}

/** The branches of a union; nested unions are flattened. */
function branchesOf(issue: UnionIssue): (readonly Issue[])[] {
  return issue.errors.flatMap((branch) => {
    const [only, ...others] = branch;
    const isUnion = only?.code === 'invalid_union' && only.path.length === 0 && others.length === 0;
    return isUnion && only.errors.length > 0 ? branchesOf(only) : [branch];
  });
}

/**
 * The branch that the value was most likely meant for: one of the right type, then with the fewest wrong literals (a
 * wrong `event: "dtmf"` or a forbidden field means that another branch was meant), then with the fewest issues.
 */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const candidates = branches.filter((issues) => issues.length > 0 && !issues.some(isAboutTheValueItself));
  const score = (issues: readonly Issue[]) =>
    issues.filter(isWrongLiteral).length * (MAX_ERROR_DETAILS + 1) +
    Math.min(issues.length, MAX_ERROR_DETAILS);
  return candidates.toSorted((a, b) => score(a) - score(b))[0];
}

function isAboutTheValueItself(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function isWrongLiteral(issue: Issue): boolean {
  if (issue.code === 'invalid_union') return issue.discriminator !== undefined;
  if (issue.code === 'invalid_type') return issue.expected === 'never';
  return issue.code === 'invalid_value' && issue.values.length === 1;
}

function expectedOf(issue: Issue): string[] {
  if (issue.code === 'invalid_type') return [typeName(issue.expected)];
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value));
  return [];
}
