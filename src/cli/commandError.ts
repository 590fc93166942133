/** How the command line ends, after sysexits(3); 1 stands for what the service or a check refused. */
export const EXIT = {
  ok: 0,
  refused: 1,
  usage: 64,
  unavailable: 69,
  noPermission: 77,
  configuration: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command: what went wrong, and what its user can do about it. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}
