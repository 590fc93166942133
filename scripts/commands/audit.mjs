import { execFile } from 'node:child_process';
import { isGrave, readAudit } from '../lib/audit.mjs';
import { root } from '../lib/paths.mjs';

/** Room for a report on a thousand packages. */
const MAX_REPORT_BYTES = 64 * 1_048_576;
/** Asked once: a registry that is away keeps nobody waiting for long. */
const ASK_ONCE = ['--fetch-retries=0', '--fetch-timeout=20000'];

/**
 * Asks the registry what is known against the packages that the service runs on. A registry that cannot be asked is no
 * failure, unless `--strict` says so.
 *
 * @param {string[]} args
 */
export async function run(args) {
  const audit = readAudit(await npmAudit());
  if (!audit.asked) {
    console.log(`The registry could not be asked: ${audit.reason}`);
    if (args.includes('--strict')) process.exitCode = 1;
    return;
  }
  for (const { name, severity, range, fix } of audit.findings) {
    console.log(`${severity.padEnd(8)} ${name} ${range}${fix ? '' : ' (no fix yet)'}`);
  }
  const grave = audit.findings.filter(isGrave);
  console.log(`${audit.findings.length} findings, ${grave.length} of them high or critical`);
  if (grave.length > 0) process.exitCode = 1;
}

/** @returns {Promise<string>} npm ends with an error where it found something, and says so on standard output. */
function npmAudit() {
  const options = { cwd: root, maxBuffer: MAX_REPORT_BYTES };
  return new Promise((resolve) => {
    execFile('npm', ['audit', '--omit=dev', '--json', ...ASK_ONCE], options, (_error, stdout) =>
      resolve(stdout),
    );
  });
}
