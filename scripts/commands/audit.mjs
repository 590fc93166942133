import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { isGrave, readAudit } from '../lib/audit.mjs';
import { root } from '../lib/paths.mjs';

/** Enough for a report on a thousand packages. */
const MAX_REPORT_BYTES = 64 * 1_048_576;
/** No retries: an unreachable registry must not delay the command. */
const ASK_ONCE = ['--fetch-retries=0', '--fetch-timeout=20000'];

/** Findings, and an audit that could not be made, are different answers to a pipeline. */
const EXIT = { clean: 0, findings: 1, notChecked: 2 };

/** Checks the production dependencies of the service and its console against the registry's advisories. */
export async function run() {
  const audits = await Promise.all(
    [root, join(root, 'console')].map(async (folder) => readAudit(await npmAudit(folder))),
  );
  const [reason] = audits.flatMap((audit) => (audit.asked ? [] : [audit.reason]));
  if (reason !== undefined) {
    console.log(`NOT CHECKED: the registry gave no report (${reason})`);
    // GitHub shows this beside the change.
    if (process.env.GITHUB_ACTIONS === 'true') console.log('::warning title=npm audit::not checked');
    process.exitCode = EXIT.notChecked;
    return;
  }
  const findings = audits.flatMap((audit) => (audit.asked ? audit.findings : []));
  for (const { name, severity, range, fix } of findings) {
    console.log(`${severity.padEnd(8)} ${name} ${range}${fix ? '' : ' (no fix yet)'}`);
  }
  const grave = findings.filter(isGrave).length;
  const verdict = grave > 0 ? 'FAILED' : 'CLEAN';
  console.log(`${verdict}: ${findings.length} findings, ${grave} of them high or critical`);
  if (grave > 0) process.exitCode = EXIT.findings;
}

/**
 * @param {string} folder
 * @returns {Promise<string>} The report. npm exits with an error when there are findings.
 */
function npmAudit(folder) {
  const options = { cwd: folder, maxBuffer: MAX_REPORT_BYTES };
  return new Promise((resolve) => {
    execFile('npm', ['audit', '--omit=dev', '--json', ...ASK_ONCE], options, (_error, stdout) =>
      resolve(stdout),
    );
  });
}
