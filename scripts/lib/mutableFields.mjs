import { readSources } from './docstrings.mjs';

/** More of them are a machine that hides: one field with named states, and one function with its transitions. */
const MOST_FIELDS = 8;
/**
 * Classes with more fields, and how many: filters and statistics of numbers, and those that wait for their machine. A
 * number may only fall.
 *
 * @type {Readonly<Record<string, number>>}
 */
const KNOWN = {
  AgentSpeech: 10,
  AgentStream: 11,
  AgentTurn: 11,
  AgentTurnQueue: 12,
  AnsweringMachineDetector: 9,
  Band: 10,
  CallSupervisors: 9,
  HtmlText: 11,
  InviteClient: 10,
  Journal: 10,
  LiveConnection: 12,
  RealtimeServer: 9,
  ServerStream: 9,
  SheetRows: 9,
  SlideText: 11,
  SourceStatistics: 13,
  SpokenText: 12,
  StreamTranscription: 13,
  StreamedText: 13,
  TextSpeech: 14,
  TransitEstimator: 9,
  TurnController: 10,
};

const CLASS = /^(?:export )?class (\w+)[^{]*\{\n([\s\S]*?)^\}/gm;
const FIELD =
  /^ {2}(?!readonly |static |get |set |async |constructor)#?\w+[?!]?(?:: [^(\n]*(?:\{[^}]*\})?)?(?: =.*|;)$/gm;

/**
 * Finds classes with more mutable fields than they may have.
 *
 * @param {readonly string[]} folders - The folders of sources, relative to the root.
 * @returns {string[]} A line `file: problem` for each class.
 */
export function findMutableFields(folders) {
  return readSources(folders).flatMap(({ file, source }) =>
    mutableFieldsOf(source).flatMap(({ name, count }) => {
      const most = KNOWN[name] ?? MOST_FIELDS;
      if (count > most) return [`${file}: ${name} has ${count} mutable fields, and may have ${most}`];
      return name in KNOWN && count < most
        ? [`${file}: ${name} has ${count} mutable fields; say so in scripts/lib/mutableFields.mjs`]
        : [];
    }),
  );
}

/**
 * Counts the mutable fields of each class in a source.
 *
 * @param {string} source - The text of a TypeScript file.
 */
export function mutableFieldsOf(source) {
  return [...source.matchAll(CLASS)].map(([, name = '', body = '']) => ({
    name,
    count: body.match(FIELD)?.length ?? 0,
  }));
}
