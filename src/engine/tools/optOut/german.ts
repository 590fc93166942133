import { NONE, type OptOutRule, rule } from './rule.ts';

const LIMITS = {
  before: /(?:^| )(?:warum|wieso|ob|dass)$/,
  after:
    /^ (?:vor|nach|bis|heute|morgen|jetzt|am|um|im|zwischen|so|bei der arbeit|während|wenn|bevor|erst)(?=$|[^\p{L}])/u,
};

export const GERMAN_RULES: readonly OptOutRule[] = [
  // "hören Sie auf, mich anzurufen"
  rule(
    /(?:^| )(?:hören sie|hör|hört) (?:bitte |endlich )?auf (?:mich |uns |hier )?(?:ständig |immer |dauernd )?anzurufen/gu,
    NONE,
  ),
  // "rufen Sie mich nicht mehr an"
  rule(
    /(?:^| )(?:rufen sie|(?:rufen sie|ruf|ruft) (?:mich|uns|hier|diese nummer|bei mir|bei uns))(?: bitte)? (?:nicht (?:mehr|wieder|noch ?mal|nochmals|noch einmal)|nie (?:mehr|wieder)) an(?![\p{L}])/gu,
    LIMITS,
  ),
  // "bitte nicht mehr anrufen"
  rule(
    /(?:^| )(?:bitte )?(?:nicht (?:mehr|wieder)|nie (?:mehr|wieder)|keine) (?:anrufen|anrufe|kontaktieren)(?= bitte$|$| mehr)/gu,
    {
      ...LIMITS,
      before:
        /(?:^| )(?:warum|(?:ich|wir|er|sie|man) (?:kann|können|konnten?|habe|haben|hatten?|bekommen?|werden?|darf)(?: (?:sie|ihn|euch|dich|dort|da|seitdem|gar|jetzt))*)$/,
    },
  ),
  // "löschen Sie alle meine Daten bitte"
  rule(
    /(?:^| )(?:löschen|entfernen) sie (?:bitte )?(?:alle )?(?:meine (?:\p{L}+ )?daten(?= bitte$|$| aus)|(?:\p{L}+ ){0,2}daten von mir)/gu,
  ),
  // "ich widerrufe meine Einwilligung"
  rule(
    /(?:^| )ich (?:widerrufe (?:hiermit )?meine (?:einwilligung|zustimmung)|widerspreche (?:hiermit )?(?:der nutzung meiner daten|weiteren anrufen|werbeanrufen))(?![\p{L}])/gu,
  ),
  // "ich möchte nicht, dass Sie mich wieder anrufen"
  rule(
    /(?:^| )ich (?:(?:möchte|will) nicht(?: mehr)? dass sie (?:mich|uns|hier) (?:noch ?(?:ein)?mal |(?:je )?wieder |weiter(?:hin)? )?(?:anrufen|kontaktieren)|(?:verbiete|untersage) ihnen (?:mich anzurufen|weitere anrufe|jeden anruf))(?![\p{L}])/gu,
    LIMITS,
  ),
  // "unterlassen Sie weitere Anrufe"
  rule(/(?:^| )unterlassen sie (?:bitte )?(?:diese|weitere|ihre|solche) (?:\p{L}*)anrufe(?![\p{L}])/gu),
  // "streichen Sie mich von Ihrer Liste"
  rule(
    /(?:^| )(?:streichen|nehmen|löschen|entfernen|streich|nimm|lösch) (?:sie )?(?:bitte )?(?:mich|uns|meine (?:telefon|handy)?nummer|meinen namen|diese nummer)(?: bitte)? (?:von|aus) (?:ihrer|ihren|ihrem|der|dem|dieser|eurer) (?:\p{L}+)?(?:liste|listen|datenbank|kartei|verteiler|system)/gu,
  ),
  // "löschen Sie meine Nummer"
  rule(/(?:^| )(?:löschen|streichen|entfernen) sie (?:bitte )?meine (?:telefon|handy)?nummer(?= bitte$|$)/gu),
  // "ich möchte keine Anrufe mehr"
  rule(
    /(?:^| )ich (?:möchte|will|wünsche) (?:keine (?:weiteren )?(?:werbe)?anrufe(?: mehr)?(?: von ihnen)?(?= bitte$|$| mehr| bekommen| erhalten)|nicht (?:mehr|wieder|weiter) (?:angerufen|kontaktiert) werden)/gu,
    LIMITS,
  ),
];
