export interface ConfigurationProblem {
  readonly variable: string;
  readonly message: string;
}

/** Lists all invalid settings, each with the name of its variable. */
export class ConfigurationError extends Error {
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ variable, message }) => `${variable}: ${message}`).join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}
