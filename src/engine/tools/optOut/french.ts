import { type OptOutRule, rule } from './rule.ts';

const LIMITS = {
  before: /(?:^| )(?:pourquoi|si|quand|ils|elle|il|on|vous)(?: ne)?$/,
  after:
    /^ (?:avant|après|jusqu|aujourd|demain|maintenant|ce (?:soir|matin)|le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|matin|soir)|au (?:travail|bureau)|entre|pendant|quand|si|à \d|madame|monsieur|comme ça|tout de suite|si tard)(?=$|[^\p{L}])/u,
};

export const FRENCH_RULES: readonly OptOutRule[] = [
  rule(
    /(?:^| )(?:arrêtez|arrête|cessez)(?: s'il vous plaît)? (?:de (?:m'|nous |me )|d'|de )(?:appeler|téléphoner|contacter|harceler|déranger)(?= (?:plus|encore|ici|sans|tout|tous|toutes|s'il|merci|et|je|c'est|constamment|maintenant|à ce|sur ce)(?![\p{L}])|$)/gu,
    LIMITS,
  ),
  rule(/(?:^| )(?:ne )?m'appelez (?:plus|plus jamais|jamais plus)(?![\p{L}])/gu, LIMITS),
  rule(
    /(?:^| )(?:ne )?(?:me|nous) (?:rappelez|contactez|téléphonez|dérangez|appelez) (?:pas(?= s'il vous plaît$|$)|plus|plus jamais|jamais plus)(?![\p{L}])/gu,
    LIMITS,
  ),
  rule(
    /(?:^| )(?:retirez|enlevez|supprimez|effacez|rayez|ôtez)(?:[- ](?:moi|nous)| mon (?:numéro|nom)| ce numéro| mes coordonnées)(?: de téléphone)? (?:de|des) (?:votre |vos |la |cette |ces )?(?:liste|listes|fichier|fichiers|base de données|contacts)/gu,
  ),
  rule(
    /(?:^| )(?:supprimez|effacez|retirez|(?:demande|prie|veuillez|merci) (?:de )?(?:supprimer|effacer|retirer)) (?:mon numéro(?: de téléphone)?|mes (?:coordonnées|données)(?: personnelles)?)(?= s'il vous plaît$|$| de (?:vo|la|ce))/gu,
  ),
  rule(
    /(?:^| )(?:de ne (?:plus|pas|jamais) (?:m'appeler|nous appeler|me (?:contacter|rappeler|déranger|téléphoner)|appeler|rappeler)|ne rappelez (?:plus|pas|jamais)|inutile de (?:me |nous )?rappeler)(?= (?:s'il|merci|à ce|sur ce)(?![\p{L}])|$)/gu,
    { ...LIMITS, before: /(?:^| )(?:m'a dit|décidé|promis|demandé à \p{L}+)$/u },
  ),
  rule(
    /(?:^| )(?:veuillez|merci de|pouvez-vous|pourriez-vous|je veux que vous) me (?:retirer|supprimer|enlever|rayer|retiriez|supprimiez) de (?:votre|vos|la|cette|ces) (?:liste|listes|fichier|fichiers|base de données)/gu,
  ),
  rule(
    /(?:^| )je (?:souhaite|veux|voudrais|désire|demande à) être (?:retirée?|supprimée?|enlevée?|rayée?) de (?:votre|vos|la|cette|ces) (?:liste|listes|fichier|fichiers)/gu,
  ),
  rule(/(?:^| )je m'oppose (?:au démarchage|à (?:tout|ces|vos|être|ce))(?![\p{L}])/gu),
  rule(
    /(?:^| )je (?:ne )?(?:veux|souhaite|désire) (?:plus|pas) (?:que vous m'appeliez|être (?:appelée?|rappelée?|contactée?|démarchée?)|(?:recevoir )?(?:de |d'|vos )?appels)(?![\p{L}])/gu,
    LIMITS,
  ),
];
