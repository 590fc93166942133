import type { Play, PlayedCase, TestRun } from '../runs/testRun.ts';
import { reportText, shownValue } from './reportText.ts';

/** A run as JUnit XML, with a test case for each play. */
export function junitReport(run: TestRun): string {
  const plays = run.cases.flatMap(({ runs }) => runs);
  const count = (status: Play['status']) => plays.filter((play) => play.status === status).length;
  const skipped = plays.filter(({ status }) => !['passed', 'failed', 'error'].includes(status)).length;
  const counts = `tests="${plays.length}" failures="${count('failed')}" errors="${count('error')}" skipped="${skipped}"`;
  const time = secondsBetween(run.startedAt, run.endedAt);
  const name = reportText(run.name);
  const timestamp = run.startedAt ?? run.createdAt;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" ${counts} time="${time}">`,
    `  <testsuite name="${name}" ${counts} time="${time}" timestamp="${timestamp}" id="${run.id}">`,
    ...run.cases.flatMap((one) => one.runs.map((play) => testCase(name, one, play))),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(suite: string, { name, runs }: PlayedCase, play: Play): string {
  const repeat = runs.length > 1 ? ` (${play.index + 1} of ${runs.length})` : '';
  const head = `    <testcase classname="${suite}" name="${reportText(name + repeat)}"`;
  const content = contentOf(play);
  return content === '' ? `${head}/>` : `${head}>\n${content}\n    </testcase>`;
}

function contentOf({ status, error, assertions }: Play): string {
  switch (status) {
    case 'passed':
      return '';
    case 'failed':
      return assertions
        .filter(({ passed }) => !passed)
        .map(({ type, seen, turn, reason }) => {
          const place = turn === undefined ? '' : ` at turn ${turn}`;
          const message = reportText(`${type}${place}${reason === undefined ? '' : `: ${reason}`}`);
          return `      <failure type="${type}" message="${message}">${reportText(shownValue(seen))}</failure>`;
        })
        .join('\n');
    case 'error':
      return `      <error message="${reportText(error ?? 'It could not be played')}"/>`;
    default:
      return `      <skipped message="${status}"/>`;
  }
}

function secondsBetween(from: string | null, to: string | null): string {
  if (from === null || to === null) return '0';
  return ((Date.parse(to) - Date.parse(from)) / 1000).toFixed(3);
}
