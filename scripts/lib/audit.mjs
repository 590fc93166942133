/**
 * The result of `npm audit --json`.
 *
 * @typedef {{ asked: false, reason: string }
 *   | { asked: true, findings: { name: string, severity: string, range: string, fix: boolean }[] }} Audit
 */

/** Most severe first. */
const SEVERITIES = ['critical', 'high', 'moderate', 'low', 'info'];

/**
 * @param {string} output - Standard output of npm.
 * @returns {Audit}
 */
export function readAudit(output) {
  const report = parse(output);
  if (typeof report?.vulnerabilities !== 'object' || report.vulnerabilities === null) {
    const reason = report?.message ?? report?.error?.summary;
    return {
      asked: false,
      reason: typeof reason === 'string' && reason !== '' ? reason : 'npm returned no report',
    };
  }
  const findings = Object.values(report.vulnerabilities).map(({ name, severity, range, fixAvailable }) => ({
    name: String(name),
    severity: String(severity),
    range: String(range),
    fix: Boolean(fixAvailable),
  }));
  return { asked: true, findings: findings.sort((one, other) => rank(one.severity) - rank(other.severity)) };
}

/**
 * Whether a finding blocks a release.
 *
 * @param {{ severity: string }} finding
 */
export function isGrave({ severity }) {
  return rank(severity) <= rank('high');
}

/** @param {string} severity */
function rank(severity) {
  const index = SEVERITIES.indexOf(severity);
  // An unknown severity counts as the worst.
  return index === -1 ? 0 : index;
}

/**
 * @param {string} text
 * @returns {any}
 */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
