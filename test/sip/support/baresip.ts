import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Program, startProgram } from './program.ts';
import { freePort, untilBound } from './sipp.ts';

/** A software phone that answers by itself, and does what it is told. */
export interface Baresip extends Program {
  readonly uri: string;
  dial(uri: string): Promise<void>;
  hangUp(): Promise<void>;
}

const CONFIG = (port: number, controlPort: number) => `
poll_method epoll
sip_listen 127.0.0.1:${port}
call_max_calls 4
audio_source aubridge,bridge
audio_player aubridge,bridge
audio_alert aubridge,alert
ausrc_srate 8000
auplay_srate 8000
ausrc_channels 1
auplay_channels 1
net_interface 127.0.0.1
module_path /usr/lib/baresip/modules
module g711.so
module aubridge.so
module_tmp uuid.so
module_tmp account.so
module_app menu.so
module_app ctrl_tcp.so
ctrl_tcp_listen 127.0.0.1:${controlPort}
`;

/** Starts a baresip on ports of its own. */
export async function startBaresip(): Promise<Baresip> {
  const [port, controlPort] = [await freePort(), await freePort()];
  const account = `<sip:bob@127.0.0.1:${port}>;regint=0;answermode=auto;audio_codecs=PCMU/8000/1\n`;
  const files = { config: CONFIG(port, controlPort), accounts: account, contacts: '' };
  const program = await startProgram('baresip', files, (folder) => ['-f', folder]);
  let socket: Socket;
  try {
    await untilBound(port);
    socket = await connected(controlPort);
  } catch (error) {
    await program.close();
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
    uri: `sip:bob@127.0.0.1:${port}`,
    get output() {
      return program.output;
    },
    dial: (uri) => command('dial', uri),
    hangUp: () => command('hangup'),
    async close() {
      socket.destroy();
      await program.close();
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
