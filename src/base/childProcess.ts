import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Starts a Node process from a TypeScript module, or from what the build makes of it, with a channel for messages.
 *
 * It shares this process's terminal, whose Ctrl-C it should ignore; it sees `disconnect` when this process ends. It keeps no
 * process alive.
 *
 * @param module - Such as `new URL('./recognizerHost.ts', import.meta.url)`; in the build the file ends in `.js`.
 */
export function startProcess(module: URL): ChildProcess {
  const isSource = import.meta.url.endsWith('.ts');
  const file = isSource ? module : new URL(module.href.replace(/\.ts$/, '.js'));
  const child = fork(fileURLToPath(file), [], {
    // Not this process's arguments of Node: an inspector's port is taken.
    execArgv: isSource ? ['--import', typeScriptLoader()] : [],
    env: { PATH: process.env.PATH },
    serialization: 'advanced',
  });
  child.unref();
  child.channel?.unref();
  return child;
}

function typeScriptLoader(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}
