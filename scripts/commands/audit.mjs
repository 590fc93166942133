import { execFile } from 'node:child_process';
import { isGrave, readAudit } from '../lib/audit.mjs';
import { root } from '../lib/paths.mjs';

/** Enough for a report on a thousand packages. */
const MAX_REPORT_BYTES = 64 * 1_048_576;
/** No retries: an unreachable registry must not delay the command. */
const ASK_ONCE = ['--fetch-retries=0', '--fetch-timeout=20000'];

/**
 * Checks the production dependencies against the registry's advisories. An unreachable registry is not a failure,
 * unless `--strict` is given.
 *
 * @param {string[]} args
 */
export async function run(args) {
  const audit = readAudit(await npmAudit());
  if (!audit.asked) {
    console.log(`The registry is unreachable: ${audit.reason}`);
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

/** @returns {Promise<string>} The report. npm exits with an error when there are findings. */
function npmAudit() {
  const options = { cwd: root, maxBuffer: MAX_REPORT_BYTES };
  return new Promise((resolve) => {
    execFile('npm', ['audit', '--omit=dev', '--json', ...ASK_ONCE], options, (_error, stdout) =>
      resolve(stdout),
    );
  });
}
