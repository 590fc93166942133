import { execFile } from 'node:child_process';
import { isGrave, readAudit } from '../lib/audit.mjs';
import { root } from '../lib/paths.mjs';

/** Enough for a report on a thousand packages. */
const MAX_REPORT_BYTES = 64 * 1_048_576;
/** No retries: an unreachable registry must not delay the command. */
const ASK_ONCE = ['--fetch-retries=0', '--fetch-timeout=20000'];

/** Findings, and an audit that could not be made, are different answers to a pipeline. */
const EXIT = { clean: 0, findings: 1, notChecked: 2 };

/** Checks the production dependencies against the registry's advisories. */
export async function run() {
  const audit = readAudit(await npmAudit());
  if (!audit.asked) {
    console.log(`NOT CHECKED: the registry gave no report (${audit.reason})`);
    // GitHub shows this beside the change.
    if (process.env.GITHUB_ACTIONS === 'true') console.log('::warning title=npm audit::not checked');
    process.exitCode = EXIT.notChecked;
    return;
  }
  for (const { name, severity, range, fix } of audit.findings) {
    console.log(`${severity.padEnd(8)} ${name} ${range}${fix ? '' : ' (no fix yet)'}`);
  }
  const grave = audit.findings.filter(isGrave).length;
  const verdict = grave > 0 ? 'FAILED' : 'CLEAN';
  console.log(`${verdict}: ${audit.findings.length} findings, ${grave} of them high or critical`);
  if (grave > 0) process.exitCode = EXIT.findings;
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
