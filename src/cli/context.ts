/** What the command line needs from the machine; tests bring their own. */
export interface CliContext {
  /** As the service reads it. @see readEnvironment */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly fetch: typeof fetch;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
}
