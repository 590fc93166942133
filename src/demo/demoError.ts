/** Ends the demo with exit code 1; the message is all that the person sees, and says what to do. */
export class DemoError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DemoError';
  }
}
