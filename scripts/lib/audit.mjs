/**
 * What `npm audit --json` has found, as far as it could ask.
 *
 * @typedef {{ asked: false, reason: string }
 *   | { asked: true, findings: { name: string, severity: string, range: string, fix: boolean }[] }} Audit
 */

/** From the worst on. */
const SEVERITIES = ['critical', 'high', 'moderate', 'low', 'info'];

/**
 * @param {string} output - Of npm, on its standard output.
 * @returns {Audit}
 */
export function readAudit(output) {
  const report = parse(output);
  if (typeof report?.vulnerabilities !== 'object' || report.vulnerabilities === null) {
    const reason = report?.message ?? report?.error?.summary;
    return {
      asked: false,
      reason: typeof reason === 'string' && reason !== '' ? reason : 'npm gave no report',
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
 * Whether it is bad enough to hold up a release.
 *
 * @param {{ severity: string }} finding
 */
export function isGrave({ severity }) {
  return rank(severity) <= rank('high');
}

/** @param {string} severity */
function rank(severity) {
  const index = SEVERITIES.indexOf(severity);
  // What nobody knows is taken for the worst.
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
