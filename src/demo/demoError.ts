/** Ends the demo with exit code 1. The message is shown to the user and says what to do. */
export class DemoError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DemoError';
  }
}
