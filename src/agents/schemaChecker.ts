/**
 * Checks JSON Schemas, and values against them, apart from the event loop: a schema that a user writes may take any time.
 *
 * @throws {CallwayError} `check_too_slow` when a check exceeds its time, and `project_busy` for a while after that.
 */
export interface SchemaChecker {
  /** @returns The problem of the schema of a tool's parameters, if there is one. */
  checkSchema(projectId: string, schema: object): Promise<string | undefined>;
  /** @returns The reason for which the arguments do not fit the parameters, if they do not. */
  checkArguments(projectId: string, schema: object, args: object): Promise<string | undefined>;
}

/** Matches the regular expressions that users write, in linear time and apart from the event loop. */
export interface PatternMatcher {
  /** @returns The problem of the pattern, if there is one. */
  checkPattern(projectId: string, pattern: string): Promise<string | undefined>;
  /** Whether the pattern is found in the text. */
  findPattern(projectId: string, pattern: string, text: string): Promise<boolean>;
}
