"""Composed clinical words: Greek and Latin parts, adjectives and lay words for the same finding in the same place.

``nephritis``, ``inflammation of the kidney``, ``kidney inflammation`` and ``renal inflammation`` are one concept; another place or another
finding makes another concept with a similar name. Tables of parts times tables of patterns give some thousand concepts and the contrasts that a
model has to learn.
"""

from __future__ import annotations

from collections import defaultdict

from softirr.lab.training.graph import Graph

_ORGANS = """
nephr|kidney|renal
hepat|liver|hepatic
gastr|stomach|gastric
cardi|heart|cardiac
pneumon|lung|pulmonary
enter|small intestine,small bowel|enteric
col|colon,large bowel|colonic
proct|rectum|rectal
cyst|bladder,urinary bladder|vesical
ureter|ureter|ureteral
urethr|urethra|urethral
prostat|prostate,prostate gland|prostatic
orchi|testicle,testis|testicular
oophor|ovary|ovarian
salping|fallopian tube|tubal
hyster|uterus,womb|uterine
cervic|cervix,neck of the womb|cervical
vagin|vagina|vaginal
vulv|vulva|vulvar
mast|breast|mammary
thyroid|thyroid,thyroid gland|thyroid
adren|adrenal gland,adrenal|adrenal
pancreat|pancreas|pancreatic
splen|spleen|splenic
cholecyst|gallbladder,gall bladder|gallbladder
cholang|bile duct,bile ducts|biliary
periton|peritoneum,lining of the abdomen|peritoneal
pleur|pleura,lining of the lung|pleural
bronch|bronchus,airways|bronchial
trache|windpipe,trachea|tracheal
laryng|voice box,larynx|laryngeal
pharyng|throat,pharynx|pharyngeal
esophag|gullet,esophagus,food pipe|esophageal
rhin|nose|nasal
sinus|sinuses,paranasal sinus|sinus
ot|ear|aural
tympan|eardrum,ear drum|tympanic
blephar|eyelid|palpebral
conjunctiv|conjunctiva|conjunctival
kerat|cornea|corneal
retin|retina|retinal
ophthalm|eye|ocular
dacryocyst|tear sac,lacrimal sac|lacrimal
stomat|mouth|oral
gloss|tongue|lingual
gingiv|gums,gum|gingival
cheil|lips,lip|labial
sialaden|salivary gland,saliva gland|salivary
tonsill|tonsils,tonsil|tonsillar
lymphaden|lymph node,lymph gland|lymphatic
arter|artery|arterial
phleb|vein|venous
vascul|blood vessel|vascular
myocard|heart muscle|myocardial
endocard|inner lining of the heart,endocardium|endocardial
pericard|sac around the heart,pericardium|pericardial
aort|aorta|aortic
encephal|brain|cerebral
mening|membranes around the brain,meninges|meningeal
neur|nerve|neural
radicul|nerve root|radicular
arthr|joint|articular
spondyl|spine,vertebra|vertebral
oste|bone|osseous
chondr|cartilage|cartilaginous
my|muscle|muscular
tend|tendon|tendinous
derm|skin|cutaneous
onych|nail|ungual
follicul|hair follicle|follicular
balan|glans penis,head of the penis|glanular
"""

_STEMS = """
itis|inflammation of the {lay}|{lay} inflammation|inflamed {lay}|{adj} inflammation|inflammatory disease of the {lay}
algia|{lay} pain|pain in the {lay}|painful {lay}|{adj} pain|aching {lay}|sore {lay}|{lay} ache
omegaly|enlarged {lay}|enlargement of the {lay}|{lay} enlargement|big {lay}|{adj} enlargement
ectomy|removal of the {lay}|surgical removal of the {lay}|{lay} removal|{lay} taken out|resection of the {lay}
otomy|incision of the {lay}|cutting into the {lay}|surgical opening of the {lay}
opathy|disease of the {lay}|{lay} disease|{adj} disease|{lay} disorder|{adj} disorder|disorder of the {lay}
olith|stone in the {lay}|{lay} stone|{adj} calculus|{lay} stones|stones in the {lay}
orrhagia|bleeding from the {lay}|{lay} bleeding|{adj} hemorrhage|hemorrhage of the {lay}|{adj} bleeding|{lay} haemorrhage
omalacia|softening of the {lay}|soft {lay}|{lay} softening
osclerosis|hardening of the {lay}|{adj} sclerosis|hardened {lay}|sclerosis of the {lay}
ostenosis|narrowing of the {lay}|{adj} stenosis|narrowed {lay}|{lay} stenosis|stenosis of the {lay}|constricted {lay}
ectasia|widening of the {lay}|dilated {lay}|dilatation of the {lay}|{adj} dilatation|{lay} dilation|widened {lay}
orrhexis|rupture of the {lay}|ruptured {lay}|{lay} rupture|{adj} rupture|torn {lay}|burst {lay}
oplegia|paralysis of the {lay}|{lay} paralysis|paralysed {lay}|paralyzed {lay}|{adj} paralysis
optosis|drooping {lay}|{lay} prolapse|prolapse of the {lay}|sagging {lay}|fallen {lay}
ospasm|spasm of the {lay}|{lay} spasm|{adj} spasm|cramping of the {lay}|{lay} cramp
oscopy|looking into the {lay} with a scope|endoscopy of the {lay}|{lay} endoscopy|endoscopic examination of the {lay}
oplasty|repair of the {lay}|surgical repair of the {lay}|plastic surgery of the {lay}|{lay} reconstruction
"""

_PHRASES = """
{lay} cancer|cancer of the {lay}|{adj} cancer|malignant tumor of the {lay}|malignant neoplasm of the {lay}|{lay} malignancy|{adj} carcinoma
benign tumor of the {lay}|benign {lay} tumor|benign neoplasm of the {lay}|benign {adj} neoplasm|non-cancerous growth of the {lay}
{adj} failure|failure of the {lay}|{lay} failure|{lay} that fails|{lay} has stopped working
{adj} abscess|abscess of the {lay}|{lay} abscess|collection of pus in the {lay}|pus in the {lay}
absent {lay}|missing {lay}|{lay} agenesis|agenesis of the {lay}|aplasia of the {lay}|congenital absence of the {lay}|{adj} agenesis|no {lay} at birth
underdeveloped {lay}|{lay} hypoplasia|hypoplasia of the {lay}|hypoplastic {lay}|underdevelopment of the {lay}|{adj} hypoplasia|small {lay}
{lay} hyperplasia|hyperplasia of the {lay}|overgrowth of the {lay}|{adj} hyperplasia|too many cells in the {lay}
{lay} atrophy|atrophy of the {lay}|{adj} atrophy|wasting of the {lay}|shrunken {lay}|shrinking of the {lay}|atrophic {lay}
{lay} injury|injury to the {lay}|{lay} trauma|trauma to the {lay}|injured {lay}|damage to the {lay}|{adj} injury|{lay} damage
{lay} infection|infection of the {lay}|infected {lay}|{adj} infection
bacterial {lay} infection|bacterial infection of the {lay}|{lay} infection caused by bacteria
viral {lay} infection|viral infection of the {lay}|{lay} infection caused by a virus
fungal {lay} infection|fungal infection of the {lay}|{lay} infection caused by a fungus|mycosis of the {lay}
swollen {lay}|swelling of the {lay}|{lay} swelling|{lay} edema|{adj} edema|edema of the {lay}|puffy {lay}
{lay} transplant|{lay} transplantation|transplantation of the {lay}|transplanted {lay}|{adj} transplant|{lay} graft
{lay} biopsy|biopsy of the {lay}|{adj} biopsy|tissue sample from the {lay}
perforated {lay}|{lay} perforation|perforation of the {lay}|hole in the {lay}|{adj} perforation
blocked {lay}|obstruction of the {lay}|{lay} obstruction|{adj} obstruction|blockage of the {lay}|{lay} blockage|occlusion of the {lay}
{lay} cyst|cyst of the {lay}|{adj} cyst|fluid-filled sac in the {lay}
multiple {lay} cysts|{adj} cysts|polycystic {lay}|many cysts in the {lay}|cystic {lay}
{lay} ulcer|ulcer of the {lay}|{adj} ulcer|ulceration of the {lay}|open sore of the {lay}
{lay} fibrosis|fibrosis of the {lay}|{adj} fibrosis|scarring of the {lay}|scarred {lay}
{lay} calcification|calcification of the {lay}|{adj} calcification|calcified {lay}|calcium deposits in the {lay}
abnormal {lay}|{lay} abnormality|abnormality of the {lay}|{adj} abnormality|anomaly of the {lay}|{lay} anomaly|{adj} anomaly
{lay} malformation|malformed {lay}|malformation of the {lay}|{adj} malformation|deformed {lay}|{lay} deformity
normal {lay}|{lay} normal|{lay} without abnormality|unremarkable {lay}|{lay} unremarkable|no abnormality of the {lay}
foreign body in the {lay}|{lay} foreign body|{adj} foreign body|object stuck in the {lay}
poor blood supply to the {lay}|{adj} ischemia|ischemia of the {lay}|{lay} ischaemia|reduced blood flow to the {lay}
{adj} infarction|infarction of the {lay}|{lay} infarct|{adj} infarct
{lay} surgery|surgery on the {lay}|{adj} surgery|operation on the {lay}|{lay} operation
itchy {lay}|itching of the {lay}|{lay} itch|{adj} pruritus|pruritus of the {lay}
dry {lay}|{lay} dryness|dryness of the {lay}|{adj} dryness
red {lay}|redness of the {lay}|{lay} redness|erythema of the {lay}|reddened {lay}
{lay} cells|cell of the {lay}|{adj} cell|{lay} cell
{lay} tissue|tissue of the {lay}|{adj} tissue
"""

_PARTS = """
head skull scalp face forehead cheek chin jaw temple neck shoulder collarbone,clavicle armpit,axilla arm elbow forearm wrist hand palm
finger,digit thumb fingernail chest,thorax rib,ribs sternum,breastbone back shoulder_blade,scapula lower_back,lumbar_region buttock
hip pelvis groin thigh thighbone,femur knee kneecap,patella shin,tibia calf leg ankle heel,calcaneus foot sole toe big_toe,hallux toenail
eyebrow eyelash nostril earlobe tooth palate,roof_of_the_mouth belly,abdomen navel,umbilicus penis scrotum anus hamstring achilles_tendon
coccyx,tailbone jawbone,mandible upper_jaw,maxilla upper_arm,humerus iris pupil eyelids teeth limbs,extremities fingers toes
"""
_PART_PHRASES = """
{lay} pain|pain in the {lay}|painful {lay}|aching {lay}|{lay} hurts|sore {lay}|{lay} ache|hurting {lay}
swollen {lay}|swelling of the {lay}|{lay} swelling|puffy {lay}|{lay} edema
numb {lay}|numbness of the {lay}|{lay} numbness|no feeling in the {lay}|loss of sensation in the {lay}
tingling {lay}|tingling in the {lay}|pins and needles in the {lay}|{lay} paresthesia|{lay} tingling
weak {lay}|weakness of the {lay}|{lay} weakness|loss of strength in the {lay}
stiff {lay}|stiffness of the {lay}|{lay} stiffness|{lay} rigidity
broken {lay}|fracture of the {lay}|{lay} fracture|fractured {lay}|fx {lay}
bruised {lay}|bruise on the {lay}|{lay} contusion|contusion of the {lay}
cut on the {lay}|{lay} laceration|laceration of the {lay}|{lay} cut
burn of the {lay}|{lay} burn|burnt {lay}|burned {lay}
rash on the {lay}|{lay} rash|skin eruption on the {lay}
itchy {lay}|itching of the {lay}|{lay} pruritus|{lay} itch
lump on the {lay}|{lay} lump|{lay} mass|mass of the {lay}
amputation of the {lay}|{lay} amputation|amputated {lay}|loss of the {lay} by surgery
absent {lay}|missing {lay}|aplasia of the {lay}|{lay} absent|agenesis of the {lay}
small {lay}|tiny {lay}|decreased size of the {lay}|abnormally small {lay}|hypoplastic {lay}
large {lay}|big {lay}|increased size of the {lay}|abnormally large {lay}|enlarged {lay}
short {lay}|shortened {lay}|shortening of the {lay}|decreased length of the {lay}
long {lay}|elongated {lay}|increased length of the {lay}
broad {lay}|wide {lay}|increased width of the {lay}|widened {lay}
narrow {lay}|thin {lay}|slender {lay}|decreased width of the {lay}
extra {lay}|supernumerary {lay}|additional {lay}|accessory {lay}
abnormal {lay}|abnormality of the {lay}|{lay} abnormality|anomaly of the {lay}|{lay} anomaly
deformed {lay}|{lay} deformity|deformity of the {lay}|misshapen {lay}
trembling {lay}|{lay} tremor|tremor of the {lay}|shaking {lay}|shaky {lay}
cramp in the {lay}|{lay} cramp|cramping {lay}|{lay} spasm
injured {lay}|{lay} injury|injury to the {lay}|trauma to the {lay}|hurt {lay}
operation on the {lay}|{lay} surgery|surgery on the {lay}
x-ray of the {lay}|{lay} x-ray|radiograph of the {lay}|XR {lay}
scar on the {lay}|{lay} scar|scarring of the {lay}
ulcer on the {lay}|{lay} ulcer|open sore on the {lay}
"""

# finding | kinds of it: each of them entails the finding in the same place
_KINDS_OF = """
abnormal {lay}|opathy|omegaly|omalacia|ostenosis|ectasia|orrhexis|optosis|absent {lay}|underdeveloped {lay}|{lay} hyperplasia|{lay} atrophy
abnormal {lay}|{lay} injury|swollen {lay}|perforated {lay}|blocked {lay}|{lay} cyst|{lay} ulcer|{lay} calcification|{lay} malformation
abnormal {lay}|small {lay}|large {lay}|short {lay}|long {lay}|broad {lay}|narrow {lay}|extra {lay}|deformed {lay}|injured {lay}
opathy|itis|osclerosis|{lay} cancer|{adj} failure|{adj} infarction|{lay} infection|{lay} fibrosis
{lay} infection|bacterial {lay} infection|viral {lay} infection|fungal {lay} infection|{adj} abscess
{lay} cyst|multiple {lay} cysts
{lay} surgery|ectomy|otomy|oplasty|{lay} transplant
operation on the {lay}|amputation of the {lay}
injured {lay}|broken {lay}|bruised {lay}|cut on the {lay}|burn of the {lay}
"""

# place | parts of it: a finding in a part entails the finding in the place
_PARTS_OF = """
hand|finger|palm
finger|thumb|fingernail
foot|toe|heel|sole
toe|big toe|toenail
arm|forearm|elbow|upper arm
leg|thigh|calf|shin|knee
knee|kneecap
face|forehead|cheek|chin|eyebrow
head|face|scalp|temple
chest|rib|sternum
back|lower back
belly|navel
jaw|jawbone|upper jaw
cardi|myocard|endocard
ophthalm|kerat|retin|conjunctiv
stomat|gloss|gingiv
ot|tympan
hyster|cervic
arter|aort
neur|radicul
derm|follicul
"""
_TOLD_OF_THE_WHOLE = """
algia|opathy|orrhagia|{lay} cancer|{lay} injury|{lay} infection|bacterial {lay} infection|viral {lay} infection|fungal {lay} infection
{adj} abscess|{lay} cyst|{lay} ulcer|{lay} surgery|abnormal {lay}|{lay} pain|swollen {lay}|numb {lay}|tingling {lay}|bruised {lay}|cut on the {lay}
burn of the {lay}|rash on the {lay}|lump on the {lay}|injured {lay}|operation on the {lay}|scar on the {lay}|ulcer on the {lay}|foreign body in the {lay}
"""

_ANALYTES = """
glyc|sugar,glucose
natr|sodium
kal|potassium
calc|calcium
magnes|magnesium
phosphat|phosphate,phosphorus
chlor|chloride
cholesterol|cholesterol
lipid|lipids,fats
triglycerid|triglycerides
uric|uric acid,urate
albumin|albumin
protein|protein
bilirubin|bilirubin
ammon|ammonia
insulin|insulin
ferr|iron
cupr|copper
zinc|zinc
lact|lactate,lactic acid
prolactin|prolactin
gastrin|gastrin
cortisol|cortisol
homocystein|homocysteine
amylas|amylase
gammaglobulin|gamma globulins,immunoglobulins
testosteron|testosterone
carotin|carotene
creatinin|creatinine
fibrinogen|fibrinogen
lipoprotein|lipoproteins
"""
_HIGH = "hyper{stem}emia|high blood {lay}|elevated {lay}|raised {lay} level|increased {lay} in the blood|high {lay} levels|elevated serum {lay}|{lay} too high|increased circulating {lay}|blood {lay} increased|excess {lay} in the blood|hyper{stem}aemia"
_LOW = "hypo{stem}emia|low blood {lay}|decreased {lay}|low {lay} level|decreased {lay} in the blood|low {lay} levels|reduced serum {lay}|{lay} too low|reduced circulating {lay}|blood {lay} decreased|{lay} deficiency in the blood|hypo{stem}aemia"
_URINE = "{lay} in the urine|urinary {lay}|increased {lay} in urine|urine contains {lay}|excess urinary {lay}"
_NORMAL = (
    "normo{stem}emia|normal {lay}|normal blood {lay}|{lay} within normal limits|{lay} level normal|normal serum {lay}"
)

_CELLS = """
leuk|leukocyt|white blood cell,white cell,leukocyte,WBC
lymph|lymphocyt|lymphocyte
neutr|neutrophil|neutrophil
eosin|eosinophil|eosinophil
mon|monocyt|monocyte
bas|basophil|basophil
thromb|thrombocyt|platelet,thrombocyte
erythr|erythrocyt|red blood cell,red cell,erythrocyte,RBC
reticul|reticulocyt|reticulocyte
gran|granulocyt|granulocyte
"""
_FEW = "{stem}openia|{cell}openia|low {lay} count|decreased {lay} count|few {lay}s|reduced number of {lay}s|lack of {lay}s|low {lay}s|{lay} count decreased|decreased number of {lay}s"
_MANY = "{many}|high {lay} count|increased {lay} count|too many {lay}s|increased number of {lay}s|excess of {lay}s|high {lay}s|{lay} count increased|elevated {lay} count"


def composed() -> Graph:
    """All compositions as one graph.

    Concepts that share a place, or a finding, are each other's contrasts. More general concepts are the finding of which its own is a kind,
    and the same finding in the place of which its own is a part.
    """
    forms: list[tuple[str, ...]] = []
    places: list[str] = []
    findings: list[str] = []

    def add(place: str, finding: str, texts: list[str]) -> None:
        unique = tuple(dict.fromkeys(t.strip() for t in texts))
        if len(unique) > 1:
            forms.append(unique)
            places.append(place)
            findings.append(finding)

    for line in _lines(_ORGANS):
        root, lays, adjective = line.split("|")
        for pattern in _lines(_STEMS):
            suffix, *phrases = pattern.split("|")
            word = _joined(root, suffix)
            add(root, suffix, [word, *_filled(phrases, lays.split(","), adj=adjective)])
        for pattern in _lines(_PHRASES):
            phrases = pattern.split("|")
            add(root, phrases[0], _filled(phrases, lays.split(","), adj=adjective))
    for word in _PARTS.split():
        parts = [x.replace("_", " ") for x in word.split(",")]
        for pattern in _lines(_PART_PHRASES):
            phrases = pattern.split("|")
            add(parts[0], phrases[0], _filled(phrases, parts))
    for line in _lines(_ANALYTES):
        stem, words = line.split("|")
        for finding, pattern in (("high", _HIGH), ("low", _LOW), ("urine", _URINE), ("normal", _NORMAL)):
            add(stem, finding, _filled(pattern.split("|"), words.split(","), stem=stem))
    for line in _lines(_CELLS):
        stem, cell, lay = line.split("|")
        many = cell + ("ia" if cell.endswith("phil") else "osis")
        for finding, pattern in (("few", _FEW), ("many", _MANY)):
            add(cell, finding, _filled(pattern.split("|"), lay.split(","), stem=stem, cell=cell, many=many))

    by_place: defaultdict[str, list[int]] = defaultdict(list)
    by_finding: defaultdict[str, list[int]] = defaultdict(list)
    for k in range(len(forms)):
        by_place[places[k]].append(k)
        by_finding[findings[k]].append(k)
    contrasts = [
        tuple(j for j in (*by_place[places[k]], *by_finding[findings[k]]) if j != k) for k in range(len(forms))
    ]
    position = {(place, finding): k for k, (place, finding) in enumerate(zip(places, findings, strict=True))}
    kinds, wholes = _above(_KINDS_OF), _above(_PARTS_OF)
    told = frozenset(finding for line in _lines(_TOLD_OF_THE_WHOLE) for finding in line.split("|"))
    parents = [
        [
            position[above]
            for above in (
                *((place, kind) for kind in kinds.get(finding, ())),
                *((whole, finding) for whole in wholes.get(place, ()) if finding in told),
            )
            if above in position
        ]
        for place, finding in zip(places, findings, strict=True)
    ]
    return Graph.build("composed terms", forms, parents=parents, contrasts=contrasts)


def _above(table: str) -> dict[str, list[str]]:
    """For each entry of a table's lists, the first words of its lines."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in _lines(table):
        above, *below = line.split("|")
        for one in below:
            found[one].append(above)
    return dict(found)


def _lines(table: str) -> list[str]:
    return [line for line in table.strip().splitlines() if line]


def _filled(phrases: list[str], lays: list[str], **others: str) -> list[str]:
    return [p.format(lay=lay, **others) for p in phrases for lay in (lays if "{lay}" in p else lays[:1])]


def _joined(root: str, suffix: str) -> str:
    """Join two parts with one vowel between them: cardi + omegaly = cardiomegaly, cardi + itis = carditis."""
    if suffix[0] == "i" and root.endswith("i"):
        return root + suffix[1:]
    return root + suffix
