import { randomBytes } from 'node:crypto';

export interface FilePart {
  readonly name: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/**
 * A form with one file, as one body of bytes. The form of Node's own fetch is not that of the client whose connections
 * are used here.
 *
 * @see RFC 7578
 */
export function multipartBody(
  fields: Readonly<Record<string, string>>,
  file: FilePart,
): { readonly contentType: string; readonly body: Buffer } {
  const boundary = `callway-${randomBytes(16).toString('hex')}`;
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${file.name}"; filename="${file.fileName}"\r\nContent-Type: ${file.contentType}\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(texts.join('') + head),
    file.bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}
