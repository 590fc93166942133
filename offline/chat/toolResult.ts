const MAX_RESULT_CHARACTERS = 300;
const MAX_FACTS = 5;

/** A tool's result as text: plain text as it is, a JSON object as its scalar values by name. */
export function toolResultText(content: string): string {
  const value = parse(content);
  if (typeof value !== 'object' || value === null) return bounded(String(value ?? content));
  const facts = Object.entries(value)
    .filter(([, fact]) => ['string', 'number', 'boolean'].includes(typeof fact))
    .slice(0, MAX_FACTS)
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
  return line.length > MAX_RESULT_CHARACTERS ? `${line.slice(0, MAX_RESULT_CHARACTERS)}…` : line;
}
