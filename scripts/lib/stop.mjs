/** Ends a command with exit code 1. The message is shown to the user and says what to do. */
export class Stop extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'Stop';
  }
}
