import { NONE, type OptOutRule, rule } from './rule.ts';

const LIMITS = {
  before: /\b(?:por qué|si|cuando|él|ella|ellos|nunca|(?<!(?:pido|quiero|exijo|solicito|ruego|deseo) )que) $/,
  after:
    /^ (?:antes|después|hasta|hoy|mañana|ahora|todavía|por la|en la|a las?|entre|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)|al trabajo|cuando|si|así|señora?|tan)(?=$|[^\p{L}])/u,
};

export const SPANISH_RULES: readonly OptOutRule[] = [
  // "dejen de llamarme"
  rule(
    /\b(?:dejen|deje|deja|dejad|paren|pare|para|parad|basta) (?:ya )?de (?:llamarme|llamarnos|llamar|molestarme|contactarme|marcarme)(?= ya| por favor|$| a este| más| nunca| de una| con )/g,
    { ...LIMITS, before: /\bno $/ },
  ),
  // "no me vuelvan a llamar"
  rule(
    /\b(?:no|nunca) (?:me |nos )?(?:vuelva|vuelvan|vuelvas|volváis) a (?:llamar|llamarme|llamarnos|contactar|contactarme|marcar|marcarme)(?:me|nos)?(?![\p{L}])/gu,
    LIMITS,
  ),
  // "ya no me llamen más"
  rule(
    /\b(?:no|ya no) (?:me|nos) (?:llame|llamen|llames|llaméis|contacten|contacte|contactéis|marque|marquen|moleste|molesten|molestéis)(?: (?:más|nunca más|otra vez|jamás|nunca)|(?= por favor$|$))/gu,
    LIMITS,
  ),
  // "no llamen más"
  rule(/\bno (?:llame|llamen|llaméis) (?:más|nunca más)(?= (?:a este|aquí|por favor)|$)/gu, LIMITS),
  // "quítenme de su lista"
  rule(
    /\b(?:quítenme|quíteme|quítame|sáquenme|sáqueme|sácame|bórrenme|bórreme|bórrame|elimínenme|elimíneme|eliminadme|quitadme|borradme|sacadme|retírenme|retíreme) de (?:su|sus|vuestra|vuestras|la|las|esa|esta|tu) (?:lista|listas|base de datos)/gu,
  ),
  // "borren mi número"
  rule(
    /\b(?:borren|borre|borrad|borréis|eliminen|elimine|eliminad|eliminéis|quiten|quite|quitad|quitéis|retiren|retire|saquen|saque) (?:mi (?:número|teléfono|nombre)|mis datos)(?: de (?:su|sus|vuestra|vuestras|la|las|esta|esa) (?:lista|listas|base de datos)|(?= por favor$|$))/gu,
    { ...NONE, before: /\bno $/ },
  ),
  // "retiro mi consentimiento"
  rule(
    /\b(?:no autorizo (?:a )?que me llamen|(?:retiro|revoco) mi consentimiento|(?:darme|quiero la|denme|dadme) de baja de (?:las|sus|estas) llamadas)(?![\p{L}])/gu,
  ),
  // "no quiero que me llamen"
  rule(
    /\b(?:ya )?no quiero (?:que (?:me|nos) (?:llamen|llame|vuelvan a llamar|contacten)|recibir (?:más )?(?:sus |estas )?llamadas|más llamadas)(?![\p{L}])/gu,
    LIMITS,
  ),
];
