/** What the voices say, by language. */
export interface Phrases {
  /** Of espeak-ng. */
  readonly voice: string;
  readonly leads: readonly string[];
  /** Beginnings of those that are questions. */
  readonly asking: readonly string[];
  readonly actions: readonly string[];
  readonly additions: readonly string[];
  readonly conjunctions: readonly string[];
  /** Clauses that follow a conjunction. */
  readonly reasons: readonly string[];
  readonly questions: readonly string[];
  readonly answers: readonly string[];
  readonly fillers: readonly string[];
  /** Before a number. */
  readonly numbers: readonly string[];
  /** How many digits are said together, such as `4 3 3`. */
  readonly groups: readonly string[];
  join(words: readonly string[]): string;
  /** As many random digits. */
  digits(count: string, random: () => number): string;
}

export const LANGUAGES = ['en', 'de', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];
