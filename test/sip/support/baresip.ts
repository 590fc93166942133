import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reservePort } from '../../support/ports.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { type Program, startProgram } from './program.ts';
import { waitUntilBound } from './sipp.ts';

/** A baresip software phone with automatic answer. */
export interface Baresip extends Program {
  readonly uri: string;
  readonly port: number;
  /** The audio received in its last call, as a WAV file, complete after the call. */
  recorded(): Promise<Uint8Array>;
  dial(uri: string): Promise<void>;
  /** Plays this WAV file instead, at the codec's rate; the call ends with it. */
  play(sound: Uint8Array): Promise<void>;
  hangUp(): Promise<void>;
}

export interface BaresipOptions {
  /** As in its accounts file. */
  readonly codec?: 'PCMU/8000/1' | 'PCMA/8000/1' | 'G722/16000/1' | 'opus/48000/2';
  /** Its user. */
  readonly user?: string;
  readonly isEncrypted?: boolean;
  /** A WAV file at the codec's rate, with which the call ends; by default silence. */
  readonly plays?: Uint8Array;
}

const CONFIG = (port: number, controlPort: number, options: BaresipOptions, folder: string) => `
poll_method epoll
sip_listen 127.0.0.1:${port}
call_max_calls 4
audio_source ${options.plays ? `aufile,${folder}/plays.wav` : 'aubridge,bridge'}
audio_player aubridge,bridge
audio_alert aubridge,alert
ausrc_srate ${rateOf(options)}
auplay_srate ${rateOf(options)}
ausrc_channels ${channelsOf(options)}
auplay_channels ${channelsOf(options)}
net_interface 127.0.0.1
module_path /usr/lib/baresip/modules
module g711.so
module g722.so
module opus.so
module srtp.so
module aubridge.so
module aufile.so
module sndfile.so
module_tmp uuid.so
module_tmp account.so
module_app menu.so
module_app ctrl_tcp.so
ctrl_tcp_listen 127.0.0.1:${controlPort}
`;

const codecOf = ({ codec = 'PCMU/8000/1' }: BaresipOptions) => codec;
const rateOf = (options: BaresipOptions) => codecOf(options).split('/')[1];
const channelsOf = (options: BaresipOptions) => codecOf(options).split('/')[2];

/** Starts baresip on free ports. */
export async function startBaresip(options: BaresipOptions = {}): Promise<Baresip> {
  const [port, controlPort] = [await reservePort(), await reservePort()];
  const sounds = makeTempDir();
  const { user = 'bob' } = options;
  // The folder of its recordings.
  let home = '';
  let played = 0;
  if (options.plays) await writeFile(join(sounds.path, 'plays.wav'), options.plays);
  const security = options.isEncrypted ? ';mediaenc=srtp-mand' : '';
  const account = `<sip:${user}@127.0.0.1:${port}>;regint=0;answermode=auto;audio_codecs=${codecOf(options)}${security}\n`;
  const files = { config: CONFIG(port, controlPort, options, sounds.path), accounts: account, contacts: '' };
  const argumentsOf = (folder: string) => {
    home = folder;
    return ['-f', folder];
  };
  const program = await startProgram('baresip', files, argumentsOf, true);
  let socket: Socket;
  try {
    await waitUntilBound(port);
    socket = await connected(controlPort);
  } catch (error) {
    await program.close();
    sounds.remove();
    throw new Error(`baresip did not start: ${program.output}`, { cause: error });
  }
  const command = async (name: string, params = '') => {
    const text = JSON.stringify({ command: name, params, token: name });
    const answered = new Promise<void>((resolve) => socket.once('data', () => resolve()));
    socket.write(`${text.length}:${text},`);
    await answered;
  };
  return {
    pid: program.pid,
    uri: `sip:${user}@127.0.0.1:${port}`,
    port,
    async recorded() {
      const name = (await readdir(home))
        .filter((file) => file.endsWith('-dec.wav'))
        .sort()
        .at(-1);
      if (name === undefined) throw new Error(`baresip has recorded nothing: ${program.output}`);
      return await readFile(join(home, name));
    },
    get output() {
      return program.output;
    },
    dial: (uri) => command('dial', uri),
    async play(sound) {
      played += 1;
      const path = join(sounds.path, `plays-${played}.wav`);
      await writeFile(path, sound);
      await command('ausrc', `aufile,${path}`);
    },
    hangUp: () => command('hangup'),
    async close() {
      socket.destroy();
      await program.close();
      sounds.remove();
    },
  };
}

async function connected(port: number): Promise<Socket> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await new Promise<Socket>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket));
        socket.once('error', reject);
      });
    } catch (error) {
      if (tries === 50) throw error;
      await sleep(100);
    }
  }
}
