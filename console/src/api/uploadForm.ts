import { consoleHeaders, errorFrom } from './client.ts';

export interface UploadOptions {
  /** Undefined for an upload to the installation. */
  projectId: string | undefined;
  /** @param sent - 0 to 1. */
  onProgress: (sent: number) => void;
  signal?: AbortSignal;
}

/**
 * Posts a form with a file. `fetch` does not tell how much of a body is sent.
 *
 * @returns The JSON of the response.
 * @throws {ApiError}
 */
export async function uploadForm(
  url: string,
  form: FormData,
  { projectId, onProgress, signal }: UploadOptions,
): Promise<unknown> {
  const request = new XMLHttpRequest();
  request.open('POST', url);
  for (const [name, value] of Object.entries(consoleHeaders(projectId)))
    request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
  const stop = () => request.abort();
  signal?.addEventListener('abort', stop);
  try {
    await new Promise((resolve, reject) => {
      request.onload = resolve;
      request.onerror = () => reject(new Error('network'));
      request.onabort = () => reject(signal?.reason);
      request.send(form);
    });
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  const { status, responseText } = request;
  if (status >= 400) throw await errorFrom(new Response(responseText, { status }));
  return JSON.parse(responseText);
}
