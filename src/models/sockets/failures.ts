import { ModelError } from '../ports/modelError.ts';

/** Returns true when a vendor's close code means that the same request would be refused again. */
export type IsRefusal = (code: number, reason: string) => boolean;

/** 1008 and the private codes from 4000 on; the others are accidents. */
const isRefusal: IsRefusal = (code) => code === 1008 || (code >= 4000 && code < 4500);

/** @param isRefusedBy - Interprets the close codes of a vendor whose private codes mean other things too. */
export function closedBy(name: string, code: number, reason: string, isRefusedBy = isRefusal): ModelError {
  const isRefused = isRefusedBy(code, reason);
  const told = reason === '' ? '' : `: ${reason.slice(0, 200)}`;
  return new ModelError(
    isRefused ? 'model_rejected' : 'model_unavailable',
    `${name} closed the connection with the code ${code}${told}`,
    { retryable: !isRefused },
  );
}

/**
 * Creates the error for a malformed message. It quotes the cause only when that contains no part of the message, which
 * may contain the caller's words.
 */
export function malformed(name: string, cause: unknown): ModelError {
  const options = cause instanceof SyntaxError ? {} : { cause };
  return new ModelError('model_malformed', `${name} sent a message that cannot be read`, options);
}

/** The key must not appear in messages or logs. */
export function withoutSecret(error: ModelError, secret: string | undefined): ModelError {
  if (secret === undefined || !error.message.includes(secret)) return error;
  const { code, retryable, message } = error;
  return new ModelError(code, message.replaceAll(secret, '[redacted]'), { retryable });
}

export function toModelError(name: string, error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  return new ModelError('model_unavailable', `${name} cannot be reached`, { cause: error });
}
