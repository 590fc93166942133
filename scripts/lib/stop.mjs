/** Ends a command with exit code 1; the message is all that the person sees, and says what to do. */
export class Stop extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'Stop';
  }
}
