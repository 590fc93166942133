import { evaluateExpression } from './evaluateExpression.ts';
import { renderTemplate } from './templates.ts';

const VARIABLES = { name: 'Ann', age: 41, list: [{ id: 1 }, { id: 2 }], at: '2026-01-01T10:00:00Z' };
/** A template of each kind: outputs and blocks, a missing variable, one that fails, and one that cannot be read. */
const TEMPLATES = [
  `{% assign who = name | append: "!" %}{% if age > 18 and name contains "A" %}{{ who | upcase }}
{% elsif age == 1 %}{% else %}-{% endif %}{% unless done %}{{ list | size }}{% endunless %}
{% for one in list limit: 2 %}{{ one.id }}{% else %}{% endfor %}
{% case age %}{% when 41 %}{{ list[0].id | plus: 1 }}{% else %}{% endcase %}{% comment %}{% endcomment %}
{{ list | map: "id" | join: ", " }}{{ at | date: "%A, %B %-d, %Y at %H:%M" }}{{ other | default: "none" }}`,
  '{{ other.name }}',
  '{{ "a" | date: list }}{% if name %}{{ name }}{% endif %}',
  '{{ name }}{% if',
];
const NAME = { var: 'name' };
const AGE = { var: ['age', 0] };
const EXPRESSIONS = [
  {
    and: [
      { or: [{ '==': [NAME, 'Ann'] }, { '!=': [AGE, '41'] }] },
      { '!': [{ missing: ['name'] }] },
      { '>=': [AGE, 18] },
      { '<': [0, AGE, 99] },
      { in: ['A', NAME] },
      { some: [{ var: 'list' }, { '===': [{ var: 'id' }, 2] }] },
      { '==': [{ cat: [NAME, ' ', AGE] }, 'Ann 41'] },
      { if: [{ '!!': [NAME] }, { '>': [{ '+': [AGE, 1] }, 41] }, false] },
    ],
  },
  { '<': [NAME, 1] },
];

/**
 * Evaluates a template and an expression of each kind. The first evaluations in a process take many times as long as
 * those after them, since the code is compiled with them; no project's share pays for that.
 */
export function warmUpEvaluation(timeZone = 'UTC'): void {
  const ignore = () => undefined;
  for (const template of TEMPLATES) {
    renderTemplate(template, VARIABLES, { timeZone, onMissing: ignore, onFailure: ignore });
  }
  for (const expression of EXPRESSIONS) evaluateExpression(expression, VARIABLES, { onFailure: ignore });
}
