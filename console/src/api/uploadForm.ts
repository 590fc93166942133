import { consoleHeaders, errorFrom } from './client.ts';

export interface UploadOptions {
  projectId: string;
  knowledgebaseId: string;
  /** @param sent - 0 to 1. */
  onProgress: (sent: number) => void;
  signal: AbortSignal;
}

/**
 * Uploads one document. `fetch` does not tell how much of a body is sent.
 *
 * @throws {ApiError}
 */
export async function uploadFile(
  file: File,
  { projectId, knowledgebaseId, onProgress, signal }: UploadOptions,
): Promise<void> {
  const request = new XMLHttpRequest();
  request.open('POST', `/v1/projects/${projectId}/knowledgebases/${knowledgebaseId}/datasets`);
  for (const [name, value] of Object.entries(consoleHeaders(projectId)))
    request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
  const form = new FormData();
  form.append('dataset', file);
  const stop = () => request.abort();
  signal.addEventListener('abort', stop);
  try {
    await new Promise((resolve, reject) => {
      request.onload = resolve;
      request.onerror = () => reject(new Error('network'));
      request.onabort = () => reject(signal.reason);
      request.send(form);
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
  const { status, responseText } = request;
  if (status >= 400) throw await errorFrom(new Response(responseText, { status }));
}
