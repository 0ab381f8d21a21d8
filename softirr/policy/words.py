"""Word classes and wordings of English attributes, as regular expressions over lower case and upper case alike."""

from __future__ import annotations

from softirr.lexicon.words import any_of, wordings

__all__ = ["NAMES", "RULES"]


def _any(*words: str) -> str:
    return "(?:" + "|".join(words) + ")"


# possessive: a run of numbers is read once, whatever follows it
_DIGITS = r"\d++(?:[.,]\d++)*+"
_RANGE = rf"{_DIGITS}(?:\s?(?:-|–|to|/|x|×|\+|by|of|out of)\s?{_DIGITS})*+"
_UNITS_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]  # fmt: skip
_TENS_WORDS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "dozen"]  # fmt: skip
_NUMBER_WORD = _any(rf"{_any(*_TENS_WORDS[:8])}[- ]{_any(*_UNITS_WORDS[:9])}", *_UNITS_WORDS, *_TENS_WORDS)
_VAGUE = _any(
    "a few",
    "a couple(?: of)?",
    "a dozen",
    "several",
    "many",
    "few",
    "multiple",
    "numerous",
    "some",
    "half an?",
    "a half",
)
# "CA 125" is no amount, and "from 3 to 5 days" is a range
_ABOUT = rf"(?:(?:{any_of(set(wordings('number', 'bound')) - {'ca', 'from'})}|only|exactly|[~<>≤≥=]+)\s*)?"
_AMOUNT = _any(_RANGE, _NUMBER_WORD, _VAGUE)
_QUANTITY = rf"(?:{_ABOUT}{_AMOUNT}(?:\s?(?:-|–|to|or)\s?{_AMOUNT})?)"

_TIME_UNIT = _any(
    "seconds?",
    "secs?",
    "minutes?",
    "mins?",
    "hours?",
    "hrs?",
    "days?",
    "nights?",
    "weeks?",
    "wks?",
    "months?",
    "mos?",
    "years?",
    "yrs?",
    "decades?",
)
_SHORT_TIME_UNIT = _any("h", "d", "w", "y", "wk", "mo", "yr")
_DURATION = _any(
    rf"{_QUANTITY}[- ]?{_TIME_UNIT}",
    rf"{_DIGITS}\s?{_SHORT_TIME_UNIT}",
    rf"(?:an?|the)\s+(?:(?:whole|entire|long|half)\s+)?(?:{_TIME_UNIT}|fortnight|while|long time)",
    r"(?:days|weeks|months|years|hours|minutes|decades|ages)",
)
_WHICH = _any("last", "past", "first", "previous", "next", "recent", "preceding", "final")
_DAY = any_of(wordings("time", "weekday"))
_MONTH = any_of(month for month in wordings("time", "month") if month != "may")
_PART_OF_DAY = _any(
    "morning",
    "mornings",
    "evening",
    "evenings",
    "afternoon",
    "afternoons",
    "night",
    "nights",
    "daytime",
    "night ?time",
    "bedtime",
)

_MEASURE_UNIT = _any(
    r"mm\s?hg", "mmol(?:/l)?", "mg/dl", "g/dl", "ng/ml", r"[mµu]?g/m?l", "mm", "cm", "km", "kgs?", "mg", "mcg", "µg", "ug", "ml", "dl", "cc", "iu",
    "millimet(?:er|re)s?", "centimet(?:er|re)s?", "met(?:er|re)s?", "miles?", "milligrams?", "micrograms?", "grams?", "kilograms?", "kilos?", "lit(?:er|re)s?",
    "pounds?", "lbs?", "ounces?", "oz", "inch(?:es)?", "feet", "ft", "stone", "percent", "per cent", "bpm", "beats per minute", "breaths per minute",
    r"degrees?(?:\s(?:celsius|fahrenheit|c|f))?", r"°\s?[cf]?", "units?", "pack[- ]years?", "diopters?", "points?", "mm2", "cm2", "cm3", "celsius", "fahrenheit",
)  # fmt: skip
_LETTER_UNIT = r"[gmlcf]"
_MEASURE = _any(
    rf"{_QUANTITY}[- ]?{_MEASURE_UNIT}(?![\w-])",
    rf"{_DIGITS}\s?{_LETTER_UNIT}(?![\w-])",
    rf"{_ABOUT}{_RANGE}\s?%",
)
_LONG = r"(?:\s+in\s+(?:diameter|size|length|width|height|weight|depth))?"

_STRENGTH = any_of(wordings("severity", "strength"))
_DEGREE = any_of(wordings("severity", "degree"))
_BARE_DEGREE = any_of(wordings("severity", "bare"))
_GRADE = _any("[0-5]", "i{1,3}v?", "iv", "v", "one", "two", "three", "four")

_COURSE = any_of(wordings("time", "course"))
_ONSET = _any(
    r"(?:new|sudden|abrupt|gradual|acute|early|late|recent|adult|juvenile|childhood|insidious|rapid|slow|young)[- ]onset",
)
_PACE = r"(?:(?:slowly|rapidly|quickly|gradually|newly|suddenly|steadily)[- ])?"
_ADVERB_OF_TIME = any_of(wordings("time", "adverb"))

_PAIRED = _any(
    "eyes?", "ears?", "arms?", "legs?", "hands?", "foot", "feet", "knees?", "hips?", "shoulders?", "ankles?", "wrists?", "elbows?", "lungs?", "kidneys?",
    "breasts?", "thumbs?", "heels?", "calf", "calves", "thighs?", "cheeks?", "sides?", "nostrils?", "testicles?", "ovary", "ovaries", "temples?", "limbs?",
    "forearms?", "eyelids?", "buttocks?", "palms?", "soles?", "groins?", "flanks?", "hemispheres?", "toes?", "parents",
)  # fmt: skip
_LEVEL = any_of(wordings("side", "level"))
_LEFT_RIGHT = any_of(wordings("side", "left_right"))
_SIDE_SHORT = any_of(wordings("side", "short"))
_SIDED = r"(?:[- ](?:sided|side))?"

_RELATIVE = any_of(wordings("subject", "relative"))
_WHOSE = r"(?:(?:my|his|her|their|our|the|a|both|patient'?s|patient’s|pt'?s|woman's|man's|child's)\s+)"
_POPULATION = _any(
    "newborns?", "neonates?", "infants?", "babies", "children", "kids", "adolescents", "teenagers", "adults", "(?:the )?elderly", "(?:young |older |pregnant )?women",
    "(?:young |older )?men", "females", "males", "boys", "girls", "athletes", "smokers",
)  # fmt: skip
_HAS = r"(?:\s+(?:had|has|have|with|who had|who has|is|was|diagnosed with|died of|died from|suffers from|suffered from|also has))?"

_EVENT = (
    r"(?:exertion|exercise|activity|movement|motion|palpation|pressure|inspiration|expiration|effort|swallowing|stress|touch|weight[- ]bearing|"
    r"(?:deep )?breathing|physical activity|strain(?:ing)?|flexion|extension|rotation|abduction|percussion|contact|standing|walking|running|climbing(?: stairs)?|"
    r"sitting|bending|lying(?: down)?|coughing|sneezing|eating|drinking|chewing|lifting|urination|defecation|intercourse|menstruation|valsalva|awakening|waking)"
)
_REST = r"[^,;.()\n]*"
"""To the end of the clause; shortened where a span of another kind starts with its own word (see the recognizer)."""

NAMES = _any(
    # parts of the body and of names that hold a word of an attribute
    r"(?:upper|lower)[- ](?:back|legs?|arms?|limbs?|extremit(?:y|ies)|respiratory|airways?|urinary|gastro-?intestinal|gi|limit|than|motor)",
    r"(?:small|large)[- ](?:bowels?|intestin(?:e|es|al)|cells?|vessels?|fib(?:er|re)|airways?)", r"non[- ]small[- ]cell", r"big toes?", r"heavy (?:metals?|chain)",
    r"small for (?:gestational age|dates)", r"large for (?:gestational age|dates)", r"low back", r"bad breath", r"weak acids?",
    r"(?:total|partial|complete) (?:hip|knee|shoulder|thyroidectomy|hysterectomy|colectomy|nephrectomy|gastrectomy|blood|body|cholesterol|protein|bilirubin|parenteral)",
    r"(?:generali[sz]ed|social|separation) anxiety", r"major depress\w+", r"total iron\w*", r"thalass?a?emia (?:minor|major|intermedia)", r"critical (?:care|illness)",
    r"focal (?:segmental|seizures?|onset)", r"generali[sz]ed (?:tonic\S*|seizures?|epilepsy)", r"partial (?:seizures?|thromboplastin)", r"petit mal", r"grand mal",
    r"severe acute respiratory syndrome\w*", r"severe combined immuno\w+", r"acute (?:respiratory distress|coronary) syndrome", r"acute (?:\w+ )?(?:lymphoblastic|lymphocytic|myeloid|"
    r"myelogenous|promyelocytic|monocytic) leuk\w+", r"chronic (?:lymphocytic|myeloid|myelogenous|myelomonocytic) leuk\w+", r"chronic obstructive \w+(?: disease)?",
    r"chronic (?:kidney disease|fatigue(?: syndrome)?|granulomatous|pain syndrome|inflammatory demyelinating|traumatic encephalopathy|thromboembolic)",
    r"chronic regional pain", r"acute intermittent porphyria", r"acute phase", r"acute abdomen", r"acute care", r"acute stress disorder", r"congenital adrenal \w+", r"juvenile idiopathic \w+",
    r"(?:transient|transitory) isch[a]?emic attacks?", r"transient global amnesia", r"transient tachypnea", r"progressive supranuclear \w+", r"progressive multifocal \w+", r"relapsing polychondritis",
    r"(?:relapsing[- ]remitting|primary progressive|secondary progressive) (?:ms|multiple sclerosis)", r"multiple (?:sclerosis|myeloma|endocrine|system atrophy|organ|personality)", r"single (?:photon|gene|nucleotide|parent)",
    r"(?:anterior|posterior) (?:cruciate|uveitis|fossa|pituitary|commissure|vitreous detachment|reversible encephalopathy)", r"(?:amyotrophic|primary) lateral sclerosis",
    r"(?:lateral|medial) (?:epicondylitis|malleolus|recumbent|geniculate)", r"inferior vena cava", r"superior vena cava", r"(?:superior|inferior) mesenteric", r"inner ear", r"outer ear", r"middle (?:ear|cerebral|age\w*|finger)",
    r"inferiority complex", r"right[- ]hand(?:ed|edness)", r"left[- ]hand(?:ed|edness)", r"left[- ]over\w*", r"all right", r"right away", r"right or wrong", r"one[- ]sided",
    r"post-?traumatic stress(?: disorder)?", r"new ?born(?:s)?(?= (?:screening|care))", r"early (?:satiety|repolari[sz]ation)", r"sudden (?:infant )?(?:cardiac )?death(?: syndrome)?", r"(?:old|middle) age", r"past pointing", r"daily living",
    r"first[- ]aid", r"second opinion", r"second hand(?: smoke)?", r"fifth disease", r"third (?:nerve|ventricle|molar|trimester|space)", r"(?:fourth|sixth|seventh) nerve", r"stable angina", r"unstable angina",
    r"(?:fetal|foetal) (?:alcohol|position|heart)", r"family (?:planning|therapy|doctor|physician)", r"child ?(?:birth|abuse|hood)", r"birth ?(?:mark|weight|defect)s?", r"partner violence", r"donor (?:site|card)",
    r"covid(?:-| )?19", r"sars-cov-2", r"\w*type[- ](?:\d+\w?|[iv]+)", r"trisomy \d+\w?", r"chromosome \w+", r"(?:factor|phase|group|herpes simplex|hpv|hiv|htlv|par|coxsackie|interleukin|il|cd|caspase|p|vitamin) ?-?\d+\w*\+?",
    r"(?!x\d)[a-z]+\d[\w+-]*(?:/[a-z]*\d+)?", r"\d+[a-z]{2,}\d*\b(?<!mg)(?<!cm)(?<!mm)(?<!kg)(?<!ml)(?<!mcg)(?<!th)(?<!st)(?<!nd)(?<!rd)(?<!lbs)(?<!lb)(?<!wk)(?<!yr)(?<!mo)(?<!hr)(?<!hrs)(?<!yrs)(?<!days)(?<!min)(?<!bpm)",
    r"\d[pq]\d*(?:\.\d+)?", r"(?:mental|health|functional|pain|marital) status", r"status post(?=\s*$)", r"not otherwise specified", r"no[- ]show", r"non-?alcoholic", r"without (?:mention|current pathological)",
    r"stress incontinence", r"stress (?:test|fracture|disorder)s?", r"rule of \w+", r"from (?:side to side|head to toe)", r"well[- ](?:being|child|developed|nourished)", r"history (?:and physical|taking)", r"minute (?:ventilation|volume)", r"sleep (?:study|hygiene)",
)  # fmt: skip
"""Names, and other wordings that hold no attribute."""

_WITHOUT = _any(
    "without",
    "w/o",
    "but no",
    "but not",
    "with no",
    "with no evidence of",
    "and no",
    "in the absence of",
    "in absence of",
    "no",
    "negative for",
)

RULES: tuple[tuple[str, str, bool], ...] = (
    # subject
    ("subject", r"(?:positive )?(?:family history|family hx|fhx?|fam hx)(?: is positive)?(?:\s+(?:of|for))?:?(?=\s|$)", False),
    ("subject", rf"in\s+(?:{_WHOSE})?(?:{_RELATIVE}|family)(?:\s+member)?(?![\w'’])", False),
    ("subject", rf"(?:in|of|among)\s+(?:the\s+)?{_POPULATION}(?!\w)", False),
    ("subject", rf"{_WHOSE}?{_RELATIVE}(?:'s|’s)?(?![\w-])(?!\s+of\b){_HAS}", False),
    ("subject", r"(?:maternal|paternal|fetal|foetal)", False),
    # time
    ("time", rf"(?:(?:a|an|the)\s+)?{_QUANTITY}[- ]?(?:{_TIME_UNIT}|{_SHORT_TIME_UNIT})[- ](?:long\s+)?(?:history|hx)\s+of", False),
    ("time", r"(?:(?:has|had|with)\s+)?(?:a\s+)?(?:(?:past|prior|previous|remote|long|personal)\s+)?(?:medical\s+)?(?:history|hx|h/o)(?:\s+of|(?<=h/o))|pmhx?:?|s/p|status[- ]post", False),
    ("time", rf"(?:aged?\s+)?{_QUANTITY}[- ]?(?:years?|yrs?|months?|mos?|weeks?|days?|y|m)[- ]?(?:old|o(?!\w)|of age)|aged\s+{_DIGITS}|at\s+age\s+{_DIGITS}", False),
    ("time", rf"(?:(?:{_QUANTITY}|once|twice)(?:\s+times)?|{_NUMBER_WORD} times|once|twice)\s*(?:a|an|per|/|each|every)\s*(?:{_TIME_UNIT}|d(?!\w)|wk|{_PART_OF_DAY})", False),
    ("time", rf"(?:once|twice|thrice|{_QUANTITY}\s+times)\s+(?:daily|weekly|monthly|nightly|yearly)|(?:every|each)\s+(?:other\s+|single\s+|few\s+)?(?:{_QUANTITY}\s*)?(?:{_TIME_UNIT}|{_PART_OF_DAY}|{_DAY}|h)(?!\w)", False),
    ("time", r"(?:b\.?i\.?d\.?|t\.?i\.?d\.?|q\.?i\.?d\.?|q\.?d\.?|q\d+h|qhs|tds|qds|bd|od)(?!\w)", False),
    ("time", rf"(?:for|over|during|in|within|lasting|lasts?|lasted|since|throughout|x|of|on|about)\s+(?:the\s+|this\s+)?{_WHICH}\s+{_QUANTITY}?\s*(?:{_TIME_UNIT}|{_DAY}|{_PART_OF_DAY})(?!\w)", False),
    ("time", rf"(?:for|over|within|lasting|lasts?|lasted|since|x|of|through|starting|started|beginning|began)\s*(?:(?<=x)|\s)(?:the\s+)?{_DURATION}(?:\s+(?:ago|before|earlier|now|already|long|duration|or (?:more|so|longer)))?(?![\w-])", False),
    ("time", rf"(?:started|starting|began|beginning)?\s*(?:{_DURATION})\s+(?:ago|before|earlier|later|long|duration|in duration)(?!\w)", False),
    ("time", rf"(?:in|after|during|at|by)\s+{_QUANTITY}[- ]?{_TIME_UNIT}(?!\w)", False),
    ("time", rf"(?:in|during|at|by|on|from|since|until|till|after|before)\s+(?:the\s+)?(?:day|week|month|year|trimester)s?\s+(?:{_DIGITS}|{_NUMBER_WORD})(?![\w-])", False),
    ("time", rf"(?:the\s+)?(?:{_WHICH}|this|that)\s+(?:few\s+|{_NUMBER_WORD}\s+|{_DIGITS}\s+)?(?:{_TIME_UNIT}|{_DAY}|{_MONTH}|{_PART_OF_DAY}|spring|summer|fall|winter)(?!\w)", False),
    ("time", r"(?:(?:ever\s+)?since|until|till)\s+(?:the\s+|his\s+|her\s+|my\s+|last\s+|this\s+|early\s+|late\s+)*\w+", False),
    ("time", rf"(?:in|during|on|by)\s+(?:the\s+)?(?:early\s+|late\s+)?(?:{_PART_OF_DAY}|{_DAY}s?|{_MONTH}|(?:19|20)\d\d|childhood|infancy|adulthood|adolescence|old age|utero|summer|winter|spring|autumn)(?!\w)", False),
    ("time", r"(?:of\s+|with\s+(?:an?\s+)?)?(?:(?:sudden|abrupt|gradual|acute|recent|insidious|rapid|slow|early|late|new)[- ]onset(?:\s+of)?|onset\s+of|(?:with|of)\s+onset)", False),
    ("time", rf"{_ONSET}", False),
    ("time", r"(?:(?:that|which)\s+)?(?:is\s+|are\s+|has been\s+)?(?:getting|gets|got|becoming|growing)\s+(?:much\s+|slowly\s+|steadily\s+)?(?:worse|better|bigger|larger|smaller|stronger|weaker)(?:\s+(?:over time|with time|every day))?", False),
    ("time", r"interval\s+(?:increase|decrease|development|resolution|improvement|worsening|change|growth)(?:\s+(?:in|of))?", False),
    ("time", rf"(?:(?:is|are|was|has|have)\s+)?{_ADVERB_OF_TIME}(?![\w-])", False),
    ("time", rf"{_DURATION}(?=\s*$)", False),
    # severity
    ("severity", rf"(?:who\s+|ctcae\s+|tnm\s+|ajcc\s+)?(?:grade|stage)s?\s*[:-]?\s*{_GRADE}[abc]?(?:\s?[-/]\s?{_GRADE})?(?![\w-])(?:\s+of(?=\s))?|g{_GRADE}(?=\s)", False),
    ("severity", r"(?:nyha|asa|ccs|killip|child[- ]pugh)(?:\s+(?:class|grade|functional class))?\s+(?:[1-5]|i{1,3}v?|iv|v|[abc])(?![\w-])|class\s+(?:i{1,3}|iv)(?![\w-])", False),
    ("severity", r"(?:first|second|third|fourth|1st|2nd|3rd|4th)[- ]degree(?! relative)", False),
    ("severity", r"(?:high|low|intermediate)[- ]grade|high(?=\s+(?:fever|temperature|pain|dose))|[1-4]\+(?!\w)", False),
    ("severity", r"(?:well|poorly|moderately)[- ](?:differentiated|controlled)|(?:well|poorly)[- ]?(?:managed|regulated)", False),
    ("severity", rf"(?:of\s+)?(?:{_DEGREE}\s+)*{_STRENGTH}(?:\s?(?:-|–|to|/|or|and)\s?(?:{_DEGREE}\s+)*{_STRENGTH})*(?:\s+(?:severity|intensity|degree|extent|in size))?(?![\w-])(?:\s+amounts? of)?", False),
    ("severity", rf"(?:{_DEGREE}\s+)*{_BARE_DEGREE}(?![\w-])", False),
    ("severity", r"all over(?: (?:the|my|his|her) body| the place)?|(?:so|too|very) much|to (?:some|a (?:great|large|small)) (?:degree|extent)", False),
    ("time", rf"{_PACE}{_COURSE}(?:\s?(?:-|/|or|and|to)\s?{_COURSE})*(?![\w-])", False),
    # number
    ("number", rf"(?:of\s+|by\s+|at\s+|with\s+)?{_MEASURE}{_LONG}", False),
    ("number", rf"{_ABOUT}{_DIGITS}\s?/\s?{_DIGITS}(?:\s+(?:pain|severity))?(?![\w/])|{_DIGITS}\s+(?:out\s+)?of\s+{_DIGITS}", False),
    ("number", rf"(?:{_QUANTITY}\s+times|once|twice|thrice)(?!\w)|(?<!\w)x\s?{_DIGITS}(?!\w)", False),
    ("number", rf"{_QUANTITY}\s?{_TIME_UNIT}(?![\w-])", False),
    ("number", rf"{_ABOUT}(?:{_RANGE})(?![\w-]|\s?%)", False),
    ("number", rf"{_ABOUT}(?:{_any(*_UNITS_WORDS[1:], *_TENS_WORDS)}|a few|a couple of|a dozen|several|many|few|multiple|numerous|single|solitary|double|triple)(?![\w-])", False),
    ("number", r"(?:first|second|third|fourth|fifth|1st|2nd|3rd|4th)(?=\s+(?:dose|episode|time|attack|pregnancy|operation|shot|attempt|injection|trimester))", False),
    # side
    ("side", rf"(?:on|to|in|at|of|from)\s+(?:the\s+|his\s+|her\s+|my\s+|its\s+)?(?:{_LEFT_RIGHT}|both|either|other|opposite|same)(?:[- ]hand)?\s+sides?(?:\s+of(?:\s+the)?\s+body)?(?!\w)", False),
    ("side", rf"(?:on|to|at)\s+the\s+{_LEFT_RIGHT}(?=\s*(?:$|[,;.()]|and\s|for\s|since\s|with\s|after\s))", False),
    ("side", rf"{_LEVEL}(?:[- ]{_LEVEL})*\s+{_LEFT_RIGHT}(?![\w-])", False),
    ("side", rf"(?!left\s+(?:against|the|his|her|my|it|home|work|without|ama|hospital|over|alone)\b)(?:{_LEFT_RIGHT}{_SIDED}|r(?:t|ight)?\.?\s?(?:>|and|or|/)\s?l(?:t|eft)?\.?)(?:\s+(?:and|or|/|&)\s+{_LEFT_RIGHT}{_SIDED})?(?:\s?[-/]?\s?{_LEVEL}(?:[- ](?:outer|inner))?(?=\s|$))?(?![\w-])", False),
    ("side", r"(?:bilateral(?:ly)?|unilateral(?:ly)?|ipsilateral(?:ly)?|contralateral(?:ly)?|b/l|bilat\.?|on both sides|left[- ](?:to|and)[- ]right)(?!\w)", False),
    ("side", rf"(?:both|one|either|the other)(?=\s+(?:of\s+)?(?:the\s+|my\s+|his\s+|her\s+)?(?:upper\s+|lower\s+|big\s+)?{_PAIRED}(?!\w))", False),
    ("side", r"(?-i:[LR])(?=\s+[a-z]{3})|(?i:\([lr]\))|(?-i:[LR])(?=\s*$)", False),
    ("side", rf"{_SIDE_SHORT}(?=\s|$)", False),
    ("side", rf"{_LEVEL}(?:[- ]{_LEVEL})*(?:\s+{_LEFT_RIGHT})?(?=\s)(?![\w-])", False),
    # certainty
    ("certainty", r"of (?:uncertain|unknown|undetermined|unclear) (?:\w+)", False),
    ("certainty", r"(?:\?+\s?(?=\w)|\(\?\))", False),
    ("certainty", r"\?+\s*$", False),
    ("certainty", rf"(?:highly\s+|most\s+|very\s+|more\s+|less\s+)?{any_of(wordings('certainty', 'certainty'))}"
     r"(?:\s+(?:for|to be|of(?=\s+(?:malignancy|cancer))))?(?![\w-])", False),
    ("certainty", r"(?:is\s+|are\s+|most\s+)?(?:consistent|compatible|in keeping|in line)\s+with|(?:is\s+|are\s+|highly\s+|strongly\s+)?suggestive\s+of|suggests?(?:ing)?|(?:concern(?:ing)?|worrisome|worrying|suspicion|evaluate|differential)\s+(?:for|of|includes)"
     r"|differential(?:\s+diagnosis)?\s+includes|suspicion of|(?:can\s?not|can't|could not|not|cannot be)\s+(?:be\s+)?(?:entirely\s+|completely\s+)?(?:excluded?|ruled? out)|(?:cannot|can't)\s+(?:exclude|rule out)|(?:to\s+)?rule\s+out|ruled\s+out|r/o|query|excluded"
     r"|(?:might|may|could|must|should|can)\s+(?:have\s+been|have|be|represent|reflect|indicate|suggest)|(?:not|i'?m\s+not|i am not)\s+(?:sure|certain)(?:\s+(?:if|whether|that))?|unsure(?:\s+(?:if|whether))?|i\s+(?:think|guess|believe|suspect)|appears?(?:\s+to\s+be)?|seems?(?:\s+to\s+be)?|looks\s+like|feels\s+like"
     r"|vs\.?(?=\s)|versus|undetermined", False),
    # negation
    ("negation", r"(?:there\s+(?:is|are|was|were)\s+)?no\s+(?:longer|(?:signs?|evidence|indication|suggestion|symptoms?|complaints?|history)(?:\s+or\s+\w+)?\s+(?:of|for))", False),
    ("negation", rf"(?<=\w[\s,])\s*{_WITHOUT}\s+{_REST}", True),
    ("negation", rf"(?:there\s+(?:is|are|was|were)\s+)?(?:{any_of(wordings('negation', 'negator'))}|none|nothing|neither|nor|absent|the\s+absence\s+of|cannot|can't|can’t|"
     r"\w+n't|\w+n’t|non(?=\s)|unable\s+to(?=\s+be)|fails?\s+to|failed\s+to|ruled\s+out)(?![\w-])", False),
    # cause and circumstance
    ("cause", r"\w+(?:-\w+)*-(?:induced|related|associated|acquired|triggered|provoked|mediated(?=\s+(?:by)))(?!\w)", False),
    ("cause", r"(?:post|peri|intra|pre)-?(?:operative|op|surgical|traumatic|partum|prandial|procedural|ictal|viral|infectious|exertional|menstrual|coital)(?:ly)?(?!\w)|postoperatively|traumatic|idiopathic|iatrogenic|exertional|cryptogenic", False),
    ("cause", rf"(?:most\s+likely\s+|possibly\s+)?(?:(?:is\s+|are\s+|was\s+|were\s+)?(?:due|secondary|attributed|attributable|related|owing|thanks)\s+to|2/2|(?:caused|triggered|induced|provoked|precipitated|exacerbated|aggravated|produced)\s+by|because(?:\s+of)?|"
     rf"as\s+a\s+(?:result|consequence|complication)\s+of|resulting\s+from|arising\s+from|in\s+response\s+to|in\s+the\s+(?:setting|context|course)\s+of|on\s+account\s+of|made\s+worse\s+by|(?:worse|worsened|better|relieved|improved)\s+(?:by|with|after|when|on|at))\s+{_REST}", True),
    ("cause", rf"(?<=\w\s)(?:(?:occurring|only|especially|mainly|shortly|immediately|soon|right|just|that occurs)\s+)?(?:after|following|during|before|while|when|whenever|upon|prior\s+to|post)\s+(?=\w)(?!up\b){_REST}", True),
    ("cause", rf"(?<=\w\s)(?:on|with|at|under|by|in)\s+(?:(?:deep|any|light|minimal|physical|mild|heavy|forced|passive|active|the\s+)\s*)*{_EVENT}(?!\w)|at\s+rest|under\s+stress", False),
    ("cause", rf"(?<!bleeding\s)(?<!discharge\s)(?<!blood\s)(?<!fluid\s)(?<!drainage\s)(?<!pus\s)(?<!radiating\s)(?<!back\s)(?<!ranging\s)(?<!suffers\s)(?<!suffering\s)(?<!different\s)(?<!died\s)(?<!away\s)(?<!metastasis\s)(?<!recovered\s)(?<=\w\s)from\s+(?!side\b|my\b|the\s+(?:nose|ear|ears|eye|eyes|mouth|nipple|rectum|gums|wound)\b|(?:nose|ear|ears|eye|eyes|mouth|nipple|rectum|gums|penis|vagina)\b){_REST}", True),
    ("cause", rf"(?<=burn\s)by\s+{_REST}|(?<=reaction\s)to\s+{_REST}|(?<=reactions\s)to\s+{_REST}", True),
)  # fmt: skip
"""Kind, wording, and whether the wording runs on to the end of the clause.

The first rule that fits a place claims it.
"""
