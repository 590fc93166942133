import { type OptOutRule, rule } from './rule.ts';

const LIMITS = {
  before: /(?:^| )(?:pourquoi|si|quand|ils|elle|il|on|vous)(?: ne)?$/,
  after:
    /^ (?:avant|après|jusqu|aujourd|demain|maintenant|ce (?:soir|matin)|le (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|matin|soir)|au (?:travail|bureau)|entre|pendant|quand|si|à \d|madame|monsieur|comme ça|tout de suite|si tard)(?=$|[^\p{L}])/u,
};

export const FRENCH_RULES: readonly OptOutRule[] = [
  // "arrêtez de m'appeler"
  rule(
    /(?:^| )(?:arrêtez|arrête|cessez)(?: s'il vous plaît)? (?:de (?:m'|nous |me )|d'|de )(?:appeler|téléphoner|contacter|harceler|déranger)(?= (?:plus|encore|ici|sans|tout|tous|toutes|s'il|merci|et|je|c'est|constamment|maintenant|à ce|sur ce)(?![\p{L}])|$)/gu,
    LIMITS,
  ),
  // "ne m'appelez plus"
  rule(/(?:^| )(?:ne )?m'appelez (?:plus|plus jamais|jamais plus)(?![\p{L}])/gu, LIMITS),
  // "ne me contactez plus"
  rule(
    /(?:^| )(?:ne )?(?:me|nous) (?:rappelez|contactez|téléphonez|dérangez|appelez) (?:pas(?= s'il vous plaît$|$)|plus|plus jamais|jamais plus)(?![\p{L}])/gu,
    LIMITS,
  ),
  // "retirez-moi de votre liste"
  rule(
    /(?:^| )(?:retirez|enlevez|supprimez|effacez|rayez|ôtez)(?:[- ](?:moi|nous)| mon (?:numéro|nom)| ce numéro| mes coordonnées)(?: de téléphone)? (?:de|des) (?:votre |vos |la |cette |ces )?(?:liste|listes|fichier|fichiers|base de données|contacts)/gu,
  ),
  // "supprimez mon numéro"
  rule(
    /(?:^| )(?:supprimez|effacez|retirez|(?:demande|prie|veuillez|merci) (?:de )?(?:supprimer|effacer|retirer)) (?:mon numéro(?: de téléphone)?|mes (?:coordonnées|données)(?: personnelles)?)(?= s'il vous plaît$|$| de (?:vo|la|ce))/gu,
  ),
  // "je vous prie de ne plus m'appeler"
  rule(
    /(?:^| )(?:de ne (?:plus|pas|jamais) (?:m'appeler|nous appeler|me (?:contacter|rappeler|déranger|téléphoner)|appeler|rappeler)|ne rappelez (?:plus|pas|jamais)|inutile de (?:me |nous )?rappeler)(?= (?:s'il|merci|à ce|sur ce)(?![\p{L}])|$)/gu,
    { ...LIMITS, before: /(?:^| )(?:m'a dit|décidé|promis|demandé à \p{L}+)$/u },
  ),
  // "veuillez me retirer de votre liste"
  rule(
    /(?:^| )(?:veuillez|merci de|pouvez-vous|pourriez-vous|je veux que vous) me (?:retirer|supprimer|enlever|rayer|retiriez|supprimiez) de (?:votre|vos|la|cette|ces) (?:liste|listes|fichier|fichiers|base de données)/gu,
  ),
  // "je veux être retiré de votre liste"
  rule(
    /(?:^| )je (?:souhaite|veux|voudrais|désire|demande à) être (?:retirée?|supprimée?|enlevée?|rayée?) de (?:votre|vos|la|cette|ces) (?:liste|listes|fichier|fichiers)/gu,
  ),
  // "je m'oppose au démarchage"
  rule(/(?:^| )je m'oppose (?:au démarchage|à (?:tout|ces|vos|être|ce))(?![\p{L}])/gu),
  // "je ne veux plus être appelé"
  rule(
    /(?:^| )je (?:ne )?(?:veux|souhaite|désire) (?:plus|pas) (?:que vous m'appeliez|être (?:appelée?|rappelée?|contactée?|démarchée?)|(?:recevoir )?(?:de |d'|vos )?appels)(?![\p{L}])/gu,
    LIMITS,
  ),
];
