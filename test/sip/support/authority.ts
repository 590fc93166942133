import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** PEM texts of a test authority and a server certificate. */
export interface Authority {
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
}

/** Creates an authority and a certificate for one name, valid for a day. */
export async function makeAuthority(name: string): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'authority-'));
  try {
    const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
    const fresh = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '1',
    ];
    await openssl(...fresh, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test authority');
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', `subjectAltName=DNS:${name}`];
    await openssl(
      ...fresh,
      ...signed,
      '-keyout',
      'key.pem',
      '-out',
      'cert.pem',
      '-subj',
      `/CN=${name}`,
      '-addext',
      'basicConstraints=critical,CA:FALSE',
    );
    const read = (file: string) => readFile(join(folder, file), 'utf8');
    return { ca: await read('ca.pem'), key: await read('key.pem'), cert: await read('cert.pem') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
