import type { ChildProcess } from 'node:child_process';

/**
 * The next message of a child process.
 *
 * @throws {Error} When the process ends first, or has ended.
 */
export function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      child.off('exit', onExit);
      resolve(message as Message);
    };
    const onExit = (code: number | null, signal: NodeJS.Signals | null) => {
      child.off('message', onMessage);
      reject(new Error(`the measured process ended with ${code ?? signal}`));
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
    if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode);
  });
}
