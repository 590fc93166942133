import { constants } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { closedSchema } from '../../agents/closedSchema.ts';
import { reviewInput } from '../../agents/pathway/review/review.ts';
import { pathwaySchema } from '../../agents/pathway/schema/pathwaySchema.ts';
import { checkStructure, type KnownNames, requireValidStructure } from '../../agents/pathway/structure.ts';
import { CallwayError, type ErrorDetail, invalid } from '../../base/errors.ts';
import { serveThread } from '../../base/threads/watchedThread.ts';
import { zodDetails } from '../../base/validation.ts';
import { transferRefusal } from '../../calls/limits/destinations.ts';
import { setThreadPriority } from '../../media/engine/threadPriority.ts';
import type { CheckMethods } from './checkMethods.ts';

/** Compiled schemas and patterns that a thread keeps. */
const MAX_COMPILED = 200;
const MAX_REASON_CHARACTERS = 200;

// A voice thread has a raised priority, and what users write must not have it.
setThreadPriority(constants.priority.PRIORITY_NORMAL);

const validators = new LRUCache<string, ValidateFunction>({ max: MAX_COMPILED });

/** Maximum number of details in an error response; a large graph can have thousands of errors. */
const MAX_DETAILS = 100;
const MAX_PROBLEMS = 2_000;

/** The thread's side of `sandbox.ts`: one check at a time. */
const methods: CheckMethods = {
  // Used once: a schema whose references unfold without end compiles at once, and never answers.
  checkSchema: (schema) => problemIn(() => void validatorOf(schema)({})),
  checkArguments: (schema, args) =>
    problemIn(() => {
      const validate = validatorOf(schema);
      if (validate(JSON.parse(args))) return undefined;
      const [first] = validate.errors ?? [];
      return first ? problemOf(first) : 'they are not valid';
    }),
  checkPattern: (pattern) => problemIn(() => void linearPattern(pattern)),
  findPattern(pattern, text) {
    try {
      return linearPattern(pattern).test(text);
    } catch {
      return false;
    }
  },
  parsePathway: (graph, known) => orInvalid(() => parsePathway(JSON.parse(graph), known)),
  reviewPathway: (graph, options) =>
    orInvalid(() => {
      const { valid, problems } = reviewInput(JSON.parse(graph), options, transferRefusal);
      return { valid, problems: problems.slice(0, MAX_PROBLEMS) };
    }),
};
if (parentPort) serveThread(parentPort, methods);

function problemIn(check: () => string | undefined): string | undefined {
  try {
    return check();
  } catch (error) {
    return reasonOf(error);
  }
}

/** @throws {CallwayError} The check's own, or 400 `invalid_request`. */
function orInvalid<Result>(check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof CallwayError)) throw invalid('invalid_request', reasonOf(error));
    throw invalid(error.code, error.message, (error.details ?? []).slice(0, MAX_DETAILS));
  }
}

function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return reason.slice(0, MAX_REASON_CHARACTERS);
}

function parsePathway(input: unknown, known: KnownNames): string {
  const { data, error } = pathwaySchema.safeParse(input);
  if (error) throw invalidRequest(zodDetails(error));
  requireValidStructure(checkStructure(data, known));
  return JSON.stringify(data);
}

/** Creates the error that the API's validation of other bodies throws. */
function invalidRequest(details: readonly ErrorDetail[]): CallwayError {
  return invalid('invalid_request', details[0]?.message ?? 'The request is not valid', details);
}

/** Formats are not checked: what the model writes there is for the tool's own server to judge. */
function validatorOf(schemaText: string): ValidateFunction {
  const known = validators.get(schemaText);
  if (known) return known;
  const { $schema: _dialect, ...schema } = JSON.parse(schemaText);
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    logger: false,
    addUsedSchema: false,
    code: { regExp: Object.assign(linearPattern, { code: 'linearPattern' }) },
  });
  const validate = ajv.compile(closedSchema(schema));
  validators.set(schemaText, validate);
  return validate;
}

function problemOf({ instancePath, message, params }: ErrorObject): string {
  const extra: unknown = params.additionalProperty ?? params.unevaluatedProperty;
  const place = instancePath || 'the object';
  if (typeof extra === 'string')
    return `${place} has no argument ${JSON.stringify(extra.slice(0, 64))}; leave it out`;
  return `${place} ${message ?? 'is not right'}`;
}

/**
 * A regular expression in JavaScript's syntax that takes linear time: without look-around and back references.
 *
 * @throws {Error} Compiles a pattern. @throws {Error} When the pattern is malformed, or needs a feature that linear
 *   time does not allow.
 */
function linearPattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  // The validator takes patterns of the same text for the same.
  return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
}
