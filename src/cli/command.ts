/** The command line's environment; tests provide their own. */
export interface CliContext {
  /** The settings, as the service reads them. @see readEnvironment */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly fetch: typeof fetch;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Whether `writeError` writes to a terminal. Default: no. */
  readonly isTerminal?: boolean;
  /** Has a listener called at the first Ctrl-C, which then ends nothing by itself. */
  readonly onInterrupt?: (listener: () => void) => void;
}

/**
 * Exit codes, after sysexits(3); `interrupted` is a shell's own for Ctrl-C. `refused` means that the service refused a
 * request, or that a check failed.
 */
export const EXIT = {
  ok: 0,
  refused: 1,
  usage: 64,
  unavailable: 69,
  noPermission: 77,
  configuration: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command. The message says what went wrong, and what the user can do about it. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}
