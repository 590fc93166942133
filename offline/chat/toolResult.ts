/** More than this nobody listens to. */
const LONGEST_RESULT_CHARACTERS = 300;
const MOST_FACTS = 5;

/** Tells what a tool gave back: plain text as it is, of a JSON object its plain values by name. */
export function toolResultText(content: string): string {
  const value = parse(content);
  if (typeof value !== 'object' || value === null) return bounded(String(value ?? content));
  const facts = Object.entries(value)
    .filter(([, fact]) => ['string', 'number', 'boolean'].includes(typeof fact))
    .slice(0, MOST_FACTS)
    .map(([name, fact]) => `${name}: ${fact}`);
  return facts.length > 0 ? bounded(`${facts.join(', ')}.`) : 'That is done.';
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}

function bounded(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line === '') return 'That is done.';
  return line.length > LONGEST_RESULT_CHARACTERS ? `${line.slice(0, LONGEST_RESULT_CHARACTERS)}…` : line;
}
